"""Learning tasks as Gymnasium environments that start where they are told to.

Importing this package registers `kaccess/FallRecovery-v0`, `kaccess/Backflip-v0` and
`kaccess/Stand-v0`. It stays light: MuJoCo and Numba load when an environment is made.
"""

from importlib import import_module
from typing import TYPE_CHECKING

import gymnasium

if TYPE_CHECKING:
    from kaccess.envs.backflip import Backflip
    from kaccess.envs.conditions import Conditions
    from kaccess.envs.fall_recovery import FallRecovery
    from kaccess.envs.readings import Readings
    from kaccess.envs.robot_env import RobotEnv, RobotVectorEnv
    from kaccess.envs.robots_batch import RobotsBatch
    from kaccess.envs.stand import Stand
    from kaccess.envs.task import Task

__all__ = [
    "ENV_IDS",
    "Backflip",
    "Conditions",
    "FallRecovery",
    "Readings",
    "RobotEnv",
    "RobotVectorEnv",
    "RobotsBatch",
    "Stand",
    "Task",
    "make_task",
    "register",
]

ENV_IDS = {
    "fall-recovery": "kaccess/FallRecovery-v0",
    "backflip": "kaccess/Backflip-v0",
    "stand": "kaccess/Stand-v0",
}
"""Gymnasium's id of each task."""

_HOME = {
    "Backflip": "backflip",
    "Conditions": "conditions",
    "FallRecovery": "fall_recovery",
    "Readings": "readings",
    "RobotEnv": "robot_env",
    "RobotVectorEnv": "robot_env",
    "RobotsBatch": "robots_batch",
    "Stand": "stand",
    "Task": "task",
    "make_task": "task",
}


def register() -> None:
    """Make the tasks known to `gymnasium.make` and `gymnasium.make_vec`."""
    for task, env_id in ENV_IDS.items():
        if env_id not in gymnasium.registry:
            gymnasium.register(
                env_id,
                entry_point="kaccess.envs.robot_env:RobotEnv",
                vector_entry_point="kaccess.envs.robot_env:RobotVectorEnv",
                kwargs={"task": task},
            )


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'kaccess.envs' has no attribute {name!r}")
    return getattr(import_module(f"kaccess.envs.{_HOME[name]}"), name)


register()
