"""Teach policies what the shipped one does, under drawn conditions.

python experiments/reality/distil.py runs/bittle --observe imu --seeds 10

The teacher is the shipped policy, which sees the true state. It was trained on nominal
conditions and trembles when commands come late, so its actions are smoothed, and they
fade into the standing pose as the body gets level. A student sees what a robot reports
(`history` or `imu`). It acts under conditions that are drawn for each episode, and
learns by regression what the teacher would have done in its place (DAgger: Ross,
Gordon, Bagnell, 2011). Policies are written where `kaccess train --randomize` would
write them, as learners `distilled/seed-<number>`; `kaccess evaluate`, `play` and
`export` take them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro

from kaccess import Study
from kaccess.config import EngineConfig, ObserveName
from kaccess.envs import Conditions, RobotVectorEnv
from kaccess.envs.tasks import make_task
from kaccess.policies import LAST_POLICY, Policy
from kaccess.policies.shipped import find_shipped
from kaccess.robots import Robot
from kaccess.study import RunsName
from kaccess.study.starts import find_starts
from kaccess.training.train import describe_policy

TASK = "fall-recovery"
LEVEL = 0.7  # [-], cosine of the tilt at which standing begins to fade in
SMOOTH, SMOOTHEST = 0.6, 0.8  # [-], weight of the last action; at no and long latency
LONG = 0.08  # [s]


@dataclass(frozen=True)
class Config:
    """What to teach, and for how long."""

    study: tyro.conf.Positional[Path]
    """Study of Bittle; the policies go into its folder `train`."""
    observe: ObserveName = "history"
    """What students observe."""
    nominal: bool = False
    """Teach under nominal conditions, not drawn ones."""
    seeds: int = 10
    first_seed: int = 0
    robots: int = 100
    """Robots that act at once; each has one episode per round."""
    rounds: int = 16
    """Rounds of acting and learning."""
    steps: int = 75
    """Steps of an episode."""
    updates: int = 400
    """Updates after each round."""
    batch_size: int = 512
    hidden: int = 256
    """Units of each of two hidden layers."""
    learning_rate: float = 1e-3
    """At first; it falls linearly to a tenth."""
    threads: int = 1
    """CPU threads."""


def main(config: Config) -> None:
    torch.set_num_threads(config.threads)
    study = Study(config.study)
    conditions = Conditions(randomize=int(not config.nominal), observe=config.observe)
    folder = study.runs_folder(RunsName(TASK, conditions.text)) / "distilled"
    for seed in range(config.first_seed, config.first_seed + config.seeds):
        path = folder / f"seed-{seed}" / LAST_POLICY
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            teach(study, config, conditions, seed).save(path)
            print(path, flush=True)


def teach(study: Study, config: Config, conditions: Conditions, seed: int) -> Policy:
    """Return a student that has learned from the teacher."""
    torch.manual_seed(seed)
    task = make_task(TASK, study.robot)
    env = RobotVectorEnv(
        config.robots,
        task,
        robot=study.robot,
        starts=find_starts(study, "rnd", task),
        conditions=conditions,
        engine=EngineConfig(threads=config.threads),
        max_episode_steps=config.steps + 1,
    )
    student = Student(env.single_observation_space.shape[0], config)  # type: ignore[index]
    rng, seen, taught = np.random.default_rng([seed, 1]), [], []
    for number in range(config.rounds):
        share = 0.0 if number == 0 else 1.0 - 0.5**number  # of robots that students run
        acts_itself = rng.random(config.robots) < share
        obs, labels = act_round(env, student.act, acts_itself, config, seed, number)
        seen.append(obs)
        taught.append(labels)
        loss = student.learn(np.concatenate(seen), np.concatenate(taught), number)
        if number % 10 == 9:
            print(f"seed {seed}, round {number + 1}: loss {loss:.4f}", flush=True)
    metadata = describe_policy(task, study.robot, conditions)
    return student.export(metadata | {"learner": f"distilled/seed-{seed}"})


def act_round(
    env: RobotVectorEnv,
    act: Callable[[np.ndarray], np.ndarray],
    acts_itself: np.ndarray,
    config: Config,
    seed: int,
    number: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Let robots act for an episode; return observations and the teacher's actions."""
    obs, _ = env.reset(seed=[[seed, number, i] for i in range(config.robots)])
    teacher = Teacher(env)
    seen, taught = [], []
    for _ in range(config.steps):
        labels = teacher.label()
        seen.append(obs)
        taught.append(labels)
        actions = np.where(acts_itself[:, None], act(obs), labels)
        teacher.last = actions
        obs = env.step(actions)[0]
    return np.concatenate(seen), np.concatenate(taught)


class Teacher:
    """The shipped policy, smoothed, which sees the true state of robots.

    Args:
        env: Robots at the start of their episodes.

    Attributes:
        last: (n, nu) actions that were taken last.
    """

    def __init__(self, env: RobotVectorEnv) -> None:
        self._episodes, self._robot = env.episodes, env.robot
        self._policy = find_shipped("bittle", TASK)
        self._stand = _find_standing(env.robot)
        now = self._episodes.robots.readings
        self.last = env.robot.to_actions(now.joints - self._offset)
        drawn = self._episodes.draws
        late = drawn.get("latency") / LONG if drawn else np.zeros(env.num_envs)
        self._weight = (SMOOTH + (SMOOTHEST - SMOOTH) * np.minimum(late, 1))[:, None]

    @property
    def _offset(self) -> np.ndarray | float:
        drawn = self._episodes.draws
        return drawn.offset if drawn else 0.0

    def label(self) -> np.ndarray:
        """Return what the teacher would do, (n, nu)."""
        now = self._episodes.robots.readings
        joints = now.joints - self._offset
        true = np.concatenate([now.gravity, now.angular_velocity, joints], axis=1)
        action = self._policy.act(true).astype(np.float64)
        upright = np.maximum(-now.gravity[:, 2], now.floor_cosine)
        share = np.clip((upright - LEVEL) / (1 - LEVEL), 0, 1)[:, None]
        action = (1 - share) * action + share * self._stand
        return np.asarray(self._weight * self.last + (1 - self._weight) * action)


class Student:
    """A network that learns by regression, with two hidden layers.

    Args:
        obs_dim: Length of an observation.
        config: Size and learning rate.
    """

    def __init__(self, obs_dim: int, config: Config) -> None:
        self._config, units = config, config.hidden
        self._mean, self._scale = np.zeros(obs_dim), np.ones(obs_dim)
        self._net = torch.nn.Sequential(
            torch.nn.Linear(obs_dim, units),
            torch.nn.ReLU(),
            torch.nn.Linear(units, units),
            torch.nn.ReLU(),
            torch.nn.Linear(units, 8),
            torch.nn.Tanh(),
        )
        self._adam = torch.optim.Adam(self._net.parameters(), config.learning_rate)

    def act(self, obs: np.ndarray) -> np.ndarray:
        """Return actions, (n, nu), for observations, (n, d)."""
        with torch.no_grad():
            return np.asarray(self._net(self._standardize(obs)).numpy(), np.float64)

    def learn(self, obs: np.ndarray, labels: np.ndarray, number: int) -> float:
        """Learn from all rounds so far, of which this is the last; return the loss."""
        config = self._config
        if number == 0:
            self._mean, self._scale = obs.mean(axis=0), obs.std(axis=0) + 0.05
        rate = 1 - 0.9 * number / config.rounds
        self._adam.param_groups[0]["lr"] = config.learning_rate * rate
        inputs = self._standardize(obs)
        targets = torch.as_tensor(labels, dtype=torch.float32)
        total = 0.0
        for _ in range(config.updates):
            rows = torch.randint(len(inputs), (config.batch_size,))
            loss = torch.nn.functional.mse_loss(self._net(inputs[rows]), targets[rows])
            self._adam.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self._adam.step()
            total += loss.item()
        return total / config.updates

    def export(self, metadata: dict[str, object]) -> Policy:
        """Return the policy; the first layer takes over the standardization."""
        layers = [each for each in self._net if isinstance(each, torch.nn.Linear)]
        weights = [each.weight.detach().numpy().T.astype(np.float64) for each in layers]
        biases = [each.bias.detach().numpy().astype(np.float64) for each in layers]
        weights[0] = weights[0] / self._scale[:, None]
        biases[0] = biases[0] - self._mean @ weights[0]
        return Policy(
            tuple(each.astype(np.float32) for each in weights),
            tuple(each.astype(np.float32) for each in biases),
            low=-np.ones(8, np.float32),
            high=np.ones(8, np.float32),
            metadata=metadata,
        )

    def _standardize(self, obs: np.ndarray) -> torch.Tensor:
        return torch.as_tensor((obs - self._mean) / self._scale, dtype=torch.float32)


def _find_standing(robot: Robot) -> np.ndarray:
    return np.asarray(robot.to_actions(robot.standing_targets[None])[0])


if __name__ == "__main__":
    main(tyro.cli(Config))
