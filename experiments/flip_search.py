"""Search for a backflip without learning: is it within the robot's means?

A flip is a few postures, the same left and right, each held for some control steps.
The cross-entropy method looks for those that turn the robot over and land it.

python experiments/flip_search.py
"""

from dataclasses import dataclass

import numpy as np
import tyro

from kaccess.envs import RobotVectorEnv
from kaccess.robots import find_mirror, load_robot

N_POSTURES = 4
N_STEPS = 45  # 1.8 s
MOST_HELD = 14  # control steps


@dataclass(frozen=True)
class Config:
    """How long it looks."""

    robot: str = "bittle"
    """Name of a robot."""
    candidates: int = 256
    """In each round."""
    rounds: int = 60
    """Of the search."""
    seed: int = 0
    """Of the candidates."""


def main(config: Config) -> None:
    robot, n, elite = (
        load_robot(config.robot),
        config.candidates,
        config.candidates // 10,
    )
    partner = find_mirror(robot).partner
    legs = np.flatnonzero(np.arange(len(partner)) < partner)  # one of each pair
    env = RobotVectorEnv(n, "backflip", robot=robot)
    rng = np.random.default_rng(config.seed)
    standing = robot.actions(robot.joints(robot.standing[None]))[0, legs]
    mean = np.concatenate([np.tile(standing, N_POSTURES), np.zeros(N_POSTURES)])
    spread = np.full(len(mean), 0.6)
    for number in range(config.rounds):
        found = mean + spread * rng.normal(size=(n, len(mean)))
        angle, flight, info = fly(env, found, legs, partner)
        score = (
            np.minimum(angle, 7.0) + flight + 10 * info["turns"] + 20 * info["flips"]
        )
        best = np.argsort(-score)[:elite]
        mean = 0.3 * mean + 0.7 * found[best].mean(axis=0)
        spread = 0.3 * spread + 0.7 * found[best].std(axis=0) + 0.02
        one = best[0]
        print(
            f"round {number:2d}: best turns by {np.degrees(angle[one]):3.0f} deg, "
            f"{flight[one]:.2f} s in the air, lands {info['flips'][one]:.0f} flips; "
            f"{info['flips'].astype(bool).mean():4.0%} of all land one",
            flush=True,
        )


def fly(
    env: RobotVectorEnv, found: np.ndarray, legs: np.ndarray, partner: np.ndarray
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return the largest angle, the time in the air, and how each candidate ends."""
    n, n_legs = len(found), len(legs)
    postures = (
        found[:, : N_POSTURES * n_legs].reshape(n, N_POSTURES, n_legs).clip(-1, 1)
    )
    held = np.round(6 + 4 * found[:, N_POSTURES * n_legs :]).clip(1, MOST_HELD)
    until = held.cumsum(axis=1)
    env.reset(seed=0)
    angle, flight = np.zeros(n), np.zeros(n)
    info: dict[str, np.ndarray] = {}
    for step in range(N_STEPS):
        current = (step >= until).sum(axis=1).clip(max=N_POSTURES - 1)
        actions = np.zeros((n, len(partner)))
        actions[:, legs] = actions[:, partner[legs]] = postures[np.arange(n), current]
        *_, info = env.step(actions)
        now = env.episodes.robots.readings
        angle = np.maximum(angle, info["angle"])
        flight += (now.distance > 0.005) * now.time_step
    return angle, flight, info


if __name__ == "__main__":
    main(tyro.cli(Config))
