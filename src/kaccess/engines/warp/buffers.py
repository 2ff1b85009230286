"""Room for contacts in the worlds of MuJoCo Warp."""

from dataclasses import dataclass

import mujoco

from kaccess.base.errors import InputError
from kaccess.robots import Robot

__all__ = ["MOST_DOUBLINGS", "Buffers", "make_overflow_error"]

MOST_DOUBLINGS = 4  # of the buffers, until it is given up


@dataclass(frozen=True)
class Buffers:
    """Room for contacts.

    Args:
        n_contacts: In a world, on average: worlds share it.
        n_rows: Constraint rows in each world, from contacts and joint limits.
    """

    n_contacts: int
    n_rows: int

    @classmethod
    def of(cls, model: mujoco.MjModel) -> "Buffers":
        """Return room for a contact for each geom, and every joint at its limit."""
        pyramid = model.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL
        dim = int(model.geom_condim.max())
        rows = 2 * (dim - 1) if pyramid and dim > 1 else dim
        n_contacts = max(16, model.ngeom)
        n_joints = int(model.jnt_limited.sum() + (model.dof_frictionloss > 0).sum())
        return cls(n_contacts, n_joints + 6 * model.neq + rows * n_contacts)

    def double(self) -> "Buffers":
        """Return twice the room."""
        return Buffers(2 * self.n_contacts, 2 * self.n_rows)

    def __str__(self) -> str:
        return f"{self.n_contacts} contacts and {self.n_rows} constraint rows a world"


def make_overflow_error(robot: Robot, buffers: Buffers) -> InputError:
    """Return what to say when even the largest buffers are too small."""
    return InputError(
        f"{robot.name} has more contacts than MuJoCo Warp was given room for, even "
        f"with {buffers}. Choose the 'mujoco' engine."
    )
