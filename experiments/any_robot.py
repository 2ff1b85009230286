"""Which robots load, stand, sample and get up? One row per model, as a table.

python experiments/any_robot.py menagerie/*/scene.xml --table robots.csv
python experiments/any_robot.py unitree_a1/scene.xml --n 300 --tests 100 --out runs/a1
"""

import csv
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from kaccess import pipeline
from kaccess.base.errors import InputError
from kaccess.config import AccessConfig, EngineConfig, EvaluateConfig, SampleConfig
from kaccess.robots import Robot, load_robot
from kaccess.study import ROUTES, Study


@dataclass(frozen=True)
class Config:
    """Models to try, and how far."""

    models: tyro.conf.Positional[tuple[str, ...]]
    """Names or files of robots."""
    out: Path = Path("runs/robots")
    """Folder of the studies."""
    table: Path | None = None
    """CSV file to write."""
    n: int = 20
    """Number of poses; 0 only loads the models."""
    tests: int = 0
    """Number of unseen poses from which routes are tested; 0 for none, which also
    leaves out the transition times."""
    threads: int = 0
    """CPU threads; 0 takes all."""


def main(config: Config) -> None:
    """Try each model, and print a row for it."""
    rows = []
    for number, model in enumerate(config.models):
        began, row = time.perf_counter(), {"model": _shorten(model)}
        try:
            for facts in _try(model, config.out / f"{number}", config):
                row |= facts
        except (InputError, ImportError) as error:
            row |= {"refused": str(error)}
        row["seconds"] = f"{time.perf_counter() - began:.0f}"
        print("; ".join(f"{name} {value}" for name, value in row.items()), flush=True)
        rows.append(row)
        if config.table:
            _write(config.table, rows)


def _try(model: str, folder: Path, config: Config) -> Iterator[dict[str, Any]]:
    """Yield what is found, stage by stage."""
    robot = load_robot(model)
    notes = " ".join(robot.notes)
    yield {"robot": robot.name, "joints": robot.model.nu, "notes": notes}
    if not config.n:
        return
    yield _describe_stance(robot)
    engine = EngineConfig(threads=config.threads)
    study = pipeline.sample(model, folder, SampleConfig(n=config.n), engine=engine)
    draws = study.settings["draws"]
    yield {"poses": draws["kept"], "draws": draws["drawn"]}
    if not config.tests:
        return
    pipeline.access(study, AccessConfig(), engine=engine)
    yield _measure(study)
    if robot.stance.stands:
        test = EvaluateConfig(poses=config.tests)
        scores = pipeline.evaluate(study, test, engine=engine)
        routes = next(each.summary for each in scores if each.name == ROUTES)
        yield {
            "within_s": study.test_seconds,
            "tests": routes.n,
            "routes": routes.success.text(".1%"),
            "median_s": f"{routes.time:.2f}",
        }


def _describe_stance(robot: Robot) -> dict[str, Any]:
    return {
        "stands": "yes" if robot.stance.stands else "no",
        "how": robot.stance.how,
        "height_m": f"{robot.standing[2]:.3f}",
        "size": robot.scale.length,
        "feet": robot.scale.n_feet if robot.stance.stands else 0,
    }


def _measure(study: Study) -> dict[str, Any]:
    summary = pipeline.info(study)
    times, graph = summary.times, summary.graph
    assert graph is not None
    return {
        "reached": f"{times.reached / times.pairs:.1%}",
        "one_move": times.stand_up,
        "can_get_up": f"{study.n_poses - len(graph.stuck)} of {study.n_poses}",
    }


def _shorten(model: str) -> str:
    """Return the last two parts of a path."""
    return "/".join(Path(model).parts[-2:])


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main(tyro.cli(Config))
