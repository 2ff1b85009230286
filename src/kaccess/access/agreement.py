"""How far simulators agree: on what is reached, how fast, and on the clusters of it.

All pairs of some poses are estimated on each engine. To tell chance from model, the
first engine does them again from poses that are nudged by less than single precision
can tell: a pair that turns out differently then is touchy, and no engine can be right.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import permutations
from time import perf_counter

import numpy as np

from kaccess.access.estimate import Transitions, accessibility, estimate_rows
from kaccess.base.errors import InputError
from kaccess.base.progress import scale_progress
from kaccess.base.types import Array, BoolArray, Progress
from kaccess.cluster import KAccess, assess, select_k
from kaccess.config import AccessConfig
from kaccess.engines import Engine
from kaccess.poses import Poses

__all__ = [
    "Agreement",
    "EngineComparison",
    "Transfer",
    "agreement",
    "compare_engines",
    "nudged",
    "transfers",
]

_NUDGE = 1e-6  # rad: Bittle's joints are rounded to 1e-7 in single precision
_N_NUDGES = 4
_MOST_CLUSTERS = 60


@dataclass(frozen=True)
class Agreement:
    """How far two estimates of the same pairs agree.

    Args:
        n_pairs: Pairs compared, those from a pose to itself left out.
        same: Pairs on which both say reached, or both not.
        both: Pairs that both reach.
        only_first: Pairs that only the first reaches.
        only_second: Pairs that only the second reaches.
        same_time: Of those that both reach, pairs with the same time to the step.
        later: 5, 25, 50, 75 and 95 % quantile of second minus first time [s].
        touchy: Of those that differ, pairs that differ from a nudged run as well.
    """

    n_pairs: int
    same: int
    both: int
    only_first: int
    only_second: int
    same_time: int
    later: tuple[float, ...]
    touchy: int


@dataclass(frozen=True)
class Transfer:
    """K-Access centroids found on one engine's matrix, judged on another's.

    Args:
        k: Number of clusters, chosen by the index on the first matrix.
        index: Index on the first matrix.
        coverage: Share of poses that a centroid reaches, on the first matrix.
        other_index: Index of the same centroids on the second matrix.
        other_coverage: Coverage of the same centroids on the second matrix.
    """

    k: int
    index: float
    coverage: float
    other_index: float
    other_coverage: float


@dataclass(frozen=True)
class EngineComparison:
    """What came out of the same pairs on several engines.

    Args:
        poses: Indices of the poses whose pairs were estimated.
        reached: Share of pairs that each engine reaches.
        seconds: Wall time of each engine [s].
        agreements: By ordered pair of engines, "first, second".
        transfers: Likewise.
        touchy: Share of pairs that nudging turns, on the first engine.
    """

    poses: tuple[int, ...]
    reached: dict[str, float]
    seconds: dict[str, float]
    agreements: dict[str, Agreement]
    transfers: dict[str, Transfer]
    touchy: float


def compare_engines(
    poses: Poses,
    engines: Mapping[str, Engine],
    config: AccessConfig,
    *,
    n_pairs: int = 2000,
    seed: int = 0,
    progress: Progress | None = None,
) -> EngineComparison:
    """Estimate the same pairs on several engines.

    Args:
        poses: Poses to choose from.
        engines: Engines by name; the first is the one that is nudged.
        config: Time limit and tolerances of the arrival test.
        n_pairs: About how many pairs: all those of the poses chosen.
        seed: Seed of that choice.
        progress: Called with (simulations done, simulations to do).
    """
    rng = np.random.default_rng(seed)
    chosen = _choose(poses, n_pairs, rng)
    some = replace(
        poses,
        qpos=poses.qpos[chosen],
        contacts=poses.contacts[chosen],
        mirrored=False,
    )
    runs = [(some, engine) for engine in engines.values()]
    first = next(iter(engines.values()))
    runs += [(nudged(some, rng), first) for _ in range(_N_NUDGES)]
    estimates, seconds = _estimate_all(runs, config, progress)
    found = dict(zip(engines, estimates, strict=False))
    touchy = _differing(estimates[0], estimates[len(engines) :])
    off = _between_poses(touchy)
    return EngineComparison(
        poses=tuple(int(pose) for pose in chosen),
        reached={name: float(_reached(run)[off].mean()) for name, run in found.items()},
        seconds=dict(zip(engines, seconds, strict=False)),
        agreements={
            f"{a}, {b}": agreement(
                found[a], found[b], timestep=poses.robot.timestep, touchy=touchy
            )
            for a, b in permutations(found, 2)
        },
        transfers=transfers(found),
        touchy=float(touchy[off].mean()),
    )


def agreement(
    first: Transitions, second: Transitions, *, timestep: float, touchy: BoolArray
) -> Agreement:
    """Compare two estimates of the same (n, n) pairs, of which some are `touchy`."""
    off = _between_poses(first.times)
    one, two = _reached(first)[off], _reached(second)[off]
    both = one & two
    later = (second.times[off][both] - first.times[off][both]).astype(np.float64)
    levels = (0.05, 0.25, 0.5, 0.75, 0.95) if len(later) else ()
    return Agreement(
        n_pairs=int(off.sum()),
        same=int((one == two).sum()),
        both=int(both.sum()),
        only_first=int((one & ~two).sum()),
        only_second=int((~one & two).sum()),
        same_time=int((np.abs(later) < timestep / 2).sum()),
        later=tuple(float(np.quantile(later, level)) for level in levels),
        touchy=int((touchy[off] & (one != two)).sum()),
    )


def _choose(poses: Poses, n_pairs: int, rng: np.random.Generator) -> Array:
    """Return the sorted indices of poses that make about `n_pairs` pairs."""
    n = round(n_pairs**0.5)
    if not 3 <= n <= len(poses):
        raise InputError(
            f"`pairs` must lie in [9, {len(poses) ** 2}], for there are {len(poses)} "
            f"poses, got {n_pairs}."
        )
    return np.sort(rng.choice(len(poses), n, replace=False))


def nudged(poses: Poses, rng: np.random.Generator) -> Poses:
    """Return poses whose joints are moved by next to nothing, 1e-6 rad at most."""
    qpos = poses.qpos.copy()
    nudge = rng.uniform(-_NUDGE, _NUDGE, (len(poses), len(poses.robot.joint_adr)))
    qpos[:, poses.robot.joint_adr] += nudge
    return replace(poses, qpos=qpos)


def _estimate_all(
    runs: list[tuple[Poses, Engine]], config: AccessConfig, progress: Progress | None
) -> tuple[list[Transitions], list[float]]:
    """Return the transitions between all poses in each run, and how long it took."""
    estimates, seconds = [], []
    n = len(runs[0][0])
    n_each = n * (n - 1)
    for index, (poses, engine) in enumerate(runs):
        part = scale_progress(progress, index * n_each, n_each, len(runs) * n_each)
        start = perf_counter()
        estimates.append(
            estimate_rows(poses, range(n), config, engine=engine, progress=part)
        )
        seconds.append(perf_counter() - start)
    return estimates, seconds


def _reached(run: Transitions) -> BoolArray:
    return np.isfinite(run.times)


def _between_poses(matrix: Array | BoolArray) -> BoolArray:
    """Return where a square matrix is about two poses, not about one and itself."""
    return ~np.eye(len(matrix), dtype=bool)


def _differing(reference: Transitions, others: list[Transitions]) -> BoolArray:
    """Return the pairs, (n, n), on which any other run differs from the reference."""
    differs = np.zeros(reference.times.shape, bool)
    for other in others:
        differs |= _reached(other) != _reached(reference)
    return differs


def transfers(found: Mapping[str, Transitions]) -> dict[str, Transfer]:
    """Cluster on each engine's matrix, and judge the centroids on each other's."""
    access = {name: accessibility(run.times) for name, run in found.items()}
    models = {name: _cluster(matrix) for name, matrix in access.items()}
    judged = {}
    for first, second in permutations(found, 2):
        centroids = models[first].centroid_indices_
        own, other = (assess(access[name], centroids) for name in (first, second))
        judged[f"{first}, {second}"] = Transfer(
            k=len(centroids),
            index=own.index,
            coverage=own.coverage,
            other_index=other.index,
            other_coverage=other.coverage,
        )
    return judged


def _cluster(access: Array) -> KAccess:
    most = min(_MOST_CLUSTERS, len(access) - 1)
    return select_k(access, range(2, most + 1), random_state=0).model
