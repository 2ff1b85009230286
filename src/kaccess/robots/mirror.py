"""Left-right mirror images of a robot's poses, found from its geometry.

Reflecting the world in the plane y = 0 takes a symmetric robot to itself with left and
right joints exchanged. A mirrored state under mirrored targets then moves as the mirror
image, so a transition measured once holds for its mirror image too.
"""

from dataclasses import dataclass

import mujoco
import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.rotations import mirror_quat, quat_from_roll_pitch
from kaccess.base.types import Array, IntArray
from kaccess.robots.robot import Robot

__all__ = ["Mirror", "find_mirror"]

_TOLERANCE = 1e-6  # [m], for positions that should be exact mirror images
_N_TRIALS = 8


@dataclass(frozen=True)
class Mirror:
    """How joints are exchanged.

    Args:
        partner: (nu,) index of the joint that mirrors each joint.
        sign: (nu,) +1, or -1 where the partner turns the other way.
        robot: The robot it belongs to.
    """

    partner: IntArray
    sign: Array
    robot: Robot

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


def find_mirror(robot: Robot) -> Mirror:
    """Return the mirror of a robot, or raise `InputError` if it has none."""
    if robot.model.nv != 6 + robot.model.nu:
        raise InputError(
            f"{robot.name} has joints without actuators, for which mirroring is not "
            "supported. Run without `mirror`."
        )
    mirror = _pair_joints(robot)
    _check_ranges(robot, mirror)
    error = _largest_asymmetry(robot, mirror)
    if error > _TOLERANCE:
        raise InputError(
            f"{robot.name} is not its own mirror image: mirrored states accelerate "
            f"differently (by {error:.1e} of the acceleration). Run without `mirror`, "
            "or make masses, gains, ranges and shapes equal left and right."
        )
    return mirror


def _pair_joints(robot: Robot) -> Mirror:
    """Match each joint to the one at its mirrored anchor with a mirrored axis."""
    model, data = robot.model, mujoco.MjData(robot.model)
    mujoco.mj_kinematics(model, data)
    joints = model.actuator_trnid[:, 0]
    anchor, axis = data.xanchor[joints], data.xaxis[joints]
    # An axis of rotation is a pseudovector: reflection in y = 0 keeps its y. That of a
    # slide is a vector: reflection flips its y.
    slides = model.jnt_type[joints, None] == mujoco.mjtJoint.mjJNT_SLIDE
    mirrored_axis = axis * np.where(slides, [1, -1, 1], [-1, 1, -1])
    gap = np.linalg.norm(anchor[:, None] - anchor * [1, -1, 1], axis=2)
    alignment = axis @ mirrored_axis.T
    match = (gap < _TOLERANCE) & (np.abs(alignment) > 1 - _TOLERANCE)
    if not (match.sum(axis=1) == 1).all():
        odd = robot.joint_names[int(np.argmax(match.sum(axis=1) != 1))]
        raise InputError(
            f"{robot.name} is not its own mirror image: joint {odd!r} has no partner "
            "on the other side. Run without `mirror`."
        )
    partner = match.argmax(axis=1)
    return Mirror(partner, np.sign(alignment[np.arange(model.nu), partner]), robot)


def _check_ranges(robot: Robot, mirror: Mirror) -> None:
    """Refuse joints whose range is not that of their partner."""
    low, high = robot.joint_range.T
    ends = np.sort(
        [mirror.reflect_joints(low[None])[0], mirror.reflect_joints(high[None])[0]],
        axis=0,
    )
    differs = np.abs(ends.T - robot.joint_range).max(axis=1) > _TOLERANCE
    if differs.any():
        raise InputError(
            f"{robot.name} is not its own mirror image: joint "
            f"{robot.joint_names[int(np.argmax(differs))]!r} has another range than "
            "its partner on the other side. Run without `mirror`."
        )


def _largest_asymmetry(robot: Robot, mirror: Mirror) -> float:
    """Return how far accelerations of mirrored states are from mirrored ones."""
    rng = np.random.default_rng(0)
    worst = 0.0
    for _ in range(_N_TRIALS):
        qpos, qvel, target = _random_state(robot, rng)
        there = _acceleration(robot, qpos, qvel, target)
        here = _acceleration(
            robot,
            mirror.reflect_qpos(qpos),
            mirror.reflect_qvel(qvel),
            mirror.reflect_joints(target),
        )
        gap = np.abs(here - mirror.reflect_qvel(there)).max()
        worst = max(worst, float(gap / np.abs(here).max()))
    return worst


def _random_state(robot: Robot, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    low, high = robot.joint_range.T
    qpos = robot.standing[None].copy()
    roll, pitch = rng.uniform(-1.0, 1.0, (2, 1))
    qpos[:, 3:7] = quat_from_roll_pitch(roll, pitch)
    qpos[:, robot.joint_adr] += rng.uniform(-0.3, 0.3, robot.model.nu)
    qvel = rng.normal(size=(1, robot.model.nv))
    return qpos, qvel, rng.uniform(low, high)[None]


def _acceleration(robot: Robot, qpos: Array, qvel: Array, target: Array) -> Array:
    data = mujoco.MjData(robot.model)
    data.qpos[:], data.qvel[:], data.ctrl[:] = qpos[0], qvel[0], target[0]
    mujoco.mj_forward(robot.model, data)
    return np.array(data.qacc)[None]
