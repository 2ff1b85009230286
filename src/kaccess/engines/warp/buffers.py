"""Sizes of the contact buffers of MuJoCo Warp."""

from dataclasses import dataclass

import mujoco

from kaccess.base.errors import InputError
from kaccess.robots import Robot

__all__ = ["MOST_DOUBLINGS", "Buffers", "make_overflow_error"]

MOST_DOUBLINGS = 4  # how often the buffers may grow before an error


@dataclass(frozen=True)
class Buffers:
    """Sizes of the contact buffers.

    Args:
        n_contacts: Mean number of contacts per world; all worlds share one buffer.
        n_rows: Number of constraint rows per world, from contacts and joint limits.
    """

    n_contacts: int
    n_rows: int

    @classmethod
    def of(cls, model: mujoco.MjModel) -> "Buffers":
        """Return sizes for one contact per geom and all joints at their limits."""
        pyramid = model.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL
        dim = int(model.geom_condim.max())
        rows = 2 * (dim - 1) if pyramid and dim > 1 else dim
        n_contacts = max(16, model.ngeom)
        n_joints = int(model.jnt_limited.sum() + (model.dof_frictionloss > 0).sum())
        return cls(n_contacts, n_joints + 6 * model.neq + rows * n_contacts)

    def double(self) -> "Buffers":
        """Return sizes twice as large."""
        return Buffers(2 * self.n_contacts, 2 * self.n_rows)

    def __str__(self) -> str:
        return f"{self.n_contacts} contacts and {self.n_rows} constraint rows per world"


def make_overflow_error(robot: Robot, buffers: Buffers) -> InputError:
    """Return the error to raise when even the largest buffers are too small."""
    return InputError(
        f"{robot.name} has more contacts than the buffers of MuJoCo Warp hold, even "
        f"with room for {buffers}. Choose the 'mujoco' engine."
    )
