"""Shipped policies: trained ones that come with the package.

`<robot>/<task>.safetensors` is the policy, `<task>.onnx` the same policy for other
programs, `<task>.json` its card: how it was trained, and its scores.
"""

import json
from importlib import resources
from pathlib import Path
from typing import Any

from kaccess.base.errors import InputError
from kaccess.policies.policy import Policy

__all__ = ["find_shipped", "has_shipped", "load_card"]

_FOLDER = Path(str(resources.files("kaccess.policies.shipped")))


def has_shipped(robot: str) -> bool:
    """Return whether any policy is shipped for a robot of the registry."""
    return robot.isidentifier() and any((_FOLDER / robot).glob("*.safetensors"))


def find_shipped(robot: str, task: str) -> Policy:
    """Return the shipped policy of a robot for a task.

    Raises:
        InputError: If none is shipped.
    """
    path = _FOLDER / robot / f"{task}.safetensors"
    if not path.exists():
        files = _FOLDER.glob("*/*.safetensors")
        known = sorted(f"{each.parent.name} {each.stem}" for each in files)
        raise InputError(
            f"No policy of {robot!r} for {task!r} is shipped with kaccess. Shipped "
            f"policies: {', '.join(known)}."
        )
    return Policy.load(path)


def load_card(robot: str, task: str) -> dict[str, Any]:
    """Return the card of a shipped policy: how it was trained, and its scores."""
    card: dict[str, Any] = json.loads((_FOLDER / robot / f"{task}.json").read_text())
    return card
