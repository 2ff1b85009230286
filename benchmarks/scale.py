"""Measure time and memory of each stage as the number of poses grows, on Linux.

    python benchmarks/scale.py --out benchmarks/results/scale.json

Physics would take days, so the moves are made up, as in `bench_info.py`: a quarter of
them reach their goals. The matrix that is clustered is drawn likewise, and K-Access
fits 20 clusters from one start. Each stage runs in a process of its own, whose peak
memory is read. Exponents are those of a straight line through the logarithms.
"""

import json
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from kaccess.base.machine import describe_machine

# Each stage is a function of the study's folder.
STAGES = {
    "import": "pass",
    "resume": """
from kaccess.study import Study
arrays = Study(path).arrays
assert arrays.rows_done().all()
""",
    "info": """
from kaccess.report.summary import summarize_study
from kaccess.study import Study
summarize_study(Study(path))
""",
    "cluster": """
import numpy as np
from kaccess.cluster import KAccess
rng, n = np.random.default_rng(0), int(path.name.split("-")[1])
access = np.empty((n, n), np.float32)
for row, values in enumerate(access):  # a quarter is reached, within 0.4 to 2 s
    values[:] = np.exp(-rng.uniform(0.4, 2.0, n))
    values[rng.random(n) > 0.25] = 1e-8
    values[row] = 1
began, cpu = time.perf_counter(), time.process_time()
KAccess(20, n_init=1, random_state=0).fit(access)
""",
    "quality": """
from kaccess.study import Study
from kaccess.study.clusterings import StoredClustering
study, n = Study(path), int(path.name.split("-")[1])
content = {
    "centroids": list(range(20)),
    "labels": [*range(20), *([0] * (n - 20))],
    "settings": {},
}
found = StoredClustering.read(study._matrix, content)
found.quality, found.unreachable
""",
    "figures": """
from matplotlib.figure import Figure
import numpy as np
from kaccess.report.figures import draw_access, draw_asymmetry, draw_reach, draw_times
from kaccess.report.figures.all_times import StoredTimes
from kaccess.study import Study
from kaccess.study.comparison import find_reach
study = Study(path)
times = StoredTimes(study.arrays)
for draw in (draw_asymmetry, draw_reach, draw_times):
    draw(Figure().subplots(), times)
draw_access(Figure().subplots(), times, order=np.argsort(study.poses.roll))
find_reach(study, 0.5)
""",
    "plan": """
from kaccess.study import Study
assert Study(path).plan is not None
""",
}
CHILD = """
import re, sys, time
from pathlib import Path
import kaccess.pipeline
path = Path(sys.argv[1])
began, cpu = time.perf_counter(), time.process_time()
{stage}
peak = re.search("VmHWM:[^0-9]*([0-9]+)", Path("/proc/self/status").read_text())[1]
print(time.perf_counter() - began, time.process_time() - cpu, peak)
"""
STORE = """
import sys
sys.path.insert(0, {here!r})
from bench_info import make_study
from kaccess import AccessConfig, pipeline
from kaccess.config import SampleConfig
few = pipeline.sample("bittle", path.parent / "few", SampleConfig(n=20))
pipeline.access(few, AccessConfig())
began, cpu = time.perf_counter(), time.process_time()
make_study(path, few, {n})
"""


@dataclass(frozen=True)
class Config:
    """Settings of the benchmark."""

    sizes: tuple[int, ...] = (250, 500, 1000, 2000, 4000, 8000, 16000)
    """Numbers of poses."""
    skip: tuple[str, ...] = ()
    """Stages to leave out."""
    largest_plan: int = 4000
    """Largest study whose plan is made: it takes the most memory."""
    limit: float = 540.0
    """Longest time of a stage [s]; larger studies then leave it out."""
    folder: Path | None = None
    """Folder of the studies, to keep them; those that it holds are used again."""
    out: Path | None = None
    """JSON file to write; what it holds already is kept."""


def run_stage(code: str, path: Path, limit: float) -> dict[str, float] | None:
    """Return what a stage takes; None if it takes too long."""
    command = [sys.executable, "-c", CHILD.format(stage=code), str(path)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return None
    wall, cpu, peak = map(float, done.stdout.split()[-3:])
    return {"wall_s": wall, "cpu_s": cpu, "peak_mb": peak / 1000}


def measure(config: Config, folder: Path, found: dict[str, Any]) -> None:
    """Fill `found` with what each stage takes at each size."""
    stages = {name: code for name, code in STAGES.items() if name not in config.skip}
    for n in config.sizes:
        path = folder / f"study-{n}"
        if not path.exists():
            store = STORE.format(here=str(Path(__file__).parent), n=n)
            found["store"][str(n)] = run_stage(store, path, 10 * config.limit)
            show("store", n, found["store"][str(n)])
        for name, code in stages.items():
            if name == "plan" and n > config.largest_plan:
                continue
            if str(n) in found[name]:
                continue
            used = run_stage(code, path, config.limit)
            if used is None:
                print(f"{name} takes more than {config.limit:.0f} s at n = {n}")
                continue
            found[name][str(n)] = used
            show(name, n, used)
            write(config, found)


def show(name: str, n: int, used: dict[str, float] | None) -> None:
    """Print one line."""
    if used is not None:
        copies = used["peak_mb"] * 1e6 / (4 * n * n)
        print(
            f"{n:6d}  {name:8s}  {used['cpu_s']:8.2f} s of CPU, {used['wall_s']:8.2f} s"
            f", {used['peak_mb']:7.0f} MB ({copies:.2f} matrices)",
            flush=True,
        )


def fit_exponent(used: dict[str, dict[str, float]], what: str) -> float | None:
    """Return the exponent of growth over the largest sizes; None if too few."""
    sizes = sorted(map(int, used))[-4:]
    if len(sizes) < 3:
        return None
    values = [max(used[str(n)][what], 1e-3) for n in sizes]
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def write(config: Config, found: dict[str, Any]) -> None:
    """Write the file."""
    if config.out is None:
        return
    exponents = {
        name: {what: fit_exponent(used, what) for what in ("cpu_s", "peak_mb")}
        for name, used in found.items()
    }
    record = {"machine": describe_machine(), "stages": found, "exponents": exponents}
    config.out.write_text(json.dumps(record, indent=2) + "\n")


def main(config: Config) -> None:
    """Measure all, and print the exponents."""
    found: dict[str, Any] = {name: {} for name in ("store", *STAGES)}
    if config.out is not None and config.out.exists():
        found |= json.loads(config.out.read_text())["stages"]
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        folder = config.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        measure(config, folder, found)
    write(config, found)
    for name, used in found.items():
        if exponent := fit_exponent(used, "cpu_s"):
            print(f"{name}: CPU time grows as n^{exponent:.2f}")
    print(f"{time.perf_counter() - began:.0f} s in total")


if __name__ == "__main__":
    assert re.match("linux", sys.platform), "It reads /proc."
    main(tyro.cli(Config))
