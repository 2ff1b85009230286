"""Left-right mirror images of a robot's poses, found from its geometry.

Reflection in the plane y = 0 only exchanges the left and right joints of a symmetric
robot. So mirrored states with mirrored targets move as mirror images, and the result of
one transition is also valid for its mirror image.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.rotations import mirror_quat, quat_from_roll_pitch
from kaccess.base.types import Array, IntArray

if TYPE_CHECKING:
    from kaccess.robots.robot import Robot

__all__ = ["Mirror", "find_mirror", "pair_joints"]

# Real robots are nearly symmetric: a camera or a cable is on one side. How well
# mirrored transitions agree is checked once more when times are estimated.
_PLACE_TOL = 0.02  # [-], of the places of joints, in reaches of the robot
_MIDDLE_TOL = 0.05  # [-], of anchors of hinges across the middle, in reaches
_AXIS_TOL = 1e-3  # [-], of the cosine between axes of joints
_RANGE_TOL = 0.1  # [rad], of the ends of joint ranges
_ACCELERATION_TOL = 0.1  # [-], of accelerations
_N_TRIALS = 8


@dataclass(frozen=True)
class Mirror:
    """Reflection of a robot's states.

    Args:
        partner: (nu,) index of the mirror joint of each joint.
        sign: (nu,) +1, or -1 if the mirror joint turns the other way.
        robot: "Robot" to reflect.
    """

    partner: IntArray
    sign: Array
    robot: "Robot"

    def reflect_joints(self, joints: Array) -> Array:
        """Return mirrored joint positions or targets, (n, nu)."""
        return joints[:, self.partner] * self.sign

    def reflect_qvel(self, qvel: Array) -> Array:
        """Return mirrored velocities or accelerations, (n, 6 + nu)."""
        base = qvel[:, :6] * [1, -1, 1, -1, 1, -1]
        return np.concatenate([base, self.reflect_joints(qvel[:, 6:])], axis=1)

    def reflect_qpos(self, qpos: Array) -> Array:
        """Return mirrored states, (n, nq)."""
        mirrored = qpos.copy()
        mirrored[:, 1] *= -1.0
        mirrored[:, 3:7] = mirror_quat(qpos[:, 3:7])
        mirrored[:, self.robot.joint_adr] = self.reflect_joints(
            self.robot.get_joints(qpos)
        )
        return mirrored


def find_mirror(robot: "Robot") -> Mirror:
    """Return the mirror of a robot.

    Raises:
        InputError: If the robot is not symmetric.
    """
    if robot.model.nv != 6 + robot.model.nu:
        raise InputError(
            f"{robot.name} has joints without actuators, which `mirror` does not "
            "support. Run without `mirror`."
        )
    mirror = pair_joints(robot)
    _check_ranges(robot, mirror)
    error = _measure_asymmetry(robot, mirror)
    if error > _ACCELERATION_TOL:
        raise InputError(
            f"{robot.name} is not symmetric: mirrored states accelerate differently "
            f"(by {error:.0%} of the acceleration). Run without `mirror`, or make "
            "masses, gains, ranges and shapes equal on both sides."
        )
    return mirror


def pair_joints(robot: "Robot") -> Mirror:
    """Pair each joint with the joint at the mirrored anchor with a mirrored axis."""
    model, data = robot.model, mujoco.MjData(robot.model)
    mujoco.mj_kinematics(model, data)
    joints = model.actuator_trnid[:, 0]
    base = data.xpos[model.jnt_bodyid[0]]
    anchor, axis = data.xanchor[joints] - base, data.xaxis[joints]
    # Reflection in y = 0 keeps the y of a rotation axis, which is a pseudovector, and
    # flips the y of a slide's axis, which is a vector.
    slides = model.jnt_type[joints, None] == mujoco.mjtJoint.mjJNT_SLIDE
    mirrored_axis = axis * np.where(slides, [1, -1, 1], [-1, 1, -1])
    gap = np.linalg.norm(anchor[:, None] - anchor * [1, -1, 1], axis=2)
    alignment = axis @ mirrored_axis.T
    close = gap < _PLACE_TOL * robot.drop_height
    match = close & (np.abs(alignment) > 1 - _AXIS_TOL)
    # A hinge across the middle is its own partner, if it is anchored near the middle:
    # only its axis matters.
    across = ~slides[:, 0] & (np.abs(axis[:, 1]) > 1 - _AXIS_TOL)
    across &= np.abs(anchor[:, 1]) < _MIDDLE_TOL * robot.drop_height
    match |= np.diag(across & ~match.any(axis=1))
    if not (match.sum(axis=1) == 1).all():
        odd = robot.joint_names[int(np.argmax(match.sum(axis=1) != 1))]
        raise InputError(
            f"{robot.name} is not symmetric: joint {odd!r} has no partner on the other "
            "side. Run without `mirror`."
        )
    partner = match.argmax(axis=1)
    return Mirror(partner, np.sign(alignment[np.arange(model.nu), partner]), robot)


def _check_ranges(robot: "Robot", mirror: Mirror) -> None:
    """Raise `InputError` if the range of a joint differs from its partner's."""
    low, high = robot.joint_range.T
    ends = np.sort(
        [mirror.reflect_joints(low[None])[0], mirror.reflect_joints(high[None])[0]],
        axis=0,
    )
    differs = np.abs(ends.T - robot.joint_range).max(axis=1) > _RANGE_TOL
    if differs.any():
        raise InputError(
            f"{robot.name} is not symmetric: the range of joint "
            f"{robot.joint_names[int(np.argmax(differs))]!r} differs from that of its "
            "partner on the other side. Run without `mirror`."
        )


def _measure_asymmetry(robot: "Robot", mirror: Mirror) -> float:
    """Return the largest relative error of the accelerations of mirrored states."""
    rng = np.random.default_rng(0)
    worst = 0.0
    for _ in range(_N_TRIALS):
        qpos, qvel, target = _draw_state(robot, rng)
        there = _compute_acceleration(robot, qpos, qvel, target)
        here = _compute_acceleration(
            robot,
            mirror.reflect_qpos(qpos),
            mirror.reflect_qvel(qvel),
            mirror.reflect_joints(target),
        )
        gap = np.abs(here - mirror.reflect_qvel(there)).max()
        worst = max(worst, float(gap / np.abs(here).max()))
    return worst


def _draw_state(robot: "Robot", rng: np.random.Generator) -> tuple[Array, Array, Array]:
    low, high = robot.joint_range.T
    qpos = robot.standing[None].copy()
    qpos[:, 2] += robot.drop_height  # nothing touches the floor
    roll, pitch = rng.uniform(-1.0, 1.0, (2, 1))
    qpos[:, 3:7] = quat_from_roll_pitch(roll, pitch)
    qpos[:, robot.joint_adr] += rng.uniform(-0.3, 0.3, robot.model.nu)
    qvel = rng.normal(size=(1, robot.model.nv))
    return qpos, qvel, rng.uniform(low, high)[None]


def _compute_acceleration(
    robot: "Robot", qpos: Array, qvel: Array, target: Array
) -> Array:
    data = mujoco.MjData(robot.model)
    data.qpos[:], data.qvel[:], data.ctrl[:] = qpos[0], qvel[0], target[0]
    mujoco.mj_forward(robot.model, data)
    return np.array(data.qacc)[None]
