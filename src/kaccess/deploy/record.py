"""Logs: what was sent and what came back, with times, one JSON object per line.

The first line says who was connected to what. The others have a time `t` [s] and one
of: `sent`, a message in hexadecimal; `pitch` and `roll` [deg]; `target`, the joint
angles 8 to 15 that were commanded [deg]; `volts`; `joints`, measured [deg]; `text`, any
other line of the robot; `note`, what the program decided.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.files import whole_file
from kaccess.base.types import Array
from kaccess.base.version import __version__
from kaccess.deploy.protocol import LEGS

__all__ = ["KIND", "Log", "Track"]

KIND = "kaccess deploy log (1)"


@dataclass
class Log:
    """What happened during a deployment.

    Args:
        header: Facts about the robot and the program.
        events: Events in order, each with its time `t` [s].
    """

    header: dict[str, Any] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)

    def add(self, t: float, **facts: Any) -> None:  # noqa: ANN401  # JSON
        """Add an event at a time [s]."""
        self.events.append({"t": round(t, 4), **facts})

    def save(self, path: Path) -> None:
        """Write the log to a file."""
        header = {"kind": KIND, "kaccess": __version__, **self.header}
        lines = [json.dumps(each) for each in (header, *self.events)]
        with whole_file(path) as draft:
            draft.write_text("\n".join(lines) + "\n")

    @classmethod
    def load(cls, path: Path) -> "Log":
        """Read a log that `save` wrote.

        Raises:
            InputError: If the file is no log.
        """
        try:
            header, *events = map(json.loads, path.read_text().splitlines())
            if not (isinstance(header, dict) and header.get("kind") == KIND):
                raise ValueError("its first line is of another kind")
            times = [float(event["t"]) for event in events]
        except (ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
            raise InputError(
                f"{path} must be a log that `kaccess deploy --record` wrote: {error}."
            ) from error
        if times != sorted(times):
            raise InputError(f"The times in {path} must ascend. Record it again.")
        return cls(header, events)

    def follow(self) -> "Track":
        """Return commands and attitudes over time."""
        return Track.of(self.events)


@dataclass(frozen=True)
class Track:
    """Commands and attitudes of a log.

    Args:
        command_times: (a,) times of the commands [s].
        commands: (a, 8) joint angles 8 to 15 [deg].
        attitude_times: (b,) times of the attitudes [s].
        attitudes: (b, 2) pitch and roll as the firmware has them [deg].
    """

    command_times: Array
    commands: Array
    attitude_times: Array
    attitudes: Array

    @classmethod
    def of(cls, events: list[Mapping[str, Any]] | list[dict[str, Any]]) -> "Track":
        """Return the track of events."""
        moves = [each for each in events if "target" in each]
        seen = [each for each in events if "pitch" in each]
        return cls(
            np.array([each["t"] for each in moves], float),
            np.array([each["target"] for each in moves], float).reshape(-1, len(LEGS)),
            np.array([each["t"] for each in seen], float),
            np.array([[e["pitch"], e["roll"]] for e in seen], float).reshape(-1, 2),
        )
