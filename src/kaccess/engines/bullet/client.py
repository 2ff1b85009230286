"""A connection to PyBullet: one simulation, its solver and its ground."""

import os
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from kaccess.engines.bullet.model import BulletModel

__all__ = ["Client", "import_pybullet", "set_parameters"]


def import_pybullet() -> Any:  # noqa: ANN401 - PyBullet has no types
    """Return the module, and hide the line it prints at the first import."""
    try:
        with _silence_stderr("pybullet" not in sys.modules):
            import pybullet
    except ImportError as error:
        raise ImportError(
            "The 'bullet' engine needs PyBullet, which is not installed. Run `pip "
            "install 'kaccess[bullet]'`, or choose the 'mujoco' engine."
        ) from error
    return pybullet


@contextmanager
def _silence_stderr(is_silent: bool) -> Iterator[None]:
    """Discard what C code writes to stderr."""
    if not is_silent:
        yield
        return
    saved, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(nowhere)


class Client:
    """PyBullet's functions and constants, bound to one simulation."""

    def __init__(self) -> None:
        self._pybullet = import_pybullet()
        self._id = self._pybullet.connect(self._pybullet.DIRECT)
        weakref.finalize(self, self._pybullet.disconnect, self._id)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - PyBullet has no types
        attribute = getattr(self._pybullet, name)
        if callable(attribute):
            attribute = partial(attribute, physicsClientId=self._id)
        setattr(self, name, attribute)  # the next access is fast
        return attribute


def set_parameters(
    bullet: Client, model: BulletModel, *, n_iterations: int, **more: float
) -> None:
    """Set gravity, time step and solver of an empty simulation."""
    bullet.setGravity(*model.gravity)
    bullet.setPhysicsEngineParameter(
        fixedTimeStep=model.timestep,
        numSubSteps=0,
        numSolverIterations=n_iterations,
        contactERP=model.contact_correction,
        erp=model.limit_correction,
        enableConeFriction=int(model.has_round_cone),
        deterministicOverlappingPairs=1,
        **more,
    )
