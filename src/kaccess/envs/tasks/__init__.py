"""Every learning task, one file each: `fall_recovery.py` is the task `fall-recovery`.

To add a task, add a file with one subclass of `Task`. Nothing else needs an edit.
"""

from difflib import get_close_matches
from importlib import import_module

from kaccess.base.errors import InputError
from kaccess.config import TASKS
from kaccess.envs.task import Task
from kaccess.robots import Robot

__all__ = ["make_task"]


def make_task(task: str | Task, robot: Robot | None = None) -> Task:
    """Return the task with that name, or the task given, scaled to a robot if given."""
    made = task if isinstance(task, Task) else _make_default(task)
    return made if robot is None else made.fit_to(robot)


def _make_default(task: str) -> Task:
    if task not in TASKS:
        close = get_close_matches(task, TASKS, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise InputError(
            f"Unknown task {task!r}: must be one of {', '.join(TASKS)}.{hint} To use a "
            "task of your own, pass the object."
        )
    module = import_module(f"kaccess.envs.tasks.{TASKS[task]}")
    classes = [each for each in vars(module).values() if _is_task(each, task)]
    assert len(classes) == 1, f"{module.__file__} must define one Task named {task!r}"
    made: Task = classes[0]()
    return made


def _is_task(value: object, name: str) -> bool:
    """Return whether a value is the class of the task with that name."""
    return (
        isinstance(value, type)
        and issubclass(value, Task)
        and getattr(value, "name", None) == name
    )
