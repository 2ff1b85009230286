"""Measure how many tiles per second the driver of a Ray cluster can handle.

    python benchmarks/bench_cluster_driver.py --out benchmarks/results/driver.json

The engine is null: a worker answers at once with a tile of zeros, so that nothing but
the driver and Ray is measured: without storing tiles, storing them by Zarr, and as
`kaccess access` does, which writes the same bytes itself.
"""

import json
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from kaccess.access import Landings, Transitions, merge_rows
from kaccess.base.machine import describe_machine
from kaccess.distribute.connection import connect
from kaccess.distribute.nodes import Needs, Tally
from kaccess.distribute.pool import Pool
from kaccess.study.arrays import Arrays
from kaccess.study.layout import LANDINGS, create_arrays


@dataclass(frozen=True)
class Config:
    """Settings of the benchmark."""

    cluster: str = "local:2"
    """Cluster, as in `kaccess access --cluster`; none: only store tiles."""
    n: tuple[int, ...] = (1000, 10_000)
    """Numbers of poses."""
    tiles: int = 4000
    """Number of tiles of two rows, at most."""
    joined: tuple[int, ...] = (1, 8)
    """Numbers of tiles that travel together."""
    out: Path | None = None
    """JSON file to write."""


@dataclass(frozen=True)
class NullJob:
    """Answers with a tile of zeros."""

    n: int

    def start(self) -> Callable[[range], Any]:
        """Make one tile; return a function of its rows."""
        made: dict[int, Transitions] = {}

        def answer(rows: range) -> Transitions:
            if len(rows) not in made:
                made[len(rows)] = make_tile(len(rows), self.n)
            return made[len(rows)]

        return answer


def make_tile(n_rows: int, n: int) -> Transitions:
    """Return transitions of some rows, as `estimate_rows` does, without states."""
    shape, rng = (n_rows, n), np.random.default_rng(0)
    times = (0.004 * rng.integers(100, 500, size=shape)).astype(np.float32)
    nodes = rng.integers(n, size=shape, dtype=np.int32)
    return Transitions(times, np.ones(shape, np.uint8), Landings(nodes, times, times))


def make_arrays(folder: Path, n: int) -> Arrays:
    """Write the arrays of a study of n poses whose moves are not estimated."""
    poses: dict[str, np.ndarray] = {
        "qpos": np.zeros((n, 80)),  # so wide that ends of moves are not stored
        "gravity": np.zeros((n, 3)),
        "contacts": np.zeros((n, 2), bool),
    }
    for name in ("height", "roll", "pitch"):
        poses[name] = np.zeros(n)
    create_arrays(folder, poses, ("a", "b"), 2)
    return Arrays(folder)


Store = Callable[[Arrays, range, Transitions], None]


def store_by_zarr(arrays: Arrays, rows: range, tile: Transitions) -> None:
    """Store a tile as before: Zarr writes the chunks."""
    assert tile.landings is not None
    parts = {"outcomes": tile.outcomes}
    parts |= {f"landings/{name}": getattr(tile.landings, name) for name in LANDINGS}
    for name, values in (parts | {"times": tile.times}).items():
        arrays.array(name)[rows.start : rows.stop] = values


def store_by_us(arrays: Arrays, rows: range, tile: Transitions) -> None:
    """Store a tile as `kaccess access` does."""
    arrays.write_rows(rows, tile.times, tile.outcomes, tile.landings)


def measure_storing(folder: Path, n: int, n_tiles: int, stored: str) -> float:
    """Return tiles that are stored per second of CPU time, one by one, without Ray."""
    store, arrays, tile = STORES[stored], make_arrays(folder, n), make_tile(2, n)
    assert store is not None
    store(arrays, range(2), tile)  # what is done once
    tiles = [range(at, at + 2) for at in range(2, min(n, 2 * n_tiles), 2)]
    began = time.process_time()
    for rows in tiles:
        store(arrays, rows, tile)
    rate = len(tiles) / (time.process_time() - began)
    print(f"n = {n:,}, {stored}, without Ray: {rate:,.0f} tiles per s of CPU time")
    return rate


STORES: dict[str, Store | None] = {
    "not stored": None,
    "by Zarr": store_by_zarr,
    "stored": store_by_us,
}


def measure(
    pool: Pool, n: int, n_tiles: int, joined: int, arrays: Arrays, stored: str
) -> float:
    """Return tiles per second."""
    store = STORES[stored]
    tiles = [range(at, at + 2) for at in range(0, min(n, 2 * n_tiles), 2)]
    while len(tiles) < n_tiles and store is None:
        tiles += tiles
    tasks = merge_rows(tiles, 2 * joined)
    began, cpu = time.perf_counter(), time.process_time()
    for rows, tile, _ in pool.run(tasks):
        if store is not None:
            store(arrays, rows, tile)
    seconds = time.perf_counter() - began
    used = (time.process_time() - cpu) / seconds
    rate = len(tiles) / seconds
    print(
        f"n = {n:,}, {joined} tiles together, {stored}: {rate:,.0f} tiles/s, "
        f"{2 * n * rate:,.0f} pairs/s; the driver takes {used:.0%} of a core"
    )
    return rate


def main(config: Config) -> None:
    """Measure, print, and write a file."""
    found: list[dict[str, float | str]] = []
    for n in config.n:
        for stored in ("by Zarr", "stored"):
            with tempfile.TemporaryDirectory() as scratch:
                folder = Path(scratch) / "study.zarr"
                rate = measure_storing(folder, n, config.tiles, stored)
            row = {"n": n, "joined": 0, "stored": stored}
            found.append(row | {"tiles_per_cpu_s": rate})
    if config.cluster == "none":
        write(config, found)
        return
    with connect(config.cluster) as cluster, tempfile.TemporaryDirectory() as scratch:
        for n in config.n:
            for joined in config.joined:
                pool = Pool(cluster, NullJob(n), Needs(), Tally("tiles"))
                list(pool.run([range(2 * joined)] * 20))  # start the workers
                for stored in STORES:
                    folder = Path(scratch) / "study.zarr"
                    shutil.rmtree(folder, ignore_errors=True)
                    arrays = make_arrays(folder, n)
                    rate = measure(pool, n, config.tiles, joined, arrays, stored)
                    row = {"n": n, "joined": joined, "stored": stored}
                    found.append(row | {"tiles_per_s": rate})
    write(config, found)


def write(config: Config, found: list[dict[str, float | str]]) -> None:
    """Write the file."""
    if config.out:
        record = {"machine": describe_machine(), "rates": found}
        config.out.write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main(tyro.cli(Config))
