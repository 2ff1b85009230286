"""The guide shows learners how to stand up, from the start or where they have gone."""

from typing import TYPE_CHECKING

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import CloneConfig, EngineConfig, EngineName
from kaccess.envs.conditions import Conditions
from kaccess.envs.episodes import Episodes
from kaccess.envs.task import Task
from kaccess.evaluation.pose_test import place_test_poses
from kaccess.evaluation.rollout import Act, roll_out
from kaccess.guide import Guide
from kaccess.starts import InitialStates
from kaccess.study import Study

if TYPE_CHECKING:  # torch is loaded only to train
    from kaccess.clone import Demonstrations

__all__ = ["GuideShow"]

_STREAM = 22  # of starts, noise and times
_MEMORY = 0.6  # share of a step's noise that lasts until the next one [-]


class GuideShow:
    """Shows how the guide of a study does a task; see `kaccess.clone.Show`.

    Args:
        study: Study whose guide is followed.
        starts: Resting starts.
        task: Task to learn.
        config: Number of episodes, and noise.
        gamma: Discount factor of the values.
        seed: Seed of starts, noise and times.
        conditions: Differences from the physics of the study; by default none.
        engine: Name of the engine, or its settings.
    """

    def __init__(
        self,
        study: Study,
        starts: InitialStates,
        task: Task,
        config: CloneConfig,
        *,
        gamma: float,
        seed: int = 0,
        conditions: Conditions | None = None,
        engine: EngineName | EngineConfig = "mujoco",
    ) -> None:
        self._study, self._starts, self._config = study, starts, config
        self._gamma, self._seed = gamma, seed
        self._conditions = conditions or Conditions()
        self._episodes = Episodes(
            task,
            study.robot,
            config.episodes,
            conditions=self._conditions,
            engine=engine,
        )
        self.obs_dim = len(self._episodes.low)
        self.low = np.full(study.robot.model.nu, -1.0, np.float32)
        self.high = np.full(study.robot.model.nu, 1.0, np.float32)
        rate = self._episodes.task.control_rate
        self._n_steps = round(study.robot.test_seconds * rate)

    def count_steps(self, number: int) -> int:
        """Return the control steps that a round simulates."""
        return self._config.episodes * self._n_steps * (2 if number else 1)

    def __call__(self, number: int, act: Act | None) -> "Demonstrations":
        """Return what the guide does in a round, of episodes that end with success.

        Args:
            number: Number of the round.
            act: Policy that acts first, until the guide takes over; None for none.

        Raises:
            InputError: If the guide never succeeds, although it acts alone.
        """
        rng = np.random.default_rng([_STREAM, self._seed, number])
        n, study, episodes = self._config.episodes, self._study, self._episodes
        qpos = self._starts.sample(rng, n)
        placed = place_test_poses(qpos, study.robot, self._conditions)
        guide = Guide.of(study, n, task=episodes.task)
        latest = self._n_steps if act else 0
        duet = _Duet(guide, act, latest, self._config.noise, rng)
        n_steps = self.count_steps(number) // n
        _, *rewards = (
            reward for _, reward in roll_out(episodes, duet.act, placed, n_steps)
        )
        success = np.asarray(episodes.get_info()["success"], bool)
        if act is None and not success.any():
            raise InputError(
                f"The guide of {study.path} stands up from none of {n} starts, so "
                "there is nothing to imitate. Train from starts without `guided-`, "
                "such as --starts rnd, or make a study with more poses."
            )
        return duet.select(success, discount(np.stack(rewards), self._gamma))


class _Duet:
    """A policy acts first; then the guide takes over, with noise.

    Each robot has a random time after which the guide takes over as soon as the robot
    is at rest. The guide begins with a new move then: in the middle of a motion it
    would show something else than in the same motion of its own.

    Args:
        guide: The guide.
        act: Policy that acts first; None for none.
        latest: Step in which the guide takes over at the latest.
        noise: Largest amplitude of the noise. Each robot has its own amplitude.
        rng: Random numbers.
    """

    def __init__(
        self,
        guide: Guide,
        act: Act | None,
        latest: int,
        noise: float,
        rng: np.random.Generator,
    ) -> None:
        self._guide, self._act, self._rng = guide, act, rng
        self._earliest = rng.integers(latest + 1, size=len(guide))
        self._since: IntArray = np.full(len(guide), latest)
        self._amplitude = noise * rng.random((len(guide), 1))
        self._noise: Array = np.zeros((len(guide), 1))
        self._obs: list[Array] = []
        self._actions: list[Array] = []

    def act(self, obs: Array) -> Array:
        """Return the next actions, (n, act)."""
        step = len(self._obs)
        at_rest = (step >= self._earliest) & self._guide.are_slow
        self._since[at_rest & (self._since > step)] = step
        shown = self._guide.act(obs, self._since == step)
        self._obs.append(obs)
        self._actions.append(shown)
        actions = np.clip(shown + self._draw_noise(shown.shape), -1.0, 1.0)
        waits = self._since > step
        if self._act and waits.any():
            actions = np.where(waits[:, None], self._act(obs), actions)
        return actions

    def _draw_noise(self, shape: tuple[int, ...]) -> Array:
        fresh = self._rng.uniform(-1.0, 1.0, shape)
        self._noise = _MEMORY * self._noise + np.sqrt(1 - _MEMORY**2) * fresh
        return self._amplitude * self._noise

    def select(self, success: BoolArray, values: Array) -> "Demonstrations":
        """Return the guide's steps of the robots that succeed.

        Args:
            success: (n,) which robots succeed.
            values: (t, n) value of each step.
        """
        from kaccess.clone import Demonstrations

        step = np.arange(len(values))[:, None]
        kept = (step >= self._since) & success
        columns = np.stack(self._obs), np.stack(self._actions), values
        return Demonstrations(*(column[kept] for column in columns))


def discount(rewards: Array, gamma: float) -> Array:
    """Return the discounted mean of the rewards that follow each step, (t, n).

    After the last step, robots that stand earn the same for ever.
    """
    values, following = np.empty_like(rewards), rewards[-1]
    for step in reversed(range(len(rewards))):
        following = (1 - gamma) * rewards[step] + gamma * following
        values[step] = following
    return values
