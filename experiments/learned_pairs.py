"""Does learned accessibility save pairs? Pairs of a full study are asked one by one.

    python experiments/learned_pairs.py runs/bittle --out results/learned/pairs.json

Clusters are made from a share of the pairs, and judged by all of them.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro

from kaccess import KAccess, Study, accessibility
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.cluster.quality import assess
from kaccess.config import FLOOR, LearnConfig
from kaccess.learned import AccessModel, Moves, fit_model, read_moves


@dataclass(frozen=True, kw_only=True)
class Config:
    """What to ask."""

    out: Path = Path("results/learned/pairs.json")
    shares: tuple[float, ...] = (0.05, 0.1, 0.2)
    """Shares of all pairs that are asked."""
    clusters: int = 30
    learn: LearnConfig = LearnConfig(members=3, least_steps=400)  # noqa: RUF009  # frozen


def main(
    study: tyro.conf.Positional[Path], config: tyro.conf.OmitArgPrefixes[Config]
) -> None:
    """Ask pairs in four ways, cluster, and compare with the full matrix."""
    opened = Study(study)
    access = accessibility(opened.times).astype(np.float64)
    every = read_moves(opened, most=10**9)
    whole = judge(access, access, config)
    print("all pairs", whole, flush=True)
    rows: dict[str, object] = {"all pairs": whole}
    for share in config.shares:
        rng = np.random.default_rng(config.learn.seed)
        order, count = rng.permutation(len(every)), round(share * len(every))
        ways = ask(opened, every, order, count, config)
        for name, (asked, model) in ways.items():
            matrix = fill(access, every, asked, model, opened)
            rows[f"{share:.0%}, {name}"] = found = judge(matrix, access, config) | {
                "reached of asked": float(every.reached[asked].mean())
            }
            print(f"{share:.0%} {name:38} {found}", flush=True)
    config.out.parent.mkdir(parents=True, exist_ok=True)
    text = {"study": f"{opened.robot.name}, {opened.n_poses} poses", "rows": rows}
    config.out.write_text(json.dumps(text, indent=1) + "\n")


Asked = tuple[BoolArray, AccessModel | None]


def ask(
    study: Study, every: Moves, order: IntArray, count: int, config: Config
) -> dict[str, Asked]:
    """Return which pairs are asked in each way, and the model that fills the rest."""
    first = _mark(every, order[:count])
    half = _mark(every, order[: count // 2])
    guess = _learn(study, every.take(half), config)
    qpos = study.poses.qpos
    moves = guess.predict_pairs(qpos, qpos, every.source, every.goal)
    hopeful = half | _pick(moves.access, half, count - count // 2)
    doubtful = half | _pick(moves.doubt, half, count - count // 2)
    return {
        "at random, the rest not reached": (first, None),
        "at random, the rest predicted": (
            first,
            _learn(study, every.take(first), config),
        ),
        "half hopeful, the rest predicted": (
            hopeful,
            _learn(study, every.take(hopeful), config),
        ),
        "half doubtful, the rest predicted": (
            doubtful,
            _learn(study, every.take(doubtful), config),
        ),
    }


def _learn(study: Study, moves: Moves, config: Config) -> AccessModel:
    robot, qpos = study.robot, study.poses.qpos
    return fit_model(robot, qpos, moves, study.access_config, config.learn)[0]


def _mark(every: Moves, chosen: IntArray) -> BoolArray:
    marks = np.zeros(len(every), bool)
    marks[chosen] = True
    return marks


def _pick(worth: Array, known: BoolArray, count: int) -> BoolArray:
    """Return the unknown pairs of the largest worth."""
    best = np.argsort(-np.where(known, -np.inf, worth), kind="stable")[:count]
    marks = np.zeros(len(known), bool)
    marks[best] = True
    return marks


def fill(
    access: Array,
    every: Moves,
    asked: BoolArray,
    model: AccessModel | None,
    study: Study,
) -> Array:
    """Return the matrix of what was asked; the rest is predicted, or not reached."""
    qpos, n = study.poses.qpos, len(access)
    matrix = np.full((n, n), FLOOR)
    if model is not None:
        matrix = np.maximum(model.predict(qpos, qpos).access.astype(np.float64), FLOOR)
    np.fill_diagonal(matrix, 1.0)
    row, column = every.source[asked], every.goal[asked]
    matrix[row, column] = access[row, column]
    return matrix


def judge(matrix: Array, access: Array, config: Config) -> dict[str, float]:
    """Cluster by a matrix; return the quality of the centroids in the true one."""
    found = KAccess(config.clusters, random_state=0).fit(matrix)
    centroids = found.centroid_indices_
    own = access.copy()
    np.fill_diagonal(own, np.inf)
    labels = own[centroids].argmax(axis=0)
    quality = assess(access, centroids, labels)
    return {"index": float(quality.index), "coverage": float(quality.coverage)}


if __name__ == "__main__":
    tyro.cli(main)
