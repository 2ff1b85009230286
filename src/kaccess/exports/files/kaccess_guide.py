"""The guide: what to command in any posture, so that the robot ends up standing.

    guide = Guide()                      # or Guide(xp=torch, device="cuda")
    move = guide.choose(gravity, joints)  # (b, 3) in the body frame, (b, nu) [rad]
    move.targets[:, -1]                  # (b, nu) joint targets to command now

Command the targets, wait until the robot rests or for `move.wait` seconds, and ask
again. It needs NumPy; arrays may also be those of torch or JAX. kaccess wrote it, but
need not be installed.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FILE = Path(__file__).with_name("kaccess_starts.npz")
Array = Any  # an array of NumPy, torch or JAX
Module = Any
TABLES = ["places", "quality", "waits", "postures", "posture_seconds", "tolerances"]
NUMBERS = ["n_near", "closest", "stands", "same", "tried"]


class Move(NamedTuple):
    """What b robots should do next.

    Args:
        command: (b,) number of the command.
        targets: (b, p, nu) joint targets, one after the other; the last ones are held.
        seconds: (b, p) time of the way to each of these, in a straight line [s].
        wait: (b,) time until the robot is expected to rest [s].
        stands: (b,) whether the robot stands; it is told to keep standing.
    """

    command: Array
    targets: Array
    seconds: Array
    wait: Array
    stands: Array


class Guide:
    """Chooses commands by the landings that kaccess has measured.

    Args:
        file: File of the starts; it holds the tables of the guide too.
        xp: Module of the arrays: numpy, torch or jax.numpy.
        device: Device of the arrays, such as "cuda".

    Attributes:
        joint_names: Order of the joints in all arrays.
    """

    def __init__(
        self, file: Path = FILE, *, xp: Module = np, device: str | None = None
    ) -> None:
        place = {} if device is None else {"device": device}
        with np.load(file) as data:
            if "quality" not in data:
                raise ValueError(f"{file} has no guide: its study has no routes.")
            self.joint_names = tuple(data["target_names"].tolist())
            self._table = {name: xp.asarray(data[name], **place) for name in TABLES}
            self._number = {name: data[name].item() for name in NUMBERS}
        columns = np.arange(len(self._table["postures"]))
        self._xp, self._columns = xp, xp.asarray(columns, **place)

    def choose(
        self,
        gravity: Array,
        joints: Array,
        tried: Sequence[tuple[Array, Array, Array]] = (),
    ) -> Move:
        """Return what to do in postures.

        Args:
            gravity: (b, 3) unit gravity vectors in the body frame; (0, 0, -1) upright.
            joints: (b, nu) joint positions [rad], in the order of `joint_names`.
            tried: What the robots have tried before, so that none runs in circles:
                `(gravity, joints, command)` of each time; command -1 for none.
        """
        xp, table, number = self._xp, self._table, self._number
        point, places = self._embed(gravity, joints), table["places"]
        steps = (point[:, i, None] - places[:, i] for i in range(places.shape[1]))
        near = xp.argsort(sum(step**2 for step in steps))[:, : number["n_near"]]
        weight = 1 / (number["closest"] + _measure(point[:, None] - places[near])) ** 2
        weight = weight / weight.sum(-1)[:, None]
        quality = xp.einsum("bk,bkm->bm", weight, table["quality"][near])
        for past_gravity, past_joints, past in tried:
            apart = _measure(self._embed(past_gravity, past_joints) - point)
            loss = (1 - number["tried"]) * xp.exp(-((apart / number["same"]) ** 2))
            repeated = self._columns == past[:, None]
            quality = xp.where(repeated, quality * (1 - loss)[:, None], quality)
        last_node, last = len(places) - 1, len(self._columns) - 1
        stands = _measure(point - places[-1]) < number["stands"]
        command = xp.where(stands, last, quality.argmax(-1))
        waits = xp.einsum("bk,bkm->bm", weight, table["waits"][near])
        wait = xp.where(self._columns == command[:, None], waits, 0.0).sum(-1)
        stands = stands | ((near[:, 0] == last_node) & (command == last))
        targets, seconds = table["postures"][command], table["posture_seconds"][command]
        return Move(command, targets, seconds, wait, stands)

    def _embed(self, gravity: Array, joints: Array) -> Array:
        """Return points; the closer two of them, the more alike the postures."""
        gravity_tol, joint_tol = self._table["tolerances"]
        parts = [gravity / gravity_tol, joints / joint_tol]
        return self._xp.concatenate(parts, -1)


def _measure(vectors: Array) -> Array:
    """Return lengths along the last axis."""
    return (vectors**2).sum(-1) ** 0.5
