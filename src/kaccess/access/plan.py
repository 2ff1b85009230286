"""Plans over landings: which joints to command in which posture to end up standing.

Every command, the joints of a pose or the standing targets, has a *value* in each pose:
the probability to end up standing, discounted by time. Landings are uncertain: the
nearest pose is not quite the robot's posture, and a landing is not quite at its node.
So the value of a command in a posture is its mean over the poses nearby: a route is the
most reliable of the fast ones. A command that a robot has just tried in this posture
did not get it up, so it counts less.
"""

from collections.abc import Iterable, Iterator

import numpy as np
from scipy.spatial import KDTree

from kaccess.access.attempts import Attempts
from kaccess.access.commands import Commands
from kaccess.access.landings import AT_NODE, Landings, Nodes
from kaccess.base.types import Array, BoolArray, IntArray

__all__ = ["Plan", "count_chain_moves", "weigh_landings"]

_N_NEAR = 8  # poses nearby whose landings are averaged
_FAR = 3.0  # [tolerances], distance from its node at which a landing counts half
_STANDS = 1.7  # [tolerances], farthest from standing to count as standing
_MISSED = 0.3  # [-], share of its value that a landing near standing keeps
_RESTLESS = 0.1  # [-], share of its value that a move without rest keeps
_TRIED = 0.3  # [-], share of its value that a command keeps where it was tried before
_SAME = 1.0  # [tolerances], typical distance of postures that behave alike
_CLOSEST = 0.01  # [tolerances], so that weights of nearby poses stay finite
_TOLERANCE, _MOST_ROUNDS = 1e-4, 100  # of value iteration
_MOST_MOVES = 20  # of a chain
_BLOCK = 2**18  # moves that are worked on at once, to save memory


class Plan:
    """The value of each command in each pose, and the best command in any posture.

    Args:
        nodes: n poses, and standing as node n.
        commands: m commands; the last one is standing.
        landings: (n, m) landings of all commands in each pose.
        horizon: Time over which values fall to 1/e [s].

    Attributes:
        nodes: Poses, and standing.
        commands: What it chooses from.
        values: (n,) value of each pose in [0, 1]; 0 if nothing leads to standing.
        n_moves: (n,) moves of the shortest chain of landings to standing; 0 if none.
    """

    def __init__(
        self, nodes: Nodes, commands: Commands, landings: Landings, *, horizon: float
    ) -> None:
        self.nodes, self.commands = nodes, commands
        n = len(landings.node)
        postures = nodes.places[:, :-1]
        self._tree, self._standing = KDTree(postures), postures[-1]
        worth = _weigh_all(landings, horizon)
        self.values, self._quality = _iterate(nodes.places[:n], landings.node, worth)
        del worth
        self._quality[n, -1] = 1.0  # a standing robot keeps standing
        self._seconds = _find_waits(landings)
        parts = (landings.get_rows(rows) for rows in _split(landings.node.shape))
        self.n_moves = count_chain_moves(n, parts)

    @property
    def n_nodes(self) -> int:
        """Number of poses and standing."""
        return len(self.nodes)

    @property
    def exists(self) -> bool:
        """Whether a chain of moves leads from any pose to standing."""
        return bool((self.n_moves > 0).any())

    def choose(
        self, gravity: Array, joints: Array, tried: Attempts | None = None
    ) -> tuple[IntArray, Array, IntArray]:
        """Return what to command in postures, (b, 3) and (b, nu).

        Args:
            gravity: (b, 3) gravity vectors in the body frame.
            joints: (b, nu) joint positions [rad].
            tried: What the robots have tried before.

        Returns:
            `(command, seconds, nearest)`, (b,) each: number of the command, time until
            the robot rests [s] (0 for a standing robot), and nearest node.
        """
        points = self.nodes.embed_posture(gravity, joints)
        distance, near = _find_near(self._tree, points)
        weight = 1 / (_CLOSEST + distance) ** 2
        weight /= weight.sum(axis=1, keepdims=True)
        quality = np.einsum("bk,bkj->bj", weight, self._quality[near])
        if tried is not None:
            self._weaken(quality, points, tried)
        stands = np.linalg.norm(points - self._standing, axis=1) < _STANDS
        command = np.where(stands, len(self.commands) - 1, quality.argmax(axis=1))
        nearest = np.where(stands, self.n_nodes - 1, near[:, 0])
        seconds = (weight * self._seconds[near, command[:, None]]).sum(axis=1)
        return command, seconds, nearest

    def list_tables(self) -> dict[str, np.ndarray]:
        """Return all that `choose` depends on, by name, for programs without kaccess.

        The names and shapes are described in docs/export.md.
        """
        config = self.nodes.config
        return {
            "tolerances": np.array([config.gravity_tol, config.joint_tol]),
            "places": self.nodes.places[:, :-1],
            "quality": self._quality,
            "waits": self._seconds.astype(np.float64),
            "postures": self.commands.postures,
            "posture_seconds": self.commands.seconds,
            "n_near": np.array(min(_N_NEAR, self.n_nodes)),
            "closest": np.array(_CLOSEST),
            "stands": np.array(_STANDS),
            "same": np.array(_SAME),
            "tried": np.array(_TRIED),
        }

    def _weaken(self, quality: Array, points: Array, tried: Attempts) -> None:
        """Lower the quality of commands, (b, m), that were tried in such postures."""
        b, k, _ = tried.postures.shape
        flat = tried.postures.reshape(b * k, -1)
        past = self.nodes.embed_posture(flat[:, :3], flat[:, 3:]).reshape(b, k, -1)
        distance = np.linalg.norm(past - points[:, None], axis=2)
        loss = (1 - _TRIED) * np.exp(-((distance / _SAME) ** 2))
        row, place = np.nonzero(tried.commands >= 0)
        np.multiply.at(quality, (row, tried.commands[row, place]), 1 - loss[row, place])


def _find_near(tree: KDTree, points: Array) -> tuple[Array, IntArray]:
    """Return the distances of the nearest nodes, (b, k), and their indices."""
    k = list(range(1, min(_N_NEAR, tree.n) + 1))
    distance, near = tree.query(points, k=k)
    return np.asarray(distance), np.asarray(near)


def weigh_landings(
    landings: Landings, poses: IntArray, n: int, horizon: float
) -> Array:
    """Return the factor from the value of a landing to that of its move.

    Args:
        landings: Where moves ended.
        poses: Pose from which each move began; it can be broadcast to the landings.
        n: Number of poses, which is the number of the node standing.
        horizon: Time over which values fall to 1/e [s].
    """
    rested = np.isfinite(landings.seconds)
    worth = np.exp(-np.where(rested, landings.seconds, horizon) / horizon)
    worth *= landings.node != poses  # to stay leads nowhere
    trust = 1 / (1 + (landings.distance / _FAR) ** 2)
    at_standing = landings.node == n
    stands = at_standing & (landings.distance < _STANDS)
    trust = np.where(stands, 1.0, np.where(at_standing, _MISSED * trust, trust))
    return np.asarray(worth * np.where(rested, trust, _RESTLESS * trust))


def _split(shape: tuple[int, ...]) -> Iterator[slice]:
    """Yield rows of an array, (n, m), that are worked on at once."""
    step = max(1, _BLOCK // shape[1])
    for start in range(0, shape[0], step):
        yield slice(start, min(start + step, shape[0]))


def _weigh_all(landings: Landings, horizon: float) -> Array:
    """Return the factors of `weigh_landings` of all commands in n poses, (n, m)."""
    shape = landings.node.shape
    worth = np.empty(shape, np.result_type(landings.seconds, landings.distance))
    for rows in _split(shape):
        poses = np.arange(rows.start, rows.stop)[:, None]
        part = landings.get_rows(rows)
        worth[rows] = weigh_landings(part, poses, shape[0], horizon)
    return worth


def _find_waits(landings: Landings) -> Array:
    """Return the seconds until rest, (n + 1, m); 0 in the last row, of standing.

    A move that does not come to rest takes as long as the longest that does.
    """
    n, m = landings.seconds.shape
    rested = np.isfinite(landings.seconds)
    longest = np.max(landings.seconds, where=rested, initial=0.0)
    waits = np.zeros((n + 1, m), landings.seconds.dtype)
    waits[:n] = longest
    np.copyto(waits[:n], landings.seconds, where=rested)
    return waits


def _iterate(places: Array, node: IntArray, worth: Array) -> tuple[Array, Array]:
    """Return the values of poses, (n,), and of commands in all nodes, (n + 1, m).

    Those of standing, the last node, are 0.
    """
    n, m = worth.shape
    distance, near = _find_near(KDTree(places), places)
    weight = 1 / (1 + distance**2)
    weight /= weight.sum(axis=1, keepdims=True)
    values, new = np.append(np.zeros(n), 1.0), np.empty(n)
    quality = np.zeros((n + 1, m))
    for _ in range(_MOST_ROUNDS):
        for rows in _split(worth.shape):
            np.multiply(worth[rows], values[node[rows]], out=quality[rows])
        for rows in _split(worth.shape):
            new[rows] = _average(quality, weight[rows], near[rows]).max(axis=1)
        change = np.abs(new - values[:n]).max()
        values[:n] = new
        if change < _TOLERANCE:
            break
    return values[:n], quality


def _average(quality: Array, weight: Array, near: IntArray) -> Array:
    """Return the mean quality of commands over the poses near some poses, (b, m)."""
    mean = np.zeros((len(near), quality.shape[1]))
    for column in range(near.shape[1]):  # one by one, to save memory
        mean += weight[:, column, None] * quality[near[:, column]]
    return mean


def count_chain_moves(n: int, landings: Iterable[Landings]) -> IntArray:
    """Return the moves of the shortest chain of landings to standing; 0 if none.

    Args:
        n: Number of poses.
        landings: Landings of all commands in some poses each, in order.
    """
    leads = np.zeros((n, n + 1), bool)  # from poses to the nodes they surely land at
    start = 0
    for each in landings:
        rows, commands = np.nonzero(_is_sure(each, n))
        leads[start + rows, each.node[rows, commands]] = True
        start += len(each.node)
    n_moves, new = np.zeros(n, np.int64), np.array([n])
    for move in range(1, _MOST_MOVES + 1):
        new = np.flatnonzero(leads[:, new].any(axis=1) & (n_moves == 0))
        n_moves[new] = move
    return n_moves


def _is_sure(landings: Landings, n: int) -> BoolArray:
    """Return which moves surely land at their node."""
    limit = np.where(landings.node == n, _STANDS, AT_NODE)
    return np.isfinite(landings.seconds) & (landings.distance < limit)
