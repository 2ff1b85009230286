"""What training and testing on a study need beside learners and environments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kaccess.access import accessibility, estimate_pairs
from kaccess.config import (
    AccessConfig,
    EngineName,
    SampleConfig,
    StillConfig,
    from_settings,
)
from kaccess.engines import Engine, make_engine
from kaccess.envs.conditions import NOMINAL, Conditions
from kaccess.envs.task import Task
from kaccess.errors import InputError
from kaccess.evaluate import Act, Group, PoseTest, Summary, by_group, summarize
from kaccess.guide import Guide, following
from kaccess.policy import BEST_POLICY, LAST_POLICY, Policy
from kaccess.poses import Poses, draw_poses
from kaccess.robots import ROBOTS, Robot
from kaccess.skill import has_skill
from kaccess.starts import InitialStates
from kaccess.stored import load_poses
from kaccess.study import Study
from kaccess.types import Array, IntArray, Progress

if TYPE_CHECKING:  # torch is not needed to test a policy
    from kaccess.train import Evaluate, Policies

__all__ = [
    "ROUTES",
    "Evaluation",
    "acting",
    "curve_test",
    "evaluate_policies",
    "evaluation_name",
    "find_acts",
    "find_policies",
    "kind_of",
    "load_policy",
    "policy_metadata",
    "pose_groups",
    "runs_folder",
    "test_poses",
]

_STREAM = {"curve": 1, "final": 2}  # of the study's seed; training has 0
_DRAWN_PER_TEST = (1, 2, 4, 8, 16)  # poses to draw, until enough are fit for the task

ROUTES = "routes"  # in place of a learner: a guide that has learned nothing


@dataclass(frozen=True)
class Evaluation:
    """What came of one policy.

    Args:
        name: Of its learner, such as `ka/seed-0`, or `ROUTES`.
        summary: Figures over all poses.
        groups: Success by what the poses have in common: `cluster`, `contact`.
    """

    name: str
    summary: Summary
    groups: Mapping[str, Sequence[Group]]

    @property
    def kind(self) -> str:
        """Of starts, from which it has learned; or `ROUTES`."""
        return kind_of(self.name)


def kind_of(name: str) -> str:
    """Return the kind of starts that a learner's name says; or `ROUTES`."""
    return name.partition("/")[0]


def test_poses(
    study: Study,
    task: Task,
    kind: Literal["curve", "final"],
    n: int,
    *,
    n_threads: int = 0,
) -> Poses:
    """Return poses to test on; no other kind has any of them, nor has training.

    They are drawn as the study's own but from another random stream, and stored in
    `tests/<kind>.npz`. Those that the task does not start from are left out. Fewer of
    them are the first of more.
    """
    robot = load_poses(study).robot
    path = study.path / "tests" / f"{kind}.npz"
    stored = InitialStates.load(path) if path.exists() else None
    for times_as_many in _DRAWN_PER_TEST:
        n_drawn = max(times_as_many * n, 2)  # fewer cannot be drawn
        if stored is None or len(stored) < n_drawn:
            stored = _draw_tests(study, robot, kind, n_drawn, n_threads=n_threads)
            stored.save(path)
        qpos = stored.qpos[task.qualifies(stored.qpos)][:n]
        if len(qpos) == n:
            return Poses(robot, qpos, robot.contacts(qpos)[0])
    raise InputError(
        f"{task.name!r} starts from fewer than one in {_DRAWN_PER_TEST[-1]} poses "
        f"({len(qpos)} are at hand, {n} are needed). Test on fewer, or let `qualifies` "
        "take more."
    )


def _draw_tests(
    study: Study, robot: Robot, kind: str, n: int, *, n_threads: int
) -> InitialStates:
    settings = study.settings["sample"] | {"n": n, "mirror": False}
    config = from_settings(SampleConfig, settings)
    engine = _cpu_engine(study, robot, n_threads)
    drawn, _ = draw_poses(robot, config, engine=engine, stream=_STREAM[kind])
    names = tuple(f"{kind} pose {index}" for index in range(n))
    return InitialStates.uniform(drawn.qpos, names=names, model=robot.fingerprint)


def _cpu_engine(study: Study, robot: Robot, n_threads: int) -> Engine:
    still = StillConfig(**study.settings["still"])
    return make_engine("mujoco", robot, still, n_threads=n_threads)


def runs_folder(path: Path, task: Task, trained_under: Conditions) -> Path:
    """Return where a study keeps the runs of a task: those under conditions apart."""
    return path / "train" / _runs_name(task, trained_under)


def evaluation_name(
    task: Task, trained_under: Conditions, under: Conditions, *, best: bool = False
) -> str:
    """Name a test of policies that were trained under some conditions, under others."""
    name = _runs_name(task, trained_under) + ("_best" if best else "")
    return name if under == trained_under else f"{name}_under_{under.text or NOMINAL}"


def _runs_name(task: Task, trained_under: Conditions) -> str:
    text = trained_under.text
    return f"{task.name}@{text}" if text else task.name


def policy_metadata(
    task: Task, robot: Robot, conditions: Conditions | None = None
) -> dict[str, Any]:
    """Return what a policy's file says of its use.

    An action of -1 and of 1 are the ends of a joint's range; targets are mixed with the
    last ones by `low_pass`. It names the conditions of its training, if there were any.
    """
    text = conditions.text if conditions else ""
    spec = ROBOTS.get(robot.name)
    return {
        "task": task.name,
        "robot": robot.name,
        "model": robot.fingerprint,
        "control_rate_hz": task.control_rate,
        "low_pass": task.low_pass,
        "joints": list(robot.joint_names),
        "joint_range_rad": robot.joint_range.tolist(),
        "standing_rad": robot.joints(robot.standing[None])[0].tolist(),
        "firmware_joints": {
            str(index): name
            for index, name in (spec.firmware_joints if spec else {}).items()
        },
        **({"conditions": text} if text else {}),
    }


def curve_test(
    task: Task,
    poses: Poses,
    *,
    n_learners: int,
    conditions: Conditions,
    n_threads: int = 0,
    engine: EngineName = "mujoco",
) -> "Evaluate":
    """Return a test of all learners from the same poses, for their curves."""
    tester = PoseTest(
        task,
        poses.robot,
        poses.qpos,
        conditions=conditions,
        n_policies=n_learners,
        n_threads=n_threads,
        engine=engine,
    )

    def test(policies: "Policies", step: int) -> dict[str, Array]:
        def act(obs: Array) -> Array:
            actions = policies.act_all(obs.reshape(n_learners, len(poses), -1))
            return actions.reshape(len(obs), -1)

        scores = tester.score(act)
        figures = {
            "reward": scores.reward,
            "success": scores.success.astype(np.float64),
            "success_loose": scores.success_loose.astype(np.float64),
        }
        means = {
            name: values.reshape(n_learners, -1).mean(axis=1)
            for name, values in figures.items()
        }
        spread = scores.reward.reshape(n_learners, -1).std(axis=1)
        return means | {"reward_sd": spread}

    return test


def find_policies(
    study: Path,
    task: Task,
    robot: Robot,
    trained_under: Conditions,
    *,
    best: bool = False,
) -> dict[str, Policy]:
    """Return the policies that were trained for a task under conditions, by name.

    They are the last of each learner, or the best by the tests of its curve.

    Raises:
        InputError: If there are none, or one is of another robot or task.
    """
    out, text = runs_folder(study, task, trained_under), trained_under.text
    paths = sorted(out.glob(f"*/seed-*/{LAST_POLICY}"))
    if not paths:
        option = f" --conditions {text}" if text else ""
        raise InputError(
            f"{study} has no policies in {out.relative_to(study)} yet. Run `kaccess "
            f"train {study} --task {task.name}{option}` first."
        )
    if best:
        paths = [path.with_name(BEST_POLICY) for path in paths]
        untested = [path.parent for path in paths if not path.exists()]
        if untested:
            raise InputError(
                f"{untested[0]} has no best policy: it was not tested while it learned."
                " Take the last ones."
            )
    return {
        str(path.parent.relative_to(out)): load_policy(path, task, robot, trained_under)
        for path in paths
    }


def load_policy(
    path: Path, task: Task, robot: Robot, trained_under: Conditions
) -> Policy:
    """Read a policy, which must be of that task, robot and conditions."""
    policy = Policy.load(path)
    expected = {
        "task": task.name,
        "model": robot.fingerprint,
        "conditions": trained_under.text,
    }
    for what, value in expected.items():
        if policy.metadata.get(what, "") != value:
            raise InputError(
                f"{path} was trained differently: its `{what}` is not what its folder "
                "and this study say. Train it anew."
            )
    return policy


def acting(policy: Policy, under: Conditions) -> Act:
    """Return what a policy does under conditions that may differ from its training's.

    Commands on their way are seen last; one that never saw any does not look at them.
    """

    def act(obs: Array) -> Array:
        if policy.obs_dim > obs.shape[1]:
            raise InputError(
                "The policy was trained to see commands on their way. Test it with "
                f"such a delay, not under {under.text or 'nominal'!r}."
            )
        return policy.act(obs[:, : policy.obs_dim])

    return act


def find_acts(
    study: Study,
    task: Task,
    trained_under: Conditions,
    under: Conditions,
    *,
    n_robots: int,
    best: bool = False,
) -> dict[str, Act]:
    """Return what the policies of a study do, by name, and what a guide does.

    Args:
        study: The study.
        task: What was learned.
        trained_under: Conditions of the training.
        under: Those that they are to act under.
        n_robots: Robots that the guide is for. It needs a skill if the task is more
            than to stand, and is left out without.
        best: Whether to take the best policy of each learner, not its last.
    """
    robot = load_poses(study).robot
    policies = find_policies(study.path, task, robot, trained_under, best=best)
    acts = {name: acting(policy, under) for name, policy in policies.items()}
    if task.to_stand or has_skill(study, task):
        acts[ROUTES] = following(Guide.of(study, n_robots, task=task))
    return acts


def evaluate_policies(
    acts: Mapping[str, Act],
    tester: PoseTest,
    groups: Mapping[str, np.ndarray],
    *,
    progress: Progress | None = None,
) -> list[Evaluation]:
    """Return what came of each policy, in all and by groups of poses."""
    found = []
    for done, (name, act) in enumerate(acts.items(), start=1):
        scores = tester.score(act)
        each = {what: by_group(scores.success, of) for what, of in groups.items()}
        found.append(Evaluation(name, summarize(scores), each))
        if progress:
            progress(done, len(acts))
    return found


def pose_groups(study: Study, poses: Poses, *, n_threads: int) -> dict[str, np.ndarray]:
    """Return what test poses have in common: parts on the ground, and cluster.

    The cluster of a pose is that of the centroid from which it is reached soonest, if
    the study has been clustered by K-Access.
    """
    parts = np.array(poses.robot.parts)
    contact = [" + ".join(parts[touches]) for touches in poses.contacts]
    groups = {"contact": np.array(contact)}
    clusters = study.read_jsons("clusters")
    if "kaccess" in clusters:
        centroids = np.array(clusters["kaccess"]["centroids"])
        homes = _nearest_centroids(study, centroids, poses, n_threads=n_threads)
        names = [f"{home}" if home >= 0 else "none" for home in homes]
        groups["cluster"] = np.array(names)
    return groups


def _nearest_centroids(
    study: Study, centroids: IntArray, poses: Poses, *, n_threads: int
) -> IntArray:
    """Return the cluster of each pose; -1 if no centroid reaches it in one move."""
    qpos = np.concatenate([study.pose_array("qpos")[centroids], poses.qpos])
    both = Poses(poses.robot, qpos, np.empty((len(qpos), 0), bool))
    k, n = len(centroids), len(poses)
    engine = _cpu_engine(study, poses.robot, n_threads)
    source, goal = np.repeat(np.arange(k), n), k + np.tile(np.arange(n), k)
    config = from_settings(AccessConfig, study.settings["access"])
    found = estimate_pairs(both, source, goal, config, engine=engine)
    access = accessibility(found.times.reshape(k, n))
    reached = np.isfinite(found.times.reshape(k, n)).any(axis=0)
    return np.where(reached, access.argmax(axis=0), -1)
