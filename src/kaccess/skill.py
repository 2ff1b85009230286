"""A skill: a few postures, one after the other, that do from standing what a task asks.

Where a task is more than to stand, routes to standing are one half of a guide, and a
skill is the other. It is found by search, without any learning. The cross-entropy
method draws postures and how long to hold them, keeps the draws that earn most of the
task's own reward, and draws anew around those. The last posture is standing. Once there
has been time to find out how to do it, trials do it twice: what leaves a robot where it
can be done again earns more.
"""

from dataclasses import dataclass

import numpy as np

from kaccess.config import SkillConfig
from kaccess.envs import RobotVectorEnv
from kaccess.envs.task import Task
from kaccess.errors import InputError
from kaccess.robots import Mirror, Robot, find_mirror
from kaccess.study import Study
from kaccess.types import Array, BoolArray, IntArray, Progress

__all__ = ["Skill", "find_skill", "has_skill", "search_skill"]

_BEST = 0.1  # share of the draws that the next are drawn around
_INERTIA = 0.3  # share of the old centre and spread in the new ones
_POSTURE_SPREAD = 0.85  # of the first draws, in halves of a joint's range [-]
_HELD = 0.24  # [s], that a posture is held at first
_HELD_SPREAD = 0.1  # [s], of that
_LEAST_SPREAD = 0.025  # in shares of the first: the search never comes to rest


@dataclass(frozen=True)
class Skill:
    """What was found.

    Args:
        actions: (steps, nu) in [-1, 1], from standing.
        success: Share of trials with noise that succeed.
        reward: What a trial earns in the mean.
    """

    actions: Array
    success: float
    reward: float


def search_skill(
    robot: Robot,
    task: Task,
    config: SkillConfig,
    *,
    n_threads: int = 0,
    progress: Progress | None = None,
) -> Skill:
    """Search for a skill.

    Args:
        robot: The robot, which starts from its standing pose.
        task: What earns reward, and what counts as success.
        config: How to search.
        n_threads: CPU threads; 0 takes them all.
        progress: Called with (rounds done, rounds to do).

    Raises:
        InputError: If nothing that was found succeeds.
    """
    form = _Form(robot, task, config)
    env = RobotVectorEnv(config.candidates, task, robot=robot, n_threads=n_threads)
    rng = np.random.default_rng(config.seed)
    centre, spread = form.centre, form.spread
    for number in range(config.rounds):
        drawn = centre + spread * rng.normal(size=(config.candidates, len(centre)))
        found_out = number >= config.rounds // 2
        noise, times = (config.noise, 2) if found_out else (0.0, 1)
        earned, _ = _try(env, form.actions(drawn), rng, noise, times=times)
        best = drawn[np.argsort(-earned)[: max(2, round(_BEST * len(drawn)))]]
        centre = _INERTIA * centre + (1 - _INERTIA) * best.mean(axis=0)
        spread = _INERTIA * spread + (1 - _INERTIA) * best.std(axis=0)
        spread += _LEAST_SPREAD * form.spread
        if progress:
            progress(number + 1, config.rounds)
    skill = _assess(env, form.actions(centre[None]), rng, config)
    if not skill.success:
        raise InputError(
            f"No skill was found: what earns most in {config.rounds} rounds does not "
            "succeed. Search with another `seed`, or with more `candidates`."
        )
    return skill


def has_skill(study: Study, task: Task) -> bool:
    """Return whether a study has a skill for a task."""
    return task.name in study.read_jsons("skills")


def find_skill(study: Study, task: Task) -> Skill:
    """Return the skill that a study has for a task.

    Raises:
        InputError: If it has none.
    """
    stored = study.read_jsons("skills").get(task.name)
    if stored is None:
        raise InputError(
            f"{study.path} has no skill for {task.name!r} yet, which guided learners "
            f"need. Run `kaccess search {study.path} --task {task.name}` first, or "
            "train from starts that are not guided."
        )
    return Skill(np.array(stored["actions"]), stored["success"], stored["reward"])


class _Form:
    """Skills as points: each posture, then how long each is held.

    Robots that are their own mirror image do the same on both sides, which keeps them
    straight: the mean of what both sides are told.

    Args:
        robot: The robot.
        task: The task.
        config: How many postures, and how long in all.
    """

    def __init__(self, robot: Robot, task: Task, config: SkillConfig) -> None:
        self._n, self._rate = config.postures, task.control_rate
        self._mirror = _mirror_of(robot)
        self._steps = np.arange(_count_steps(task, config.seconds))
        standing = robot.actions(robot.joints(robot.standing[None]))
        self._standing = np.clip(standing, -1.0, 1.0)[0]
        postures = np.tile(self._standing, self._n)
        self.centre = np.append(postures, np.full(self._n, _HELD))
        self.spread = np.append(
            np.full_like(postures, _POSTURE_SPREAD), np.full(self._n, _HELD_SPREAD)
        )

    def actions(self, points: Array) -> Array:
        """Return the actions of skills, (n, steps, nu), from (n, d) points."""
        n, nu = len(points), len(self._standing)
        postures = np.empty((n, self._n + 1, nu))
        postures[:, :-1] = points[:, : self._n * nu].reshape(n, self._n, nu)
        postures[:, -1] = self._standing
        held = np.round(points[:, self._n * nu :] * self._rate).clip(min=1)
        ended = self._steps[None, :, None] >= held.cumsum(axis=1)[:, None, :]
        current: IntArray = ended.sum(axis=2)
        postures = np.clip(postures, -1.0, 1.0)
        if self._mirror:
            mirrored = self._mirror.joints(postures.reshape(-1, nu))
            postures = (postures + mirrored.reshape(postures.shape)) / 2
        return np.asarray(postures[np.arange(n)[:, None], current])


def _mirror_of(robot: Robot) -> Mirror | None:
    try:
        return find_mirror(robot)
    except InputError:
        return None


def _count_steps(task: Task, seconds: float) -> int:
    n_steps = round(seconds * task.control_rate)
    most = (task.episode_steps - 1) // 2
    if not 1 <= n_steps <= most:
        raise InputError(
            f"`seconds` must be 1 to {most} control steps of {1 / task.control_rate:g} "
            f"s, got {seconds:g}."
        )
    return n_steps


def _assess(
    env: RobotVectorEnv, actions: Array, rng: np.random.Generator, config: SkillConfig
) -> Skill:
    """Return one skill, (1, steps, nu), with how it does in many trials with noise."""
    copies = np.repeat(actions, config.candidates, axis=0)
    earned, succeeded = _try(env, copies, rng, config.noise)
    return Skill(actions[0], float(succeeded.mean()), float(earned.mean()))


def _try(
    env: RobotVectorEnv,
    actions: Array,
    rng: np.random.Generator,
    noise: float,
    *,
    times: int = 1,
) -> tuple[Array, BoolArray]:
    """Return what skills earn and whether they succeed, (n,) each."""
    n, n_steps, _ = actions.shape
    earned, sound = np.zeros(n), np.ones(n, bool)
    env.reset(seed=0)
    for step in range(times * n_steps):
        now = actions[:, step % n_steps]
        now = now + noise * rng.uniform(-1.0, 1.0, now.shape)
        _, reward, _, _, info = env.step(np.clip(now, -1.0, 1.0))
        sound &= ~np.asarray(info["diverged"], bool)
        earned += reward * sound
    return earned, sound & np.asarray(info["success"], bool)
