"""Small posture graphs, and an engine that does what a test says."""

import numpy as np

from kaccess import AccessConfig
from kaccess.access import Commands, Landings, Nodes, Plan, PostureGraph
from kaccess.access.posture_graph import simulate_commands
from kaccess.engines import Settled
from kaccess.engines.motion import as_motion

NOWHERE = 100.0  # [tolerances]: a landing that no node is near


class FakeEngine:
    """Ends each move after half a second, in a state that a function returns.

    Args:
        end: Function of states, (b, nq), and last targets, (b, nu).
    """

    batch_size = 8

    def __init__(self, end=lambda qpos, targets: qpos):
        self._end = end

    def settle(self, qpos, targets, *, time_limit, progress=None):
        ends = self._end(qpos.copy(), as_motion(targets).points[:, -1])
        n = len(qpos)
        return Settled(ends, np.full(n, 0.5), np.zeros(n, bool))


def simulate_graph(nodes, engine):
    """Return the graph of all moves between nodes, and those to standing."""
    targets = nodes.robot.get_joints(nodes.qpos)
    targets[-1] = nodes.robot.standing_targets
    commands = Commands.to(targets, nodes.config.move_time)
    moves = simulate_commands(nodes, nodes.qpos[:-1], commands, engine=engine)
    return PostureGraph(nodes, commands, moves.find_landings(nodes))


def make_landings(n, moves, n_commands=None):
    """Return landings: {(pose, command): (node, seconds)}; the others are nowhere."""
    shape = n, n_commands or n + 1
    node = np.repeat(np.arange(n), shape[1]).reshape(shape)  # they stay where they are
    landings = Landings(node, np.full(shape, NOWHERE), np.ones(shape))
    for (pose, command), (end, seconds) in moves.items():
        landings.node[pose, command] = end
        landings.distance[pose, command] = 0.0
        landings.seconds[pose, command] = seconds
    return landings


def make_two_way_plan(poses):
    """Return a plan: commands 1 and 2 lead from pose 0 to standing, 1 is faster."""
    nodes = Nodes(poses.robot, poses.qpos[:1], poses.robot.standing, AccessConfig())
    joints = np.concatenate([poses.joints[:3], poses.robot.standing_targets[None]])
    landings = Landings(
        node=np.array([[0, 1, 1, 0]]),
        distance=np.zeros((1, 4)),
        seconds=np.array([[1.0, 0.5, 0.6, 1.0]]),
    )
    return Plan(nodes, Commands.to(joints), landings, horizon=3.0)
