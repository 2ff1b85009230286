"""What the networks see of a pose, and how they tell where a move lands.

Heading and place on the floor do not matter, so they are left out. Landings are told
relative to the goal, in tolerances of a reached pose.
"""

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.rotations import gravity_in_body, quat_from_roll_pitch, roll_pitch
from kaccess.base.types import Array
from kaccess.config import AccessConfig
from kaccess.robots import Robot, find_mirror
from kaccess.robots.mirror import Mirror

__all__ = ["Features"]


class Features:
    """Inputs and outputs of the networks of one robot.

    Args:
        robot: Robot.
        config: Tolerances of a reached pose, in which landings are told.

    Attributes:
        mirror: Mirror of the robot; None if it is not symmetric.
        n_inputs: Numbers that describe a pose.
        n_places: Numbers that tell a landing.
    """

    def __init__(self, robot: Robot, config: AccessConfig) -> None:
        self.robot = robot
        tol, nu = robot.scale.fit(config), robot.model.nu
        self._tol = np.repeat(
            [tol.gravity_tol, tol.height_tol, tol.joint_tol], [3, 1, nu]
        )
        self.mirror = _find_mirror_or_none(robot)
        self.n_inputs, self.n_places = 4 + 3 * nu, 4 + nu

    @property
    def n_images(self) -> int:
        """Number of images of a pose: itself, and its mirror image if there is one."""
        return 1 if self.mirror is None else 2

    def describe(self, qpos: Array) -> Array:
        """Return the inputs of all images of poses, (n_images, b, n_inputs)."""
        return np.stack([self._describe(each) for each in self._reflect(qpos)])

    def _describe(self, qpos: Array) -> Array:
        joints = self.robot.get_joints(qpos)
        height = qpos[:, 2:3] / self.robot.standing[2]
        parts = [gravity_in_body(qpos[:, 3:7]), height, joints]
        parts += [np.sin(joints), np.cos(joints)]
        return np.concatenate(parts, axis=1).astype(np.float32)

    def locate(self, ends: Array, goals: Array) -> Array:
        """Return landings relative to goals, (n_images, b, n_places); NaN: unknown."""
        known = np.isfinite(ends).all(axis=1)
        places = np.full((self.n_images, len(ends), self.n_places), np.nan, np.float32)
        images = zip(
            self._reflect(ends[known]), self._reflect(goals[known]), strict=True
        )
        for image, (end, goal) in enumerate(images):
            offset = self._place(end) - self._place(goal)
            joints = self.robot.get_joints(end), self.robot.get_joints(goal)
            offset[:, 4:] = self.robot.subtract_joints(*joints)
            places[image, known] = offset / self._tol
        return places

    def restore(self, places: Array, goals: Array) -> Array:
        """Return the states, (b, nq), of landings told relative to goals."""
        place = self._place(goals) + places * self._tol
        states = np.repeat(self.robot.standing[None], len(goals), axis=0)
        gravity = place[:, :3] / np.linalg.norm(place[:, :3], axis=1, keepdims=True)
        states[:, 2], states[:, 3:7] = (
            place[:, 3],
            quat_from_roll_pitch(*roll_pitch(gravity)),
        )
        states[:, self.robot.joint_adr] = place[:, 4:]
        return states

    def reflect_places(self, places: Array) -> Array:
        """Return landings of mirror images, (b, n_places), as landings of the moves."""
        assert self.mirror is not None
        joints = self.mirror.reflect_joints(places[:, 4:])
        return np.concatenate([places[:, :4] * [1, -1, 1, 1], joints], axis=1)

    def _place(self, qpos: Array) -> Array:
        """Return gravity, height and joints of states, (b, n_places)."""
        parts = [
            gravity_in_body(qpos[:, 3:7]),
            qpos[:, 2:3],
            self.robot.get_joints(qpos),
        ]
        return np.concatenate(parts, axis=1)

    def _reflect(self, qpos: Array) -> list[Array]:
        """Return all images of states."""
        images: list[Array] = [qpos.astype(np.float64)]
        if self.mirror is not None:
            images.append(self.mirror.reflect_qpos(images[0]))
        return images


def _find_mirror_or_none(robot: Robot) -> Mirror | None:
    try:
        return find_mirror(robot)
    except InputError:  # it is not symmetric
        return None
