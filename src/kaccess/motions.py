"""What can be seen moving: a move of a study, a policy of it, one that is shipped."""

from dataclasses import replace
from pathlib import Path

from kaccess.config import (
    AccessConfig,
    SampleConfig,
    StillConfig,
    TaskName,
    from_settings,
)
from kaccess.engines import make_engine
from kaccess.envs.conditions import Conditions
from kaccess.envs.task import make_task
from kaccess.errors import InputError
from kaccess.evaluate import PoseTest, Scores, placed
from kaccess.guide import Guide, following
from kaccess.learning import ROUTES, acting, find_policies, test_poses
from kaccess.policy import Policy
from kaccess.poses import draw_poses
from kaccess.report.motion import Clip, move_clip, outcome_text, policy_clip
from kaccess.robots import Robot, load_robot
from kaccess.rotations import gravity_in_body
from kaccess.shipped import find_shipped
from kaccess.stored import load_poses
from kaccess.study import Study
from kaccess.types import Array

__all__ = ["find_policy", "move", "policy_at_work", "shipped_at_work"]

_DEMONSTRATION = 3  # random stream: neither of learning nor of its tests
_UPSIDE_DOWN = -0.5  # cosine of the angle between the body's up and the world's


def move(path: Path, source: int, goal: int, *, seconds: float = 4.0) -> Clip:
    """Return the transition between two poses of a study, and what its matrix says.

    Args:
        path: Folder of the study.
        source: Number of the pose to start from.
        goal: Number of the pose to get to.
        seconds: How long to watch [s].
    """
    study = Study(path)
    poses = load_poses(study)
    for pose in (source, goal):
        if not 0 <= pose < len(poses):
            raise InputError(
                f"`transition` must be two poses of 0 to {len(poses) - 1}, got {pose}."
            )
    settings = study.settings.get("access", {})
    config = from_settings(AccessConfig, settings)
    clip = move_clip(
        poses,
        source,
        goal,
        seconds=seconds,
        config=config,
        still=StillConfig(**study.settings["still"]),
    )
    pair = source, goal
    stored = outcome_text(study.outcomes[pair], study.times[pair], config)
    by = f" (engine {settings['engine']})" if "engine" in settings else ""
    return replace(clip, outcome=f"{clip.outcome} The study's matrix{by}: {stored}.")


def policy_at_work(
    path: Path,
    run: str | None,
    *,
    task: TaskName = "fall-recovery",
    trained_under: str = "",
    conditions: str | None = None,
    best: bool = False,
    pose: int = 0,
    seconds: float = 4.0,
) -> Clip:
    """Return a policy of a study at work, from one of the poses to test on.

    Args:
        path: Folder of the study.
        run: Name of the learner, such as `ka/seed-0`; `routes` follows the fastest
            moves of the study, and has learned nothing.
        task: What it has learned.
        trained_under: Conditions of its training; by default the study's own.
        conditions: Show it under these; by default under those of its training.
        best: Show it as it was when its curve was best, not as it is last.
        pose: Number of the pose.
        seconds: How long to watch [s].
    """
    if pose < 0:
        raise InputError(f"`pose` must not be negative, got {pose}.")
    under = Conditions.parse(trained_under if conditions is None else conditions)
    study, made = Study(path), make_task(task)
    if run == ROUTES:
        robot, act = load_poses(study).robot, following(Guide.of(study, 1, task=made))
    else:
        policy, robot = find_policy(path, run, task, trained_under, best=best)
        act = acting(policy, under)
    poses = test_poses(study, made, "final", pose + 1)
    return policy_clip(
        made,
        robot,
        act,
        placed(poses.qpos, robot, under)[pose],
        seconds=seconds,
        conditions=under,
    )


def shipped_at_work(
    robot: str,
    *,
    task: TaskName = "fall-recovery",
    conditions: str = "",
    n_poses: int = 100,
    seed: int = 0,
    pose: int | None = None,
    seconds: float = 4.0,
    n_threads: int = 0,
) -> tuple[Scores, Clip]:
    """Test a policy that comes with the package on freshly sampled poses.

    Args:
        robot: Name of a robot.
        task: What the policy does.
        conditions: What differs from the world it was trained in.
        n_poses: Poses to sample and to start from.
        seed: Of the poses.
        pose: Number of the one to show; by default the first that lies on its back.
        seconds: How long to watch [s].
        n_threads: CPU threads; 0 takes them all.

    Returns:
        The scores from all poses, and the policy at work from the one.
    """
    under, made = Conditions.parse(conditions), make_task(task)
    act = acting(find_shipped(robot, task), under)
    body = load_robot(robot)
    engine = make_engine("mujoco", body, n_threads=n_threads)
    sampling = SampleConfig(n=n_poses, seed=seed)
    qpos = draw_poses(body, sampling, engine=engine, stream=_DEMONSTRATION)[0].qpos
    qpos = qpos[made.qualifies(qpos)]
    if not len(qpos):
        raise InputError(
            f"None of the {n_poses} poses is one that {task!r} starts from. Sample "
            "more of them with `poses`."
        )
    pose = _on_its_back(qpos) if pose is None else pose
    if not 0 <= pose < len(qpos):
        raise InputError(f"`pose` must be one of 0 to {len(qpos) - 1}, got {pose}.")
    tester = PoseTest(made, body, qpos, conditions=under, n_threads=n_threads)
    start = placed(qpos, body, under)[pose]
    clip = policy_clip(made, body, act, start, seconds=seconds, conditions=under)
    return tester.score(act), clip


def _on_its_back(qpos: Array) -> int:
    """Return the first pose whose base is upside down, or else the first."""
    up = -gravity_in_body(qpos[:, 3:7])[:, 2]
    return int((up < _UPSIDE_DOWN).argmax())


def find_policy(
    path: Path,
    run: str | None,
    task: TaskName,
    trained_under: str,
    *,
    best: bool = False,
) -> tuple[Policy, Robot]:
    """Return a policy of a study by the name of its learner, and the robot."""
    robot = load_poses(Study(path)).robot
    before = Conditions.parse(trained_under)
    policies = find_policies(path, make_task(task), robot, before, best=best)
    if run is None:
        raise InputError(f"Say which run with --run: one of {', '.join(policies)}.")
    if run not in policies:
        raise InputError(
            f"{path} has no policy {run!r} for {task!r}: none of {', '.join(policies)}."
        )
    return policies[run], robot
