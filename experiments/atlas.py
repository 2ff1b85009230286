"""A row of the atlas of robots: does it stand, get up, and from how many poses?

python experiments/atlas.py menagerie:unitree_go1 --robots-path MENAGERIE

Each robot gets a study in `out/<name>`, which a second run resumes, and a file
`out/<name>.json`. `experiments/atlas_page.py` makes a table and a page of them.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from kaccess import pipeline
from kaccess.access import replay_plan
from kaccess.base.errors import InputError
from kaccess.base.stats import Interval, wilson
from kaccess.config import (
    AccessConfig,
    EngineConfig,
    EvaluateConfig,
    GetUpConfig,
    GrowConfig,
    RobotConfig,
    SampleConfig,
    SkillConfig,
)
from kaccess.engines import make_replayer
from kaccess.envs.tasks import make_task
from kaccess.evaluation.held_out import get_test_poses
from kaccess.study import ROUTES, Study
from kaccess.study.growing import SkillSearch, needs_skills
from kaccess.study.timing import read_times

_MOST_REPLAYS = 300  # poses
_FEW = 36  # poses that join before skills are searched for
_ENOUGH = 0.9  # share of fresh poses that stand up; with more, no search is needed


@dataclass(frozen=True)
class Config:
    """Robot, and how far it is measured."""

    model: tyro.conf.Positional[str]
    """Name or file of a robot."""
    name: str | None = None
    """Name of the study and of the row; by default the folder of the model."""
    out: Path = Path("runs/atlas")
    """Folder of the studies."""
    n: int = 80
    """Number of random poses."""
    seed: int = 0
    """Seed of the poses."""
    most: int = 200
    """Number of poses up to which the graph grows."""
    tests: int = 1000
    """Number of unseen poses from which routes are tested."""
    skills: int = 4
    """Number of get-up skills to search for, if too few fresh poses stand up."""
    explored: int = 6000
    """Largest number of short motions in each exploration of that search."""
    candidates: int = 128
    """Number of candidates in each of its rounds."""
    rounds: int = 10
    """Number of rounds in which what it explored is varied."""
    move_time: float = 0.0
    """Time in which joint targets move to a pose [s]."""
    time_limit: float | None = None
    """Time limit of a move [s]; by default that of `kaccess access`."""
    test_time: float | None = None
    """Time that the robot has to get up in each test [s]; by default by its size."""
    kp: float | None = None
    """Stiffness of the servos, if not the model's."""
    robots_path: str | None = None
    """Folder with the robots of names such as menagerie:unitree_go1."""
    engine: EngineConfig = EngineConfig()  # noqa: RUF009  # frozen
    """Simulator."""


def main(config: Config) -> None:
    """Measure a robot, and write its row."""
    name = config.name or Path(config.model).parent.name or config.model
    row: dict[str, Any] = {"robot": name}
    began = time.perf_counter()
    try:
        for facts in _measure(config.model, config.out / name, config):
            row |= facts
            print(json.dumps(facts), flush=True)
            _write(config.out / f"{name}.json", row)
    except InputError as error:
        row["refused"] = str(error)
        print(error)
    row["minutes"] = round((time.perf_counter() - began) / 60, 1)
    _write(config.out / f"{name}.json", row)


def _measure(model: str, folder: Path, config: Config) -> Iterator[dict[str, Any]]:
    """Yield what is found, stage by stage."""
    robot_config = RobotConfig(
        kp=config.kp, test_time=config.test_time, robots_path=config.robots_path
    )
    engine = config.engine
    draw = SampleConfig(n=config.n, seed=config.seed)
    study = pipeline.sample(model, folder, draw, model=robot_config, engine=engine)
    yield _describe(study)
    limits = AccessConfig(move_time=config.move_time)
    if config.time_limit:
        limits = AccessConfig(move_time=config.move_time, time_limit=config.time_limit)
    pipeline.access(study, limits, engine=engine)
    if study.plan is None:
        return
    yield from _search_first(study, config)
    yield from _grow(study, config)
    yield _test(study, config)
    yield {"seconds": read_times(study.path), "machine": study.settings["machine"]}


def _search_first(study: Study, config: Config) -> Iterator[dict[str, Any]]:
    """Search for skills before growth, if few poses have a route: as of humanoids."""
    if needs_skills(study):
        yield {"skills": _search(study, config)}


def _search(study: Study, config: Config) -> list[dict[str, Any]]:
    settings = GetUpConfig(
        explored=config.explored,
        skills=config.skills,
        candidates=config.candidates,
        rounds=config.rounds,
    )
    task = SkillConfig(task="fall-recovery")
    found = pipeline.search(study, task, settings, engine=config.engine)
    assert isinstance(found, SkillSearch)
    return [vars(each) for each in found.found]


def _grow(study: Study, config: Config) -> Iterator[dict[str, Any]]:
    """Grow the graph; where many fresh poses stay down, search for skills, too."""
    few = GrowConfig(most=min(config.n + _FEW, config.most))
    first = pipeline.grow(study, few, engine=config.engine).rounds
    yield {"growth": [vars(each) for each in first]}
    if max(each.n_up for each in first) < _ENOUGH * few.tests:
        yield {"skills": _search(study, config)}
    if max(each.n_in_time for each in first) < few.share * few.tests:
        more = GrowConfig(most=config.most)
        second = pipeline.grow(study, more, engine=config.engine).rounds
        yield {"growth": [vars(each) for each in (*first, *second)]}


def _describe(study: Study) -> dict[str, Any]:
    robot, draws = study.robot, study.settings["draws"]
    return {
        "stands": robot.stance.stands,
        "how": robot.stance.how,
        "joints": robot.model.nu,
        "height_m": round(float(robot.standing[2]), 3),
        "mass_kg": round(float(robot.model.body_mass.sum()), 2),
        "poses": study.n_poses,
        "draws": draws["drawn"],
    }


def _test(study: Study, config: Config) -> dict[str, Any]:
    """Return how often routes stand the robot up, from poses that nobody has seen."""
    engine = EngineConfig(threads=config.engine.threads)
    test = EvaluateConfig(poses=config.tests)
    scores = pipeline.evaluate(study, test, engine=engine)
    routes = next(each.summary for each in scores if each.name == ROUTES)
    n_up, n = _replay(study, config, engine)
    graph, own = study.graph, study.n_moves
    assert graph is not None and own is not None
    return {
        "graph_after": [len(graph.nodes) - 1, len(graph.commands)],
        "own_after": int((own > 0).sum()),
        "in_time_after": _round(routes.success),
        "ten_moves_after": _round(wilson(n_up, n)),
        "median_s_after": routes.time,
        "within_s": study.test_seconds,
        "tests": routes.n,
        "replays": n,
    }


def _replay(study: Study, config: Config, engine: EngineConfig) -> tuple[int, int]:
    """Return how many unseen poses stand up within ten moves, and of how many."""
    task = make_task("fall-recovery", study.robot)
    n = min(config.tests, _MOST_REPLAYS)
    fresh = get_test_poses(study, task, "final", n).qpos
    plan = study.plan
    assert plan is not None
    replay = replay_plan(
        plan,
        fresh,
        study.access_config,
        engine=make_replayer(engine, study.robot, study.still),
    )
    return int((replay.n_moves > 0).sum()), n


def _round(share: Interval) -> list[float]:
    """Return a share and its interval."""
    return [round(each, 4) for each in (share.value, share.low, share.high)]


def _write(path: Path, row: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(row, indent=1) + "\n")


if __name__ == "__main__":
    main(tyro.cli(Config))
