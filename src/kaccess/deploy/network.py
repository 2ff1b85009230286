"""A policy as an ONNX file, with what it observes and what its actions mean."""

import json
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import Array
from kaccess.robots import Robot

__all__ = ["Network"]

_PARTS = ("gravity", "angular_velocity", "joints", "commands")
# What policies observe whose files do not say it.
_DEFAULT: dict[str, Any] = {
    "frames": 1,
    "parts": [{"name": "gravity"}, {"name": "angular_velocity"}, {"name": "joints"}],
}


class Network:
    """A policy that maps named sensor values to joint targets.

    Args:
        path: ONNX file that `kaccess export` wrote, or a shipped one.

    Raises:
        InputError: If it is no policy for Bittle, or observes something unknown.
        ImportError: If onnxruntime is not installed.
    """

    def __init__(self, path: Path) -> None:
        self._session, facts = _load(path)
        if not str(facts.get("robot", "")).startswith("bittle"):
            raise InputError(
                f"The policy {path} must be of bittle, but its file says "
                f"{facts.get('robot', 'nothing')!r}. Export it with `kaccess export`."
            )
        self.task = str(facts.get("task", ""))
        self.rate = float(facts["control_rate_hz"])
        self._low_pass = float(facts["low_pass"])
        self._joints: list[str] = facts["joints"]
        self._low, self._high = np.array(facts["joint_range_rad"], float).T
        seen = facts.get("observation") or facts.get("observations") or _DEFAULT
        self._parts = [str(part["name"]) for part in seen["parts"]]
        self._after = [str(part["name"]) for part in seen.get("after", [])]
        self._check(path)
        self._frames: deque[Array] = deque(maxlen=int(seen.get("frames", 1)))

    def _check(self, path: Path) -> None:
        unknown = [part for part in self._parts if part not in _PARTS]
        if unknown or self._after:
            raise InputError(
                f"The policy {path} observes {(unknown + self._after)[0]!r}, which a "
                f"Bittle cannot report. It can report {', '.join(_PARTS)}."
            )

    @property
    def needs_joints(self) -> bool:
        """Whether it observes joint positions."""
        return "joints" in self._parts

    def begin(self) -> None:
        """Forget what it has seen."""
        self._frames.clear()

    def act(self, values: Mapping[str, Array], target: Array) -> Array:
        """Return the next joint targets [rad], (nu,).

        Args:
            values: Gravity, angular velocity, joints and commands, (k,) each.
            target: (nu,) last joint targets [rad].
        """
        frame = np.concatenate([values[part] for part in self._parts])
        self._frames.appendleft(frame)
        while len(self._frames) < (self._frames.maxlen or 1):
            self._frames.append(frame)  # at first, all frames are alike
        obs = np.concatenate(list(self._frames)).astype(np.float32)
        (action,) = self._session.run(None, {"obs": obs[None]})
        middle, half = (self._low + self._high) / 2, (self._high - self._low) / 2
        goal = middle + half * np.clip(action[0].astype(np.float64), -1.0, 1.0)
        return np.asarray(self._low_pass * target + (1 - self._low_pass) * goal)

    def check_joints(self, robot: Robot) -> None:
        """Raise `InputError` if the joints of its file are not the robot's."""
        if tuple(self._joints) != robot.joint_names:
            raise InputError(
                f"The joints of the policy must be {', '.join(robot.joint_names)}, got "
                f"{', '.join(self._joints)}."
            )


def _load(path: Path) -> tuple[Any, dict[str, Any]]:
    """Return the session of a file, and the facts in it."""
    try:
        import onnxruntime
    except ImportError as error:
        raise ImportError(
            "Policies on a robot need onnxruntime, which is not installed. Run "
            "`pip install 'kaccess[deploy]'`."
        ) from error
    if not path.is_file():
        raise InputError(
            f"There is no policy {path}. Write one with `kaccess export STUDY --run "
            "LEARNER --onnx FILE`, or give `bittle` for the shipped one."
        )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # small networks; the loop must not be late
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime has no common class of errors
        raise InputError(f"{path} must be an ONNX file: {error}") from error
    texts = session.get_modelmeta().custom_metadata_map
    return session, {name: _read(text) for name, text in texts.items()}


def _read(text: str) -> Any:  # noqa: ANN401  # JSON
    try:
        return json.loads(text)
    except ValueError:
        return text
