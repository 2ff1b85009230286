"""What to look at in a study: figures, pictures, comparisons, and policies at work."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kaccess.access import accessibility
from kaccess.config import (
    AccessConfig,
    EngineName,
    SampleConfig,
    StillConfig,
    TaskName,
    from_settings,
)
from kaccess.engines import Engine, make_engine
from kaccess.errors import InputError
from kaccess.files import whole_file
from kaccess.pipeline import finished_times, load_poses
from kaccess.report.summary import Summary, summarize
from kaccess.rotations import gravity_in_body
from kaccess.study import Study
from kaccess.types import Array, Progress

if TYPE_CHECKING:
    from kaccess.envs.robot_env import RobotEnv
    from kaccess.evaluate import Act, Scores
    from kaccess.policy import Policy
    from kaccess.robots import Robot

__all__ = [
    "compare",
    "compare_engines",
    "demonstrate",
    "export",
    "info",
    "picture",
    "play",
    "report",
]

logger = logging.getLogger(__name__)

_DEMONSTRATION = 3  # random stream: neither of learning nor of its tests
_UPSIDE_DOWN = -0.5  # cosine of the angle between the body's up and the world's


def info(path: Path) -> Summary:
    """Return what is in a study, in figures."""
    study = Study(path)
    return summarize(
        study.settings,
        contacts=study.pose_array("contacts"),
        parts=study.parts,
        times=study.times,
        outcomes=study.outcomes,
        to_standing=study.to_standing,
    )


def picture(path: Path) -> Path:
    """Draw the poses and times of a study into its `overview.png`."""
    from kaccess.report.figures import overview, representatives
    from kaccess.report.render import render_poses

    study = Study(path)
    poses = load_poses(study)
    try:
        images = render_poses(poses.robot, poses.qpos[representatives(poses.contacts)])
    except InputError as error:
        logger.warning("%s The picture goes without the robot.", error)
        images = None
    with whole_file(path / "overview.png") as draft:
        overview(poses, study.times, images).savefig(draft, dpi=120)
    return path / "overview.png"


def report(path: Path) -> Path:
    """Write the page of a study, `report.html`, and its figures beside it."""
    from kaccess.report.page import write_report

    study = Study(path)
    return write_report(study, load_poses(study))


def compare(path: Path) -> str:
    """Return a table of the clusterings in a study; empty if there are none."""
    study = Study(path)
    found = study.read_jsons("clusters")
    if not found:
        return ""
    from kaccess.cluster.comparison import Labelling, format_comparison
    from kaccess.cluster.comparison import compare as compare_clusterings

    clusterings = {
        name: Labelling(np.array(content["labels"]), np.array(content["centroids"]))
        for name, content in found.items()
    }
    access = accessibility(finished_times(study))
    return format_comparison(compare_clusterings(access, clusterings))


def compare_engines(
    path: Path,
    engines: Sequence[EngineName],
    *,
    n_pairs: int = 2000,
    seed: int = 0,
    n_threads: int = 0,
    device: str | None = None,
    progress: Progress | None = None,
) -> str:
    """Estimate the same pairs of a study's poses on several engines.

    Args:
        path: Folder of the study; the comparison is written to its `engines.json`.
        engines: Names of the engines.
        n_pairs: About how many pairs.
        seed: Seed of the choice of poses.
        n_threads: CPU threads; 0 takes them all.
        device: Where the engine `warp` computes; by default on the first GPU.
        progress: Called with (simulations done, simulations to do).

    Returns:
        The comparison as text.
    """
    from kaccess.access.agreement import compare_engines
    from kaccess.report.engines import format_engines

    if len(set(engines)) < 2:
        raise InputError(f"`engines` must be two or more, got {' '.join(engines)}.")
    study = Study(path)
    poses = load_poses(study)
    still = StillConfig(**study.settings["still"])
    simulators: dict[str, Engine] = {
        name: make_engine(
            name,
            poses.robot,
            still,
            n_threads=n_threads,
            device=device if name == "warp" else None,
        )
        for name in dict.fromkeys(engines)
    }
    comparison = compare_engines(
        poses,
        simulators,
        from_settings(AccessConfig, study.settings.get("access", {})),
        n_pairs=n_pairs,
        seed=seed,
        progress=progress,
    )
    study.write_json("engines.json", asdict(comparison))
    return format_engines(comparison)


def play(
    path: Path,
    run: str | None,
    *,
    task: TaskName = "fall-recovery",
    trained_under: str = "",
    conditions: str | None = None,
    pose: int = 0,
    video: Path | None = None,
    seconds: float = 4.0,
) -> str:
    """Show a policy at work, from one of the poses to test on.

    Args:
        path: Folder of the study.
        run: Name of the learner, such as `ka/seed-0`.
        task: What it has learned.
        trained_under: Conditions of its training; by default the study's own.
        conditions: Show it under these; by default under those of its training.
        pose: Number of the pose.
        video: File to write (H.264); None shows it live in a window.
        seconds: How long to watch [s].

    Returns:
        What came of it, in a sentence.
    """
    from kaccess.envs.conditions import Conditions
    from kaccess.envs.robot_env import RobotEnv
    from kaccess.envs.task import make_task
    from kaccess.evaluate import placed
    from kaccess.learning import acting, test_poses

    if pose < 0:
        raise InputError(f"`pose` must not be negative, got {pose}.")
    under = Conditions.parse(trained_under if conditions is None else conditions)
    policy, robot = _find_policy(path, run, task, trained_under)
    poses = test_poses(Study(path), robot, "final", pose + 1)
    start = placed(poses.qpos, robot, under)[pose]
    env = RobotEnv(
        make_task(task), robot=robot, conditions=under, render_mode="rgb_array"
    )
    return _show(env, acting(policy, under), start, seconds=seconds, video=video)


def demonstrate(
    robot: str,
    *,
    task: TaskName = "fall-recovery",
    conditions: str = "",
    n_poses: int = 100,
    seed: int = 0,
    pose: int | None = None,
    video: Path | None = None,
    seconds: float = 4.0,
    n_threads: int = 0,
) -> "tuple[Scores, Callable[[], str]]":
    """Test a policy that comes with the package on freshly sampled poses.

    Args:
        robot: Name of a robot.
        task: What the policy does.
        conditions: What differs from the world it was trained in.
        n_poses: Poses to sample and to start from.
        seed: Of the poses.
        pose: Number of the one to show; by default the first that lies on its back.
        video: File to write (H.264); None shows it live in a window.
        seconds: How long to watch [s].
        n_threads: CPU threads; 0 takes them all.

    Returns:
        The scores from all poses, and what shows the one, and says what came of it.
    """
    from kaccess.envs.conditions import Conditions
    from kaccess.envs.robot_env import RobotEnv
    from kaccess.envs.task import make_task
    from kaccess.evaluate import PoseTest, placed
    from kaccess.learning import acting
    from kaccess.poses import draw_poses
    from kaccess.robots import load_robot
    from kaccess.shipped import find_shipped

    under, made, policy = (
        Conditions.parse(conditions),
        make_task(task),
        find_shipped(robot, task),
    )
    body = load_robot(robot)
    engine = make_engine("mujoco", body, n_threads=n_threads)
    sampling = SampleConfig(n=n_poses, seed=seed)
    qpos = draw_poses(body, sampling, engine=engine, stream=_DEMONSTRATION)[0].qpos
    qpos = qpos[made.qualifies(qpos)]
    pose = _on_its_back(qpos) if pose is None else pose
    if not 0 <= pose < len(qpos):
        raise InputError(f"`pose` must be one of 0 to {len(qpos) - 1}, got {pose}.")
    act = acting(policy, under)
    tester = PoseTest(made, body, qpos, conditions=under, n_threads=n_threads)
    scores = tester.score(act)
    env = RobotEnv(made, robot=body, conditions=under, render_mode="rgb_array")
    start = placed(qpos, body, under)[pose]
    return scores, partial(_show, env, act, start, seconds=seconds, video=video)


def _on_its_back(qpos: Array) -> int:
    """Return the first pose whose base is upside down, or else the first."""
    up = -gravity_in_body(qpos[:, 3:7])[:, 2]
    return int((up < _UPSIDE_DOWN).argmax())


def _show(
    env: "RobotEnv", act: "Act", start: Array, *, seconds: float, video: Path | None
) -> str:
    from kaccess.report.motion import show, write_video

    n_steps = round(seconds * env.task.control_rate)
    if video is None:
        return show(env, act, start, n_steps=n_steps)
    return write_video(env, act, start, n_steps=n_steps, path=video)


def export(
    path: Path,
    run: str,
    onnx: Path,
    *,
    task: TaskName = "fall-recovery",
    trained_under: str = "",
) -> Path:
    """Write a policy as ONNX, with all that a robot must know to use it.

    Args:
        path: Folder of the study.
        run: Name of the learner, such as `ka/seed-0`.
        onnx: File to write.
        task: What it has learned.
        trained_under: Conditions of its training; by default the study's own.
    """
    from kaccess.train import export_onnx

    policy, _ = _find_policy(path, run, task, trained_under)
    onnx.parent.mkdir(parents=True, exist_ok=True)
    export_onnx(policy, onnx)
    return onnx


def _find_policy(
    path: Path, run: str | None, task: TaskName, trained_under: str
) -> "tuple[Policy, Robot]":
    from kaccess.envs.conditions import Conditions
    from kaccess.envs.task import make_task
    from kaccess.learning import find_policies

    robot = load_poses(Study(path)).robot
    before = Conditions.parse(trained_under)
    policies = find_policies(path, make_task(task), robot, before)
    if run is None:
        raise InputError(f"Say which run with --run: one of {', '.join(policies)}.")
    if run not in policies:
        raise InputError(
            f"{path} has no policy {run!r} for {task!r}: none of {', '.join(policies)}."
        )
    return policies[run], robot
