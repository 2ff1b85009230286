"""Test the shipped policy, the routes and randomised policies in every setting.

python experiments/reality/test.py runs/bittle results/reality/settings.csv
python experiments/reality/test.py runs/bittle results/reality/sweeps.csv --sweeps

A row is one controller in one setting. Rows that the file has already are not tested
again, so an interrupted command can be repeated. All controllers start in the same
poses and meet the same draws of offsets, tilts and noise.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import tyro
from settings import SETTINGS, SWEEPS, Setting

from kaccess import Study
from kaccess.base.csv_files import write_csv
from kaccess.config import EngineConfig, ObserveName
from kaccess.envs.conditions import Conditions
from kaccess.envs.tasks import make_task
from kaccess.evaluation.held_out import get_test_poses
from kaccess.evaluation.policies import act_under, find_policies
from kaccess.evaluation.pose_test import PoseTest
from kaccess.evaluation.rollout import Act
from kaccess.guide import Guide, follow_guide
from kaccess.policies import Policy
from kaccess.policies.shipped import find_shipped

TASK = "fall-recovery"
TRAINED_UNDER = {
    "history": "randomize=1,observe=history",
    "imu": "randomize=1,observe=imu",
    "blind": "observe=imu",
}


@dataclass(frozen=True)
class Config:
    """What to test, and on how many poses."""

    study: tyro.conf.Positional[Path]
    """Study with the routes and the randomised policies."""
    out: tyro.conf.Positional[Path]
    """Table (CSV) to write, or to add to."""
    sweeps: bool = False
    """Test each disturbance alone over a range of values, not the settings."""
    poses: int = 500
    """Number of held-out poses."""
    poses_per_seed: int = 200
    """Number of these poses for each of several seeds of a policy."""
    bullet_poses: int = 100
    """Number of these poses in PyBullet, which is slower."""
    only: tuple[str, ...] = (
        "shipped",
        "shipped-imu",
        "routes",
        "routes-imu",
        *TRAINED_UNDER,
    )
    """Controllers to test; -imu: without joint feedback, the last command in place of
    joint positions."""
    threads: int = 0
    """CPU threads; 0 takes all."""


@dataclass(frozen=True)
class Controller:
    """A policy, or the routes if it has none, and what it observes."""

    name: str
    observe: ObserveName
    policy: Policy | None


def main(config: Config) -> None:
    study, task = Study(config.study), make_task(TASK)
    rows = _read(config.out)
    done = {(row["controller"], row["setting"]) for row in rows}
    qpos = get_test_poses(study, task, "held-out", config.poses).qpos
    controllers = list(find_controllers(study, config.only))
    for setting in list_settings(sweeps=config.sweeps):
        for each in controllers:
            if (each.name, setting.name) in done:
                continue
            n = config.poses_per_seed if "/" in each.name else config.poses
            n = min(n, config.bullet_poses) if setting.engine == "bullet" else n
            success = test(study, each, setting, qpos[:n], config.threads)
            rows.append(_describe(each, setting, success))
            write_csv(config.out, rows)
            print(f"{setting.name}: {each.name} {success.mean():.1%}", flush=True)


def list_settings(*, sweeps: bool) -> list[Setting]:
    """Return the nominal setting and the twenty others, or the sweeps."""
    if not sweeps:
        return [Setting("nominal", ""), *SETTINGS]
    return [
        Setting(f"{name}={value:g}", f"{name}={value:g}")
        for name, values in SWEEPS.items()
        for value in values
    ]


def find_controllers(study: Study, names: tuple[str, ...]) -> Iterator[Controller]:
    """Yield the controllers to test; of randomised policies, all seeds."""
    task = make_task(TASK, study.robot)
    for name in names:
        kind, _, imu = name.partition("-")
        observe: ObserveName = "imu" if imu else "joints"
        if kind == "shipped":
            yield Controller(name, observe, find_shipped("bittle", TASK))
        elif kind == "routes":
            yield Controller(name, observe, None)
        else:
            before = Conditions.parse(TRAINED_UNDER[kind])
            for learner, policy in find_policies(study, task, before).items():
                starts, _, seed = learner.partition("/seed-")
                group = kind if starts == "distilled" else f"{kind}-sac"
                yield Controller(f"{group}/{seed}", before.observe, policy)


def test(
    study: Study, controller: Controller, setting: Setting, qpos: np.ndarray, n: int
) -> np.ndarray:
    """Return whether a controller succeeds from each pose, (m,)."""
    under = replace(Conditions.parse(setting.conditions), observe=controller.observe)
    task = under.adapt(make_task(TASK, study.robot))
    engine = EngineConfig(engine=setting.engine, threads=n)
    tester = PoseTest(task, study.robot, qpos, conditions=under, engine=engine)
    return tester.score(_make_act(study, controller, under, len(qpos))).success


def _make_act(study: Study, controller: Controller, under: Conditions, n: int) -> Act:
    if controller.policy is None:
        return follow_guide(Guide.of(study, n, task=make_task(TASK, study.robot)))
    return act_under(controller.policy, under)


def _read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _describe(
    controller: Controller, setting: Setting, success: np.ndarray
) -> dict[str, str]:
    return {
        "setting": setting.name,
        "conditions": setting.conditions,
        "engine": setting.engine,
        "controller": controller.name,
        "poses": f"{len(success)}",
        "successes": f"{int(success.sum())}",
    }


if __name__ == "__main__":
    main(tyro.cli(Config))
