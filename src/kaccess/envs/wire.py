"""The way of commands from the controller to the motors.

A command is smoothed, rounded and sent; it arrives after a latency; the gears have play
and the joints an offset; the battery sags under load. The physics between two commands
runs in segments, so that commands can arrive at any of their ends.
"""

from math import ceil
from typing import NamedTuple

import numpy as np

from kaccess.base.compiled import compiled
from kaccess.base.types import Array, IntArray
from kaccess.envs.draws import Draws
from kaccess.envs.keyed import draw_uniform

__all__ = ["Wire", "count_segments"]

_MOST_SEGMENTS = 4  # of a control step: commands of Bittle arrive on a grid of 10 ms
_JITTER = 1_000_000  # index of the random number that is the jitter
_LOAD_SHARE = 0.5  # [-], of the last control step in the load that the battery feels
_LONG_AGO = -(2**40)  # segment in which the commands before the first one arrived


def count_segments(n_substeps: int) -> int:
    """Return the number of segments of a control step; it divides its substeps."""
    return max(k for k in range(1, _MOST_SEGMENTS + 1) if n_substeps % k == 0)


class _Path(NamedTuple):
    """State of the way of commands, for compiled loops.

    Attributes:
        smooth: (n, nu) smoothed targets [rad].
        sent: (n, q, nu) last commands [rad]; that of step k has index k modulo q.
        arrival: (n, q) segment in which each arrives, counted from the start.
        at_gear: (n, nu) target behind the play of the gear [rad].
        steps: (n,) control steps since the start.
        load: (n,) load of the battery, as a share of the largest [-].
    """

    smooth: Array
    sent: Array
    arrival: IntArray
    at_gear: Array
    steps: IntArray
    load: Array


class _Faults(NamedTuple):
    """What happens to commands before they arrive, (n,) each.

    Attributes:
        rounding: Step of commands [rad]; 0 if they are not rounded.
        latency: Mean latency, in segments.
        jitter: Largest difference from it, in segments.
        key: Keys of the random numbers.
    """

    rounding: Array
    latency: Array
    jitter: Array
    key: IntArray


class Wire:
    """Ways of the commands of n robots.

    Args:
        draws: Conditions of the robots.
        middle: (nu,) middle of each joint's range [rad].
        half: (nu,) half of each joint's range [rad].
        low_pass: Weight of the old target in the new one [-].
        control_rate: Commands per second [Hz].
        n_segments: Segments of a control step.
    """

    def __init__(
        self,
        draws: Draws,
        *,
        middle: Array,
        half: Array,
        low_pass: float,
        control_rate: float,
        n_segments: int,
    ) -> None:
        self._draws, self._middle, self._half = draws, middle, half
        self._low_pass, self._n_segments = low_pass, n_segments
        self._segment_rate = control_rate * n_segments
        n, nu = len(draws), len(middle)
        largest = draws.largest["latency"] + draws.largest["jitter"]
        n_kept = ceil(largest * control_rate) + 2
        self._path = _Path(
            smooth=np.zeros((n, nu)),
            sent=np.zeros((n, n_kept, nu)),
            arrival=np.zeros((n, n_kept), np.int64),
            at_gear=np.zeros((n, nu)),
            steps=np.zeros(n, np.int64),
            load=np.zeros(n),
        )

    @property
    def commands(self) -> Array:
        """The last commands as they were sent, (n, nu) [rad]."""
        path = self._path
        last = (path.steps - 1) % path.sent.shape[1]
        return np.asarray(path.sent[np.arange(len(last)), last])

    @property
    def strength(self) -> Array:
        """Share of torque and speed that the battery gives, (n,)."""
        return np.asarray(1.0 - self._draws.get("sag") * self._path.load)

    def begin(self, rows: IntArray, joints: Array) -> None:
        """Begin new episodes at joint positions, (m, nu): those were commanded last."""
        path, command = self._path, joints - self._draws.offset[rows]
        path.smooth[rows], path.at_gear[rows] = command, command
        path.sent[rows] = command[:, None]
        path.arrival[rows] = _LONG_AGO
        path.steps[rows], path.load[rows] = 0, 0.0

    def send(self, actions: Array) -> None:
        """Send the commands of all robots, given as actions, (n, nu) in [-1, 1]."""
        get, path = self._draws.get, self._path
        _smooth(path, actions, self._middle, self._half, self._low_pass)
        faults = _Faults(
            np.radians(get("rounding")),
            get("latency") * self._segment_rate,
            get("jitter") * self._segment_rate,
            self._draws.key,
        )
        _send(path, faults, self._n_segments)

    def arrive(self, segment: int, ctrl: Array) -> None:
        """Write the targets of all motors in a segment of the control step, (n, nu)."""
        play = np.radians(self._draws.get("backlash"))
        _arrive(self._path, segment, self._n_segments, play, self._draws.offset, ctrl)

    def feel(self, torque: Array, limit: Array) -> None:
        """Update the load of the battery by torques and their limits, (n, nu)."""
        load = np.abs(torque / limit).mean(axis=1)
        self._path.load[:] += _LOAD_SHARE * (load - self._path.load)

    def get_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that make up the state."""
        return {f"wire_{name}": each for name, each in self._path._asdict().items()}


@compiled
def _smooth(
    path: _Path, actions: Array, middle: Array, half: Array, low_pass: float
) -> None:
    """Set the smoothed targets: actions of -1 and 1 are the ends of a joint's range."""
    for i in range(len(actions)):
        for j in range(len(middle)):
            action = min(max(actions[i, j], -1.0), 1.0)
            new = middle[j] + half[j] * action
            path.smooth[i, j] = low_pass * path.smooth[i, j] + (1.0 - low_pass) * new


@compiled
def _send(path: _Path, faults: _Faults, n_segments: int) -> None:
    """Send the smoothed targets, rounded; note when they will arrive."""
    for i in range(len(path.steps)):
        step, size = path.steps[i], faults.rounding[i]
        kept = step % path.sent.shape[1]
        for j in range(path.smooth.shape[1]):
            target = path.smooth[i, j]
            if size > 0.0:
                target = np.rint(target / size) * size
            path.sent[i, kept, j] = target
        wait = faults.latency[i]
        if faults.jitter[i] > 0.0:
            share = 2.0 * draw_uniform(faults.key[i], step, _JITTER) - 1.0
            wait += faults.jitter[i] * share
        path.arrival[i, kept] = step * n_segments + int(np.rint(max(wait, 0.0)))
        path.steps[i] = step + 1


@compiled
def _arrive(
    path: _Path, segment: int, n_segments: int, play: Array, offset: Array, ctrl: Array
) -> None:
    n_kept = path.sent.shape[1]
    for i in range(len(ctrl)):
        last = path.steps[i] - 1
        now = last * n_segments + segment
        for back in range(n_kept):
            kept = (last - back) % n_kept
            if path.arrival[i, kept] <= now:
                break
        for j in range(ctrl.shape[1]):
            command, slack = path.sent[i, kept, j], 0.5 * play[i]
            gear = path.at_gear[i, j]
            gear = min(max(gear, command - slack), command + slack)
            path.at_gear[i, j] = gear
            ctrl[i, j] = gear + offset[i, j]
