"""PyBullet worlds: of one robot, and of many that share one.

Between steps, Bullet stores more than positions and velocities: contact points, their
order, and pairs that are close. So each simulation starts in a new world, and its
result depends on its start only. For Bittle a new world takes 7 ms, and the mean
simulation 190 ms.

The solver is iterative. A contact on a light link transfers only a little of a rotor's
momentum in each iteration, so many iterations are needed. Compared with 4000, half a
second of Bittle's motion has a mean error of 0.005 rad with 50 iterations, 0.0006 with
200 and 0.0002 with 500.
"""

import numpy as np

from kaccess.base.types import Array, IntArray
from kaccess.engines.bullet.body import Body, find_contacts
from kaccess.engines.bullet.client import Client, set_parameters
from kaccess.engines.bullet.model import BulletModel
from kaccess.engines.bullet.shapes import make_shape

__all__ = ["ACCURATE", "ORDINARY", "Crowd", "World"]

ACCURATE = 500  # solver iterations, for poses and times
ORDINARY = 50  # solver iterations: PyBullet's default

_SPACING = 20.0  # [m], between robots of a crowd: more than any travels in an episode
_IN_A_WORLD = 48  # robots; in a world of 480 each takes more than twice the time


class World(Body):
    """A robot alone in a PyBullet world.

    Args:
        model: Robot, converted for PyBullet.
        n_iterations: Iterations of the solver in each step.
    """

    def __init__(self, model: BulletModel, n_iterations: int = ACCURATE) -> None:
        super().__init__(Client(), model)
        self._n_iterations = n_iterations
        self.reset(np.array([0, 0, 0, 1, 0, 0, 0, *model.joint_ref], float))

    def reset(self, qpos: Array) -> None:
        """Make a new world, with the robot at rest at `qpos`, (nq,)."""
        self.bullet.resetSimulation()
        set_parameters(self.bullet, self.model, n_iterations=self._n_iterations)
        self.make()
        self.put_on(_make_ground(self.bullet, self.model))
        self.place(qpos)
        find_contacts([self])

    def step(self, force: Array) -> None:
        """Advance by one step with a constant force at each joint, (nj,)."""
        self.push(force)
        self.bullet.stepSimulation()


class Crowd:
    """Robots that share PyBullet worlds, far from one another.

    A world for each would take 35 MB per robot, and not be faster; one world for
    hundreds is slow. The same robots in
    the same states give the same numbers, to the bit. Other numbers of robots do not:
    the solver treats the constraints of a robot in another order, which changes its
    motion as rounding errors do.

    Args:
        model: Robot, converted for PyBullet.
        places: (n,) numbers of the robots' places; a motion depends on its place, by
            rounding errors.
        n_iterations: Iterations of the solver in each step.
    """

    def __init__(self, model: BulletModel, places: IntArray, n_iterations: int) -> None:
        self._model, self._n_iterations = model, n_iterations
        n_worlds = -(-len(places) // _IN_A_WORLD)
        self._worlds = [Client() for _ in range(n_worlds)]
        self.bodies = [
            Body(self._worlds[row // _IN_A_WORLD], model, (_SPACING * place, 0.0))
            for row, place in enumerate(places.tolist())
        ]

    def reset(self, rows: IntArray, qpos: Array) -> None:
        """Put some robots, all in the first call, into states at rest, (m, nq)."""
        if len(rows) == len(self.bodies):
            for world in self._worlds:
                self._make_world(world)
        bodies = [self.bodies[row] for row in rows]
        for body, state in zip(bodies, qpos, strict=True):
            body.place(state)
        for world in self._worlds:
            find_contacts([body for body in bodies if body.bullet is world])
        self.set_velocities(rows, qpos, np.zeros((len(rows), qpos.shape[1] - 1)))

    def set_velocities(self, rows: IntArray, qpos: Array, qvel: Array) -> None:
        """Set velocities, (m, nv), of some robots that were put into states (m, nq)."""
        for row, state, velocity in zip(rows, qpos, qvel, strict=True):
            self.bodies[row].set_velocity(state, velocity)

    def read_joints(self) -> tuple[Array, Array]:
        """Return joint positions and velocities of all robots, (n, nj) each."""
        states = np.array([body.read_joints() for body in self.bodies])
        return states[:, :, 0] + self._model.joint_ref, states[:, :, 1]

    def read_states(self) -> tuple[Array, Array]:
        """Return states, (n, nq), and velocities, (n, nv), of all robots."""
        states = [body.read_state() for body in self.bodies]
        qpos, qvel = (np.stack(column) for column in zip(*states, strict=True))
        return qpos, qvel

    def step(self, forces: Array) -> None:
        """Advance by one step with constant forces at the joints, (n, nj)."""
        for body, force in zip(self.bodies, forces, strict=True):
            body.push(force)
        for world in self._worlds:
            world.stepSimulation()

    def _make_world(self, world: Client) -> None:
        world.resetSimulation()
        set_parameters(
            world,
            self._model,
            n_iterations=self._n_iterations,
            solverResidualThreshold=0.0,  # else one robot ends the iterations of others
        )
        bodies = [body for body in self.bodies if body.bullet is world]
        for body in bodies:
            body.make()
        ground = _make_ground(world, self._model)
        for body in bodies:
            body.put_on(ground)


def _make_ground(bullet: Client, model: BulletModel) -> list[int]:
    """Make the bodies that do not move, and return their indices."""
    surfaces = model.surfaces[model.n_moving :]
    return [
        bullet.createMultiBody(0, make_shape(bullet, surface)) for surface in surfaces
    ]
