"""Skills: a few postures in a row that do a task, starting from standing.

If a task is more than standing, such as a backflip, the guide needs a skill for what
comes after standing up. A search finds it, without learning. The cross-entropy method
draws postures and the times to hold them, keeps the candidates with the most reward,
and draws the next candidates around these. The last posture is standing. In the second
half of the search each candidate is performed twice in a row, so that skills that can
be repeated earn more.
"""

from dataclasses import asdict, dataclass, fields

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import Array, BoolArray, IntArray, Progress
from kaccess.config import (
    EngineConfig,
    EngineName,
    ForBittle,
    GetUpConfig,
    SkillConfig,
    check_left_out,
)
from kaccess.engines import make_engine, make_replayer
from kaccess.engines.stepper import Stepper
from kaccess.envs import RobotVectorEnv
from kaccess.envs.task import Task
from kaccess.envs.tasks import make_task
from kaccess.robots import Mirror, Robot, find_mirror
from kaccess.study import Study
from kaccess.study.growing import SkillSearch, search_get_ups
from kaccess.study.lock import claim_graph
from kaccess.study.names import check_name

__all__ = [
    "Skill",
    "find_skill",
    "has_skill",
    "search_skill",
    "search_study",
]

_ELITE = 0.1  # share of the candidates that the next ones are drawn around
_INERTIA = 0.3  # share of the old centre and spread in the new ones
_POSTURE_SPREAD = 0.85  # initial standard deviation; 1 is half of a joint's range [-]
_HOLD_TIME = ForBittle(0.24, "s")  # initial mean of the time a posture is held
_HOLD_SPREAD = ForBittle(0.1, "s")  # initial standard deviation of that time
_LEAST_SPREAD = 0.025  # share of the initial spread that is added in each round


@dataclass(frozen=True)
class Skill:
    """A skill that the search found.

    Args:
        actions: (steps, nu) actions in [-1, 1], from standing.
        success: Share of trials with noise that succeed.
        reward: Mean reward of these trials.
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
        robot: Robot; it starts in its standing pose.
        task: Task; it defines reward and success.
        config: Settings of the search.
        n_threads: CPU threads; 0 takes all.
        progress: Called with (rounds done, rounds to do).

    Raises:
        InputError: If the skill found does not succeed.
    """
    config = robot.scale.fit(config)
    task = task.fit_to(robot)
    encoding = _Encoding(robot, task, config)
    engine = EngineConfig(threads=n_threads)
    env = RobotVectorEnv(config.candidates, task, robot=robot, engine=engine)
    rng = np.random.default_rng(config.seed)
    centre, spread = encoding.centre, encoding.spread
    for number in range(config.rounds):
        drawn = centre + spread * rng.normal(size=(config.candidates, len(centre)))
        second_half = number >= config.rounds // 2
        noise, times = (config.noise, 2) if second_half else (0.0, 1)
        earned, _ = _perform(env, encoding.decode(drawn), rng, noise, times=times)
        best = drawn[np.argsort(-earned)[: max(2, round(_ELITE * len(drawn)))]]
        centre = _INERTIA * centre + (1 - _INERTIA) * best.mean(axis=0)
        spread = _INERTIA * spread + (1 - _INERTIA) * best.std(axis=0)
        spread += _LEAST_SPREAD * encoding.spread
        if progress:
            progress(number + 1, config.rounds)
    skill = _assess(env, encoding.decode(centre[None]), rng, config)
    if not skill.success:
        raise InputError(
            f"No skill was found: the best candidate after {config.rounds} rounds does "
            "not succeed. Search with another `seed`, or with more `candidates`."
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
            f"{study.path} has no skill for {task.name!r} yet; guided learners need "
            f"one. Run `kaccess search {study.path} --task {task.name}` first, or "
            "train from starts without `guided-`."
        )
    return Skill(np.array(stored["actions"]), stored["success"], stored["reward"])


def search_study(
    study: Study,
    config: SkillConfig,
    get_up: GetUpConfig | None = None,
    *,
    engine: EngineName | EngineConfig = "mujoco",
    progress: Progress | None = None,
) -> Skill | SkillSearch:
    """Search for get-up skills, or for one that does a task from standing.

    Args:
        study: Study.
        config: Task, and settings of the search for a skill from standing. The skill
            that a search like this has found before is returned.
        get_up: Settings of the search for get-up skills.
        engine: Name of the engine, or its settings.
        progress: Called with (rounds done, rounds to do).
    """
    robot, task = study.robot, make_task(config.task, study.robot)
    if task.to_stand:
        unused = [each.name for each in fields(config) if each.name != "task"]
        check_left_out(config, unused, "here: get-up skills have settings of their own")
        with claim_graph(study.path):
            return search_get_ups(
                study,
                get_up or GetUpConfig(),
                engine=make_engine(engine, robot, study.still),
                replayer=make_replayer(engine, robot, study.still),
                stepper=Stepper(robot, n_threads=EngineConfig.of(engine).threads),
                progress=progress,
            )
    if get_up not in (None, GetUpConfig()):
        raise InputError(f"`get_up` has no effect with task {task.name}. Leave it out.")
    stored = study.read_jsons("skills").get(task.name, {})
    if stored.get("settings") == asdict(config):
        return find_skill(study, task)
    n_threads = EngineConfig.of(engine).threads
    found = search_skill(robot, task, config, n_threads=n_threads, progress=progress)
    content = {"settings": asdict(config), **asdict(found)}
    study.write_json(f"skills/{check_name(task.name, 'a task')}.json", content)
    return found


class _Encoding:
    """Encodes a skill as one vector: all postures, then the time each is held.

    A symmetric robot gets symmetric postures, the mean of each posture and its mirror
    image, which keep it straight.

    Args:
        robot: Robot that performs the skill.
        task: Task of the skill.
        config: Number of postures, and duration of the skill.
    """

    def __init__(self, robot: Robot, task: Task, config: SkillConfig) -> None:
        self._n, self._rate = config.postures, task.control_rate
        self._mirror = _find_mirror_or_none(robot)
        self._steps = np.arange(_count_steps(task, config.seconds))
        standing = robot.to_actions(robot.standing_targets[None])
        self._standing = np.clip(standing, -1.0, 1.0)[0]
        postures = np.tile(self._standing, self._n)
        self.centre = np.append(postures, np.full(self._n, robot.scale.fit(_HOLD_TIME)))
        self.spread = np.append(
            np.full_like(postures, _POSTURE_SPREAD),
            np.full(self._n, robot.scale.fit(_HOLD_SPREAD)),
        )

    def decode(self, points: Array) -> Array:
        """Return the actions of skills, (n, steps, nu), given as points, (n, d)."""
        n, nu = len(points), len(self._standing)
        postures = np.empty((n, self._n + 1, nu))
        postures[:, :-1] = points[:, : self._n * nu].reshape(n, self._n, nu)
        postures[:, -1] = self._standing
        held = np.round(points[:, self._n * nu :] * self._rate).clip(min=1)
        ended = self._steps[None, :, None] >= held.cumsum(axis=1)[:, None, :]
        current: IntArray = ended.sum(axis=2)
        postures = np.clip(postures, -1.0, 1.0)
        if self._mirror:
            mirrored = self._mirror.reflect_joints(postures.reshape(-1, nu))
            postures = (postures + mirrored.reshape(postures.shape)) / 2
        return np.asarray(postures[np.arange(n)[:, None], current])


def _find_mirror_or_none(robot: Robot) -> Mirror | None:
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
    """Return a skill, (1, steps, nu), with its success in many trials with noise."""
    copies = np.repeat(actions, config.candidates, axis=0)
    earned, succeeded = _perform(env, copies, rng, config.noise)
    return Skill(actions[0], float(succeeded.mean()), float(earned.mean()))


def _perform(
    env: RobotVectorEnv,
    actions: Array,
    rng: np.random.Generator,
    noise: float,
    *,
    times: int = 1,
) -> tuple[Array, BoolArray]:
    """Return the rewards of skills and whether they succeed, (n,) each."""
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
