"""How many pairs do clusters and routes need? Replays stored pairs, as if asked for.

    python experiments/pairs.py runs/bittle --name bittle-1000

The study must have all pairs. No pair is simulated: estimators ask, and the stored
matrix answers. The results are judged by the full matrix: index and coverage of the
centroids, and how many unseen poses stand up by the routes. Rows go to
`results/pairs/NAME.csv` as they are made, so that a second call goes on; then the
figure `results/pairs/NAME.png` is drawn.

Compared with: uniformly random pairs of the same number (clusters, by the same
beliefs), and random commands, each tried from all poses (routes).
"""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
import tyro

from kaccess import Study, make_engine
from kaccess.access import Landings, PostureGraph
from kaccess.cluster import select_k
from kaccess.cluster.quality import assess
from kaccess.evaluation.plan_test import make_plan_test
from kaccess.pairs import (
    LazyPairs,
    find_centroids,
    find_commands,
    pick_centroids,
    replay_pairs,
)
from kaccess.pairs.centroids import count_candidates
from kaccess.poses import Stream, draw_poses

FIELDS = (
    "part",
    "method",
    "share",
    "draw",
    "asked",
    "k",
    "index",
    "coverage",
    "commands",
    "value",
    "success",
    "seconds",
)
_Row = Callable[[], dict[str, float]]


@dataclass(frozen=True)
class Config:
    """What to replay."""

    study: tyro.conf.Positional[Path]
    """Study with all pairs."""
    name: str = "bittle-1000"
    """Name of the files in `out`."""
    shares: tuple[float, ...] = (0.01, 0.02, 0.05, 0.1)
    """Shares of the pairs."""
    parts: tuple[str, ...] = ("full", "routes", "clusters")
    """What to replay; full: the results of all pairs."""
    draws: int = 10
    """Seeds of each estimator."""
    tested: int = 3
    """Seeds whose routes are followed from unseen poses."""
    poses: int = 1000
    """Unseen poses from which routes are followed."""
    k_max: int = 120
    """Largest number of clusters."""
    k_step: int = 1
    """Step between numbers of clusters that are tried on the full matrix."""
    threads: int = 0
    """CPU threads; 0 takes all."""
    out: Path = Path("results/pairs")
    """Folder of the results."""


class Replays:
    """Stored pairs of a study, asked again."""

    def __init__(self, config: Config) -> None:
        self.config, study = config, Study(config.study)
        self.study, self.n, self.times = study, study.n_poses, study.finished_times
        self.access, self.features = study.access, study.describe_poses()
        self.landings, nodes = study.arrays.read_landings(), study.nodes
        assert nodes is not None, "the robot does not stand: there are no routes"
        self.nodes = nodes
        self.file = config.out / f"{config.name}.csv"
        self.rows = list(csv.DictReader(self.file.open())) if self.file.exists() else []
        self._unseen: np.ndarray | None = None

    def add(self, part: str, method: str, share: float, draw: int, make: _Row) -> None:
        """Make a row of the table, unless it is there."""
        key = (part, method, f"{share:g}", str(draw))
        if any(
            (r["part"], r["method"], r["share"], r["draw"]) == key for r in self.rows
        ):
            return
        start = perf_counter()
        made = make()
        row = dict.fromkeys(FIELDS, "") | dict(zip(FIELDS, key, strict=False))
        row |= {name: f"{value:.6g}" for name, value in made.items()}
        row.setdefault("seconds", "")
        row["seconds"] = row["seconds"] or f"{perf_counter() - start:.1f}"
        self.rows.append(row)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS)
            writer.writeheader()
            writer.writerows(self.rows)
        print({name: value for name, value in row.items() if value}, flush=True)

    def ask(self, share: float) -> LazyPairs:
        """Return pairs of which this share may be asked for."""
        budget = int(share * self.n * (self.n - 1))
        return LazyPairs(self.n, replay_pairs(self.times, self.landings), budget)

    # Clusters

    def find_full(self) -> dict[str, float]:
        """Return the result of K-Access on the full matrix."""
        numbers = range(2, min(self.config.k_max, self.n) + 1, self.config.k_step)
        best = select_k(
            self.access, numbers, random_state=0, n_jobs=self.config.threads or None
        )
        return self.judge(best.model.centroid_indices_)

    def judge(self, centroids: np.ndarray) -> dict[str, float]:
        """Return index and coverage of centroids by the full matrix."""
        found = assess(self.access, np.sort(centroids))
        return {"k": len(centroids), "index": found.index, "coverage": found.coverage}

    def search_centroids(self, share: float, draw: int) -> dict[str, float]:
        """Return the quality of centroids from the pairs that matter."""
        pairs, start = self.ask(share), perf_counter()
        found = find_centroids(pairs, self.features, seed=draw, k_max=self.config.k_max)
        seconds = perf_counter() - start
        return {"asked": pairs.n_asked, "seconds": seconds} | self.judge(
            found.centroids
        )

    def draw_centroids(self, share: float, draw: int) -> dict[str, float]:
        """Return the same from random pairs: candidates are those reached least."""
        pairs, n = self.ask(share), self.n
        rng = np.random.default_rng([draw, 7])
        pairs.ask(*np.divmod(rng.choice(n * n, pairs.budget, replace=False), n))
        tried = np.maximum(1, (~np.isnan(pairs.times)).sum(axis=0))
        rate = np.isfinite(pairs.times).sum(axis=0) / tried
        count = count_candidates(n, pairs.budget)
        some = np.sort(np.argsort(rate, kind="stable")[:count])
        found = pick_centroids(
            pairs.times, self.features, some, k_max=self.config.k_max
        )
        return {"asked": pairs.n_asked} | self.judge(found.centroids)

    # Routes

    def search_commands(self, share: float, draw: int) -> dict[str, float]:
        """Return how good routes are from the pairs that matter."""
        pairs, start = self.ask(share), perf_counter()
        standing = Landings(*(self._take(name, -1) for name in _PARTS))
        found = find_commands(
            pairs, self.nodes, standing, horizon=self.study.test_seconds, seed=draw
        )
        seconds = perf_counter() - start
        result = self.follow(found.commands, test=draw < self.config.tested)
        return {"asked": pairs.n_asked, "seconds": seconds} | result

    def draw_commands(self, share: float, draw: int) -> dict[str, float]:
        """Return how good routes of random commands are."""
        rng = np.random.default_rng([draw, 8])
        some = rng.choice(self.n, int(share * self.n), replace=False)
        result = self.follow(some, test=draw < self.config.tested)
        return {"asked": len(some) * (self.n - 1)} | result

    def _take(self, name: str, columns: object) -> np.ndarray:
        return np.asarray(getattr(self.landings, name)[:, columns])

    def follow(self, commands: np.ndarray, *, test: bool) -> dict[str, float]:
        """Return the mean value of poses with some commands, and the success."""
        columns = np.append(commands, self.n).astype(int)
        landings = Landings(*(self._take(name, columns) for name in _PARTS))
        graph = PostureGraph.between(self.nodes, landings, columns[:-1])
        plan = graph.make_plan(horizon=self.study.test_seconds)
        found = {"commands": len(commands), "value": plan.values.mean()}
        if test:
            check = make_plan_test(self.study.robot, n_threads=self.config.threads)
            found["success"] = check(plan, self.unseen).mean()
        return found

    @property
    def unseen(self) -> np.ndarray:
        """Poses that are in no study: drawn as the study's, from another stream."""
        if self._unseen is None:
            sampling = self.study.sampling.for_others(self.config.poses)
            engine = make_engine("mujoco", self.study.robot, self.study.still)
            poses, _ = draw_poses(
                self.study.robot, sampling, engine=engine, stream=Stream.GROWTH
            )
            self._unseen = poses.qpos
        return self._unseen


_PARTS = ("node", "distance", "seconds")


def main(config: Config) -> None:
    """Replay all parts, and draw the figure."""
    replays = Replays(config)
    if "full" in config.parts:
        replays.add("clusters", "all pairs", 1, 0, replays.find_full)
        every = np.arange(replays.n)
        replays.add(
            "routes", "all pairs", 1, 0, partial(replays.follow, every, test=True)
        )
    methods = {
        "routes": (replays.search_commands, replays.draw_commands),
        "clusters": (replays.search_centroids, replays.draw_centroids),
    }
    for part in (part for part in config.parts if part in methods):
        for share in config.shares:
            for draw in range(config.draws):
                ours, random = methods[part]
                replays.add(part, "ours", share, draw, partial(ours, share, draw))
                replays.add(part, "random", share, draw, partial(random, share, draw))
    draw_figure(replays.rows, config.out / f"{config.name}.png")


def draw_figure(rows: list[dict[str, str]], path: Path) -> None:
    """Draw index, coverage and success over the share of pairs."""
    import matplotlib.pyplot as plt

    shown = (("clusters", "index"), ("clusters", "coverage"), ("routes", "success"))
    figure, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
    for ax, (part, name) in zip(axes, shown, strict=True):
        some = [row for row in rows if row["part"] == part and row[name]]
        ax.set(xlabel="share of the pairs", ylabel=name)
        for method, style in (("ours", "o-"), ("random", "s--")):
            found: dict[float, list[float]] = {}
            for row in (row for row in some if row["method"] == method):
                found.setdefault(float(row["share"]), []).append(float(row[name]))
            x = sorted(found)
            ax.plot(x, [np.mean(found[each]) for each in x], style, label=method)
        for row in (row for row in some if row["method"] == "all pairs"):
            ax.axhline(float(row[name]), color="gray", lw=1, label="all pairs")
        if any(row["method"] != "all pairs" for row in some):
            ax.set(xscale="log")
    axes[0].legend()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main(tyro.cli(Config))
