"""The policies of a study by name, and its guide, which acts like a policy."""

from dataclasses import replace
from pathlib import Path

from kaccess.base.errors import InputError
from kaccess.base.types import Array
from kaccess.config import NOMINAL
from kaccess.envs.conditions import Conditions
from kaccess.envs.task import Task
from kaccess.envs.tasks import make_task
from kaccess.evaluation.rollout import Act
from kaccess.guide import Guide, follow_guide, has_skill
from kaccess.policies import BEST_POLICY, LAST_POLICY, Policy
from kaccess.robots import Robot
from kaccess.study import ROUTES, RunsName, Study
from kaccess.study.names import find_learners

__all__ = [
    "act_under",
    "find_controllers",
    "find_named_policy",
    "find_policies",
    "find_policy",
    "observe_as_trained",
]


def has_policies(study: Study, task: Task, trained_under: Conditions) -> bool:
    """Return whether a study has policies for a task, trained under conditions."""
    folder = study.runs_folder(RunsName(task.name, trained_under.text))
    return bool(find_learners(folder, LAST_POLICY))


def find_policies(
    study: Study, task: Task, trained_under: Conditions, *, best: bool = False
) -> dict[str, Policy]:
    """Return the policies trained for a task under conditions, by learner name.

    Args:
        study: Study that holds them.
        task: Task that they learned.
        trained_under: Conditions of their training.
        best: Whether to take each learner's best policy, not its last one.

    Raises:
        InputError: If there are none, or one belongs to another robot or task.
    """
    runs = RunsName(task.name, trained_under.text)
    folder = study.runs_folder(runs)
    learners = find_learners(folder, LAST_POLICY)
    if not learners:
        option = f" --conditions {runs.conditions}" if runs.conditions else ""
        raise InputError(
            f"{study.path} has no policies in {folder.relative_to(study.path)} yet. "
            f"Run `kaccess train {study.path} --task {task.name}{option}` first."
        )
    file = BEST_POLICY if best else LAST_POLICY
    for path in learners.values():
        if not (path / file).exists():
            raise InputError(
                f"{path} has no best policy, because it was never tested during "
                "training. Test its last policy instead, without `best`."
            )
    return {
        name: _load(path / file, task, study.robot, trained_under)
        for name, path in learners.items()
    }


def find_policy(
    study: Study,
    run: str | None,
    task: Task,
    trained_under: Conditions,
    *,
    best: bool = False,
) -> Policy:
    """Return the policy of one learner; arguments as in `find_policies`."""
    policies = find_policies(study, task, trained_under, best=best)
    if run is None:
        raise InputError(f"Choose a learner with `--run`: {', '.join(policies)}.")
    if run not in policies:
        raise InputError(
            f"{study.path} has no policy {run!r} for {task.name!r}, only: "
            f"{', '.join(policies)}."
        )
    return policies[run]


def find_named_policy(
    study: Study, run: str, task: str | Task, trained_under: str, *, best: bool = False
) -> Policy:
    """Return the policy of one learner, given the names of task and conditions."""
    conditions = Conditions.parse(trained_under)
    return find_policy(study, run, make_task(task), conditions, best=best)


def _load(path: Path, task: Task, robot: Robot, trained_under: Conditions) -> Policy:
    """Read a policy, which must fit the task, the robot and the conditions."""
    policy = Policy.load(path)
    expected = {
        "task": task.name,
        "model": robot.fingerprint,
        "conditions": trained_under.text,
    }
    for what, value in expected.items():
        if policy.metadata.get(what, "") != value:
            raise InputError(
                f"{path} was trained differently: its `{what}` is not that of its "
                "folder and this study. Train it again."
            )
    if policy.act_dim != robot.model.nu:
        raise InputError(
            f"{path} has {policy.act_dim} actions, but {robot.name} has "
            f"{robot.model.nu} joints. Train it again."
        )
    return policy


def observe_as_trained(under: Conditions, before: Conditions) -> Conditions:
    """Return the conditions of a test, in which policies observe what they learned on.

    Args:
        under: Conditions of the test; what it says of observations takes precedence.
        before: Conditions of the training.
    """
    if "observe" in under.given:
        return under
    return replace(under, observe=before.observe)


def act_under(policy: Policy, conditions: Conditions) -> Act:
    """Return a policy that acts under conditions other than those of its training.

    With delayed commands, observations end with the commands in the queue. A policy
    trained without delay does not see them. A policy that observes one step sees the
    newest; under `observe=imu`, the last command takes the place of joint positions.
    """

    def act(obs: Array) -> Array:
        if policy.obs_dim > obs.shape[1]:
            raise InputError(
                f"The policy observes {policy.obs_dim} numbers, but a robot under "
                f"{conditions.text or NOMINAL!r} has {obs.shape[1]}: it was trained "
                "with delayed commands, or with other observations. Test it with the "
                "`delay` and `observe` of its training."
            )
        return policy.act(obs[:, : policy.obs_dim])

    return act


def find_controllers(
    study: Study,
    task: Task,
    *,
    trained_under: Conditions,
    under: Conditions,
    n_robots: int,
    best: bool = False,
) -> dict[str, Act]:
    """Return all policies of a study and its guide, by name.

    The guide needs a skill if the task is more than standing; without one it is left
    out. Before any training, the guide is alone, unless `trained_under` asks for
    policies. While times are not estimated, the guide is left out.

    Args:
        study: Study that holds them.
        task: Task that the policies learned.
        trained_under: Conditions of the training.
        under: Conditions to act under.
        n_robots: Number of robots that the guide controls.
        best: Whether to take each learner's best policy, not its last one.
    """
    has_guide = task.to_stand or has_skill(study, task)
    found: dict[str, Act] = {}
    asked = bool(trained_under.text)
    if asked or not has_guide or has_policies(study, task, trained_under):
        policies = find_policies(study, task, trained_under, best=best)
        found = {name: act_under(policy, under) for name, policy in policies.items()}
    if has_guide and (study.is_timed or not found):
        found[ROUTES] = follow_guide(Guide.of(study, n_robots, task=task))
    return found
