"""Learning tasks as Gymnasium environments with starts of your choice.

Importing this package registers every task with Gymnasium, such as
`kaccess/FallRecovery-v0`, and again for robots whose tensors stay on a GPU,
`kaccess/FallRecoveryTensors-v0`. The import is fast: MuJoCo and Numba are loaded when
an environment is made.
"""

from importlib import import_module
from typing import TYPE_CHECKING

import gymnasium

from kaccess.config import TASKS

if TYPE_CHECKING:
    from kaccess.envs.conditions import Conditions
    from kaccess.envs.readings import Readings
    from kaccess.envs.robot_env import RobotEnv, RobotVectorEnv
    from kaccess.envs.robots_batch import RobotsBatch
    from kaccess.envs.task import Task
    from kaccess.envs.tasks import make_task
    from kaccess.envs.tasks.backflip import Backflip
    from kaccess.envs.tasks.fall_recovery import FallRecovery
    from kaccess.envs.tasks.get_up import GetUp
    from kaccess.envs.tasks.stand import Stand

__all__ = [
    "ENV_IDS",
    "TENSOR_ENV_IDS",
    "Backflip",
    "Conditions",
    "FallRecovery",
    "GetUp",
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
    name: f"kaccess/{''.join(part.capitalize() for part in name.split('-'))}-v0"
    for name in TASKS
}
"""Gymnasium's id of each task, by the task's name."""

TENSOR_ENV_IDS = {
    name: env_id.replace("-v", "Tensors-v") for name, env_id in ENV_IDS.items()
}
"""The same for `gymnasium.make_vec` of robots whose tensors stay on a GPU."""

_MODULES = {
    "Backflip": "tasks.backflip",
    "Conditions": "conditions",
    "FallRecovery": "tasks.fall_recovery",
    "GetUp": "tasks.get_up",
    "Readings": "readings",
    "RobotEnv": "robot_env",
    "RobotVectorEnv": "robot_env",
    "RobotsBatch": "robots_batch",
    "Stand": "tasks.stand",
    "Task": "task",
    "make_task": "tasks",
}


def register() -> None:
    """Register every task for `gymnasium.make` and `gymnasium.make_vec`."""
    for task, env_id in ENV_IDS.items():
        if env_id in gymnasium.registry:
            continue
        gymnasium.register(
            env_id,
            entry_point="kaccess.envs.robot_env:RobotEnv",
            vector_entry_point="kaccess.envs.robot_env:RobotVectorEnv",
            kwargs={"task": task},
        )
        gymnasium.register(
            TENSOR_ENV_IDS[task],
            vector_entry_point="kaccess.gpu.vector:TensorVectorEnv",
            kwargs={"task": task},
        )


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'kaccess.envs' has no attribute {name!r}")
    return getattr(import_module(f"kaccess.envs.{_MODULES[name]}"), name)


register()
