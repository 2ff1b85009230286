"""Where moves really end: the posture graph.

A move that misses its goal still comes to rest somewhere. Its *landing* is the node
nearest to that state: a pose, or standing. With landings as edges, nearly every move
leads on, and not only those that reach the pose whose joints were commanded.
"""

from dataclasses import dataclass, fields

import numpy as np
from scipy.spatial import KDTree

from kaccess.base.rotations import gravity_in_body
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import AccessConfig
from kaccess.poses import level
from kaccess.robots import Robot

__all__ = ["AT_NODE", "Landings", "Nodes"]

AT_NODE = 3.0  # [tolerances], farthest from its node to count as a landing at it


@dataclass(frozen=True)
class Landings:
    """Where moves came to rest, arrays of the same shape.

    Args:
        node: Nearest node, int32: a pose, or n for standing.
        distance: Distance from that node, in tolerances of a reached pose, float32.
        seconds: Time until the robot was at rest [s], float32; inf if it was not.
        states: State at rest, float32, with a further axis of length nq; None if it is
            not stored.
    """

    node: IntArray
    distance: Array
    seconds: Array
    states: Array | None = None

    def reshape(self, *shape: int) -> "Landings":
        """Return the landings in arrays of another shape."""
        states = self.states
        return Landings(
            self.node.reshape(shape),
            self.distance.reshape(shape),
            self.seconds.reshape(shape),
            None if states is None else states.reshape(*shape, states.shape[-1]),
        )

    def get_rows(self, rows: slice) -> "Landings":
        """Return some rows of the landings, without states; nothing is copied."""
        return Landings(self.node[rows], self.distance[rows], self.seconds[rows])

    def find_reach(self, poses: IntArray, n: int) -> BoolArray:
        """Return at which others of n poses some move from each of these lands.

        Args:
            poses: (k,) the poses whose landings these are.
            n: Number of all poses.

        Returns:
            Array of shape (k, n).
        """
        reach = np.zeros((len(poses), n + 1), bool)
        pose, command = np.nonzero(
            np.isfinite(self.seconds) & (self.distance < AT_NODE)
        )
        reach[pose, self.node[pose, command]] = True
        reach[np.arange(len(poses)), poses] = False
        return reach[:, :n]

    def replace(self, where: BoolArray, others: "Landings") -> "Landings":
        """Return these landings with others in some places."""
        new = [getattr(self, field.name).copy() for field in fields(self)]
        for array, field in zip(new, fields(self), strict=True):
            array[where] = getattr(others, field.name)
        return Landings(*new)


class Nodes:
    """The nodes of the posture graph: n poses, and standing as node n.

    Args:
        robot: Robot.
        qpos: (n, nq) poses.
        standing: (nq,) standing state at rest.
        config: Tolerances of a reached pose; distances are in units of these.
    """

    def __init__(
        self, robot: Robot, qpos: Array, standing: Array, config: AccessConfig
    ) -> None:
        self.robot, self.config = robot, robot.scale.fit(config)
        self.qpos = np.concatenate([qpos, standing[None]])
        self.places = self.embed(self.qpos)
        self._tree = KDTree(self.places)

    def __len__(self) -> int:
        return len(self.qpos)

    def add(self, qpos: Array) -> "Nodes":
        """Return these nodes and more poses, (g, nq); standing stays the last."""
        poses = np.concatenate([self.qpos[:-1], qpos])
        return Nodes(self.robot, poses, self.qpos[-1], self.config)

    def embed_posture(self, gravity: Array, joints: Array) -> Array:
        """Return points, (b, 3 + nu); a distance of 1 is about one tolerance."""
        config = self.config
        return np.concatenate(
            [gravity / config.gravity_tol, joints / config.joint_tol], axis=1
        )

    def embed(self, qpos: Array) -> Array:
        """Return points of states, (b, 4 + nu): posture and height."""
        posture = self.embed_posture(
            gravity_in_body(qpos[:, 3:7]), self.robot.get_joints(qpos)
        )
        height = qpos[:, 2:3] / self.config.height_tol
        return np.concatenate([posture, height], axis=1)

    def find_landings(self, qpos: Array, seconds: Array) -> Landings:
        """Return the landings of moves that ended in states, (b, nq).

        Args:
            qpos: (b, nq) states at the end.
            seconds: (b,) times until at rest [s]; inf if not.
        """
        distance, node = self._tree.query(self.embed(qpos))
        return Landings(
            np.asarray(node, np.int32),
            np.asarray(distance, np.float32),
            seconds.astype(np.float32),
            level(qpos).astype(np.float32),
        )
