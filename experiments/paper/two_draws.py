"""Test policies from held-out poses that are drawn the paper's way and ours.

python experiments/paper/two_draws.py runs/paper-published-teleport
    runs/paper-published-move --out results/as-published/two-draws.csv

Every policy of every study is tested from the same poses, and so are the routes of each
study. Prints strict success: of the best seed, as in the paper's Table II, and of all
seeds. A pose that nothing gets up from is a trap; success is shown without traps too.
Learners in the table are not tested again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np
import tyro

from kaccess.base.csv_files import read_csv, write_csv
from kaccess.base.stats import share_over_runs, wilson
from kaccess.base.tables import format_table
from kaccess.base.types import BoolArray
from kaccess.config import Draw, EngineConfig, EngineName
from kaccess.envs.conditions import Conditions
from kaccess.envs.tasks import make_task
from kaccess.evaluation.held_out import get_test_poses
from kaccess.evaluation.policies import find_controllers
from kaccess.evaluation.pose_test import PoseTest, Scores, summarize
from kaccess.study import ROUTES, LearnerName, Study

Row = Mapping[str, str]


@dataclass(frozen=True)
class Config:
    """Studies to compare."""

    studies: tyro.conf.Positional[tuple[Path, ...]]
    """Folders of studies, which differ in how their poses are drawn."""
    out: Path
    """Table (CSV) to write: one line for each learner and draw of test poses."""
    trained_under: str = "filter=0"
    """Conditions of the training and of the tests."""
    poses: int = 500
    """Number of test poses drawn each way."""
    engine: EngineName = "mujoco"
    """Simulator of the tests."""
    threads: int = 0
    """CPU threads; 0 takes all."""


def main(config: Config) -> None:
    rows: list[Row] = []
    if config.out.exists():
        rows += read_csv(config.out, "Delete it to test all learners again.")
    config.out.parent.mkdir(parents=True, exist_ok=True)
    for path in config.studies:
        for draw in get_args(Draw):
            for row in test_study(path, draw, config, rows):
                rows.append(row)
                write_csv(config.out, rows)
    print(describe(rows))


def test_study(
    path: Path, draw: Draw, config: Config, known: Sequence[Row]
) -> Iterator[Row]:
    """Yield a row for each policy of a study, tested from poses drawn in one way."""
    study, under = Study(path), Conditions.parse(config.trained_under)
    task = under.adapt(make_task("fall-recovery", study.robot))
    qpos = get_test_poses(
        study, task, "held-out", config.poses, draw=draw, n_threads=config.threads
    ).qpos
    engine = EngineConfig(engine=config.engine, threads=config.threads)
    test = PoseTest(task, study.robot, qpos, conditions=under, engine=engine)
    controllers = find_controllers(
        study, task, trained_under=under, under=under, n_robots=len(qpos)
    )
    for name, act in controllers.items():
        own = {
            "trained_on": str(study.sampling.draw),
            "tested_on": str(draw),
            "learner": name,
        }
        if not any(own.items() <= row.items() for row in known):
            yield own | make_row(test.score(act))


def make_row(scores: Scores) -> dict[str, str]:
    """Return the scores of a policy; `by_pose` has one bit for each pose, as hex."""
    found = summarize(scores)
    return {
        "poses": f"{found.n}",
        "success": f"{found.success.value:.4f}",
        "success_loose": f"{found.success_loose.value:.4f}",
        "reward": f"{found.reward:.2f}",
        "reward_sd": f"{found.reward_sd:.2f}",
        "time": f"{found.time:.2f}",
        "energy": f"{found.energy:.2f}",
        "by_pose": np.packbits(scores.success).tobytes().hex(),
    }


def describe(rows: Sequence[Row]) -> str:
    """Return the tables of all tests, one for each way to draw test poses."""
    draws = dict.fromkeys(row["tested_on"] for row in rows)
    return "\n\n".join(
        describe_draw(draw, [row for row in rows if row["tested_on"] == draw])
        for draw in draws
    )


def describe_draw(draw: str, rows: Sequence[Row]) -> str:
    """Return the table of all tests from poses that were drawn in one way."""
    success = {index: read_success(row) for index, row in enumerate(rows)}
    free = np.any([*success.values()], axis=0)
    kinds: dict[tuple[str, str], list[int]] = {}
    for index, row in enumerate(rows):
        starts = LearnerName.parse(row["learner"]).starts
        kinds.setdefault((row["trained_on"], starts), []).append(index)
    head = (
        *("trained on", "starts", "seeds", "reward (SD), best seed", "best seed"),
        *("all seeds", "worst seed", "loose, best seed", "best, no traps"),
        "all, no traps",
    )
    cells = [
        (*kind, *describe_kind([rows[i] for i in own], [success[i] for i in own], free))
        for kind, own in kinds.items()
    ]
    n_traps, n = int((~free).sum()), len(free)
    return (
        f"{n} poses drawn by {draw}; {n_traps} are traps, "
        f"{wilson(n_traps, n).text('.1%')}: none of these policies and routes gets up "
        f"from them.\n\n{format_table(head, cells)}"
    )


def describe_kind(
    rows: Sequence[Row], success: Sequence[BoolArray], free: BoolArray
) -> list[str]:
    """Return the cells of one kind of starts."""
    n, n_free, n_seeds = len(free), int(free.sum()), len(rows)
    hits = [int(each.sum()) for each in success]
    best = max(range(n_seeds), key=lambda i: (hits[i], float(rows[i]["reward"])))
    is_routes = rows[0]["learner"] == ROUTES
    return [
        "" if is_routes else f"{n_seeds}",
        f"{rows[best]['reward']} ({rows[best]['reward_sd']})",
        wilson(hits[best], n).text(".1%"),
        share_over_runs(hits, [n] * n_seeds).text(".1%"),
        f"{min(hits) / n:.1%}",
        f"{float(rows[best]['success_loose']):.1%}",
        wilson(hits[best], n_free).text(".1%"),
        share_over_runs(hits, [n_free] * n_seeds).text(".1%"),
    ]


def read_success(row: Row) -> BoolArray:
    """Return from which poses a policy succeeded, (n,)."""
    packed = np.frombuffer(bytes.fromhex(row["by_pose"]), dtype=np.uint8)
    return np.unpackbits(packed, count=int(row["poses"])).astype(bool)


if __name__ == "__main__":
    main(tyro.cli(Config))
