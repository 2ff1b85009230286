"""Compare predictors of moves on poses that they have not seen.

    python experiments/learned_access.py runs/bittle --out results/learned/bittle-1000

Every fifth pose is held out. Predictors learn from the moves between the others.
"""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from learned_baselines import (
    Guess,
    Trees,
    Vote,
    find_route_times,
    fit_route_times,
)

from kaccess import KAccess, Study, accessibility
from kaccess.base.machine import describe_machine
from kaccess.base.types import Array, IntArray
from kaccess.config import LearnConfig
from kaccess.learned import AccessModel, Moves, fit_model, measure_figures, read_moves
from kaccess.learned.figures import Figures, bin_chances
from kaccess.report.figures.style import (
    FAINT,
    MARKERS,
    SERIES,
    figure_style,
    make_figure,
    save_figure,
)


@dataclass(frozen=True, kw_only=True)
class Config:
    """What to compare."""

    out: Path = Path("results/learned")
    """Folder of the results; a step that is there is not run again."""
    neighbours: tuple[int, ...] = (1, 5, 8, 12)
    """Numbers of neighbours that vote."""
    tree_pairs: int = 200_000
    """Most pairs that trees learn from."""
    most_tests: int = 40_000
    """Most pairs of each test."""
    steps: tuple[str, ...] = ("compare", "assign", "route", "speed")
    """Steps to run."""
    clusters: int = 30
    """Number of clusters of the test of new poses."""
    speed_poses: int = 300
    """Poses between which the test of speed predicts all moves."""
    device: str = "cpu"
    """Device of the networks, such as cuda."""
    learn: LearnConfig = LearnConfig()  # noqa: RUF009  # frozen


class Split:
    """The moves of a study, split by poses."""

    def __init__(self, study: Study, config: Config) -> None:
        self.study, self.qpos, self.times = study, study.poses.qpos, study.times
        n = study.n_poses
        order = np.random.default_rng(config.learn.seed).permutation(n)
        self.held_out, self.train = np.sort(order[: n // 5]), np.sort(order[n // 5 :])
        unseen = np.isin(np.arange(n), self.held_out)
        every = read_moves(study, most=10**8)
        source, goal = unseen[every.source], unseen[every.goal]
        self.lessons = every.take(~source & ~goal)
        rng = np.random.default_rng(config.learn.seed)
        self.tests = {
            "both unseen": every.take(source & goal),
            "source unseen": _draw(every.take(source & ~goal), config, rng),
            "goal unseen": _draw(every.take(~source & goal), config, rng),
        }


def _draw(moves: Moves, config: Config, rng: np.random.Generator) -> Moves:
    count = min(config.most_tests, len(moves))
    return moves.take(rng.choice(len(moves), count, replace=False))


Predict = Callable[[IntArray, IntArray], Guess]


def compare(split: Split, model: AccessModel, config: Config) -> dict[str, object]:
    """Return the figures of all predictors, and the points of reliability diagrams."""
    study = split.study
    found: dict[str, object] = {}
    curves: dict[str, object] = {}
    nodes = study.nodes
    assert nodes is not None
    predictors: dict[str, Predict] = {}
    for k in config.neighbours:
        vote = Vote(nodes, split.train, split.times, k)
        predictors[f"vote of {k} neighbours"] = vote.predict
    trees = Trees(
        model.features, split.qpos, most=config.tree_pairs, seed=config.learn.seed
    )
    begun = time.perf_counter()
    trees.fit(split.lessons)
    print(f"trees: {time.perf_counter() - begun:.0f} s", flush=True)
    predictors["trees"] = trees.predict
    predictors["one network"] = _ask(model, split.qpos, 0)
    predictors["ensemble"] = _ask(model, split.qpos, None)
    for name, predict in predictors.items():
        for test, moves in split.tests.items():
            guess = predict(moves.source, moves.goal)
            figures = measure_figures(
                moves.times,
                guess.chance,
                guess.times,
                _miss(model, split, moves, guess),
            )
            found[f"{name}, {test}"] = asdict(figures)
            print(f"{name:24} {test:14} {_format(figures)}", flush=True)
            if test == "both unseen":
                bins = bin_chances(moves.reached, guess.chance)
                curves[name] = [each.tolist() for each in bins]
    found |= _miss_by_vote(model, split)
    return {"figures": found, "reliability": curves}


def _ask(model: AccessModel, qpos: Array, member: int | None) -> Predict:
    def predict(source: IntArray, goal: IntArray) -> Guess:
        raw = model.predict_raw(qpos, source, goal, member)
        return Guess(
            1 / (1 + np.exp(-raw.logits.mean(axis=0) / model.temperature)),
            np.exp(raw.log_times.mean(axis=0)),
            raw.places.mean(axis=0),
        )

    return predict


def _miss(model: AccessModel, split: Split, moves: Moves, guess: Guess) -> Array | None:
    """Return how far predicted landings are from true ones, in tolerances."""
    if guess.places is None:
        return None
    true = model.features.locate(moves.ends, split.qpos[moves.goal])[0]
    return np.asarray(np.linalg.norm(guess.places - true, axis=1))


def _miss_by_vote(model: AccessModel, split: Split) -> dict[str, object]:
    """Return how far landings are from those of the nearest known move.

    Large studies do not store where moves end; then there is nothing to return.
    """
    study = split.study
    found: dict[str, object] = {}
    if "landings/states" not in study.arrays.names:
        return found
    nodes = study.nodes
    assert nodes is not None
    vote = Vote(nodes, split.train, split.times, 1)
    states = study.arrays.read("landings/states")
    for test, moves in split.tests.items():
        near = [vote.find_nearest(each) for each in (moves.source, moves.goal)]
        ends, goals = states[near[0], near[1]], split.qpos[near[1]]
        same = near[0] == near[1]  # a pose stays where it is
        ends[same] = goals[same]
        guess = model.features.locate(ends, goals)[0]
        true = model.features.locate(moves.ends, split.qpos[moves.goal])[0]
        miss = np.linalg.norm(guess - true, axis=1)
        found[f"landing of the nearest move, {test}"] = float(np.nanmedian(miss))
        print(f"nearest move {test:14} landing {np.nanmedian(miss):.2f}", flush=True)
    return found


def assign(split: Split, model: AccessModel, config: Config) -> dict[str, object]:
    """Return how well unseen poses are assigned to clusters."""
    access = accessibility(split.times)
    clusters = KAccess(config.clusters, random_state=config.learn.seed)
    clusters.fit(access[np.ix_(split.train, split.train)])
    centroids = split.train[clusters.centroid_indices_]
    true = access[np.ix_(centroids, split.held_out)]
    nodes = split.study.nodes
    assert nodes is not None
    nearest = Vote(nodes, split.train, split.times, 1).find_nearest(split.held_out)
    guess = model.predict(split.qpos[centroids], split.qpos[split.held_out]).access
    reachable = np.isfinite(split.times[np.ix_(centroids, split.held_out)]).any(axis=0)
    labels = {
        "learned": clusters.predict(guess),
        "cluster of the nearest pose": clusters.labels_[
            np.searchsorted(split.train, nearest)
        ],
        "simulated": clusters.predict(true),
    }
    columns = np.arange(true.shape[1])[reachable]
    result: dict[str, object] = {"poses reached by a centroid": int(reachable.sum())}
    for name, label in labels.items():
        chosen = true[label[reachable], columns]
        result[name] = {
            "is reached": float((chosen > 1e-7).mean()),
            "mean access": float(chosen.mean()),
            "same cluster": float((label == labels["simulated"])[reachable].mean()),
        }
        print(f"{name:28} {result[name]}", flush=True)
    return result


def route(split: Split, model: AccessModel, config: Config) -> dict[str, object]:
    """Compare predictions of route times between unseen poses."""
    routes = find_route_times(split.times)
    inputs = (model.features.describe(split.qpos)[0] - model.mean) / model.spread
    inputs = inputs.astype(np.float32)
    known = np.full_like(routes, np.nan)
    inner = np.ix_(split.train, split.train)
    known[inner] = find_route_times(split.times[inner])
    source, goal = np.nonzero(~np.eye(len(split.held_out), dtype=bool))
    source, goal = split.held_out[source], split.held_out[goal]
    true = routes[source, goal]
    finite = np.isfinite(true)
    result: dict[str, object] = {}
    for head in ("quasimetric", "plain"):
        fitted = fit_route_times(inputs, known, head, seed=config.learn.seed)
        with torch.no_grad():
            pair = (torch.from_numpy(inputs[each]) for each in (source, goal))
            guess = fitted(*pair).numpy()
        result[head] = _judge(true[finite], guess[finite])
    nodes = split.study.nodes
    assert nodes is not None
    near = Vote(nodes, split.train, split.times, 1).find_nearest
    result["nearest poses"] = _judge(
        true[finite], known[near(source), near(goal)][finite]
    )
    fastest = np.median(true[finite])
    result["the median for all"] = _judge(true[finite], np.full(finite.sum(), fastest))
    print(json.dumps(result), flush=True)
    return result


def _judge(true: Array, guess: Array) -> dict[str, float]:
    usable = np.isfinite(guess)
    error = np.abs(guess[usable] - true[usable])
    return {
        "median relative error": float(np.median(error / true[usable])),
        "mean error": float(error.mean()),
        "correlation": float(np.corrcoef(guess[usable], true[usable])[0, 1])
        if np.ptp(guess[usable])
        else 0.0,
    }


def measure_speed(
    split: Split, model: AccessModel, config: Config
) -> dict[str, object]:
    """Return how many pairs are predicted in a second."""
    qpos = np.resize(split.qpos, (config.speed_poses, split.qpos.shape[1]))
    begun = time.perf_counter()
    model.predict(qpos, qpos)
    seconds = time.perf_counter() - begun
    rate = len(qpos) ** 2 / seconds
    print(
        f"{len(qpos) ** 2:,} pairs in {seconds:.1f} s: {rate:,.0f} pairs/s", flush=True
    )
    return {
        "pairs": len(qpos) ** 2,
        "seconds": round(seconds, 1),
        "pairs per second": rate,
        "threads": torch.get_num_threads(),
    }


STEPS = {"compare": compare, "assign": assign, "route": route, "speed": measure_speed}


def draw_reliability(content: dict[str, object], path: Path) -> None:
    """Draw the share that reached over the chance given."""
    curves = content["reliability"]
    assert isinstance(curves, dict)
    with figure_style():
        figure = make_figure(4.2, 4.0)
        axes = figure.subplots()
        axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1, label="calibrated")
        shown = ("vote of 8 neighbours", "trees", "ensemble")
        for name, colour, marker in zip(shown, SERIES, MARKERS, strict=False):
            mean, share, _ = curves[name]
            axes.plot(mean, share, color=colour, marker=marker, ms=4, label=name)
        axes.set(xlabel="chance given", ylabel="share that reached", aspect="equal")
        axes.legend()
        save_figure(figure, path)


def _format(figures: Figures) -> str:
    return (
        f"AUC {figures.auc:.4f}  calibration {figures.calibration_error:.4f}  "
        f"time {figures.time_error:.3f}  landing {figures.landing_error:.2f}"
    )


def main(
    study: tyro.conf.Positional[Path], config: tyro.conf.OmitArgPrefixes[Config]
) -> None:
    """Run the steps that have no result yet."""
    split = Split(Study(study), config)
    begun = time.perf_counter()
    model, figures = fit_model(
        split.study.robot,
        split.qpos,
        split.lessons,
        split.study.access_config,
        config.learn,
        device=torch.device(config.device),
    )
    seconds = time.perf_counter() - begun
    print(f"trained in {seconds:.0f} s; own test: {_format(figures)}", flush=True)
    config.out.mkdir(parents=True, exist_ok=True)
    for name, step in STEPS.items():
        path = config.out / f"{name}.json"
        if path.exists() or name not in config.steps:
            continue
        about = {
            "study": f"{split.study.robot.name}, {split.study.n_poses} poses",
            "learned from": len(split.lessons),
            "training seconds": round(seconds, 1),
            "settings": asdict(config) | {"out": str(config.out)},
            "machine": describe_machine(),
        }
        content = step(split, model, config)
        path.write_text(json.dumps(about | content, indent=1, default=str) + "\n")
        if name == "compare":
            draw_reliability(content, config.out / "reliability.png")


if __name__ == "__main__":
    tyro.cli(main)
