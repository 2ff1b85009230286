"""Policies that come with the package, each with a card: how it was made, its scores.

`<robot>/<task>.safetensors` is the policy, `<task>.onnx` the same for other programs,
`<task>.json` the card.
"""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from kaccess.base.errors import InputError
from kaccess.policies.policy import Policy

__all__ = ["find_shipped", "has_shipped", "shipped_card"]

_FOLDER = Path(str(files("kaccess.policies.shipped")))


def has_shipped(robot: str) -> bool:
    """Return whether there is any policy of a robot, by its name in the registry."""
    return (
        any((_FOLDER / robot).glob("*.safetensors")) if robot.isidentifier() else False
    )


def find_shipped(robot: str, task: str) -> Policy:
    """Return the policy of a robot for a task.

    Raises:
        InputError: If there is none.
    """
    path = _FOLDER / robot / f"{task}.safetensors"
    if not path.exists():
        known = sorted(f"{each.parent.name} {each.stem}" for each in _found())
        raise InputError(
            f"No policy of {robot!r} for {task!r} comes with kaccess, only: "
            f"{', '.join(known)}."
        )
    return Policy.load(path)


def shipped_card(robot: str, task: str) -> dict[str, Any]:
    """Return what is known of a policy: how it was made, and its scores."""
    card: dict[str, Any] = json.loads((_FOLDER / robot / f"{task}.json").read_text())
    return card


def _found() -> list[Path]:
    return list(_FOLDER.glob("*/*.safetensors"))
