"""Routes of poses, as the simulator plays them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from kaccess.access import Commands, Replay, replay_plan
from kaccess.access.graph import STANDING
from kaccess.access.landings import AT_NODE, Nodes
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.engines import make_engine
from kaccess.study import Study

__all__ = [
    "PlayedRoute",
    "describe_end",
    "name_commands",
    "pick_poses",
    "play_routes",
    "spread",
]

_N_ROUTES = 6
_MOST_MOVES = 6  # of a route to show, if there are others
_MOVES_APART = 0.5  # distance of a move more; that of opposite orientations is 2


@dataclass(frozen=True, eq=False)
class PlayedRoute:
    """Moves from one pose.

    Args:
        pose: Number of the pose.
        states: (m + 1, nq) the pose, and where each of m moves ended.
        words: (m,) what was commanded in each move, in words.
        nodes: (m,) nearest pose of the study to the end of each move; `STANDING` if
            that is nearer.
        distances: (m,) how far that is, in tolerances of a reached pose.
        seconds: (m,) time of each move until at rest [s]; inf if it was not.
        stood: Whether the robot stood at the end.
    """

    pose: int
    states: Array
    words: tuple[str, ...]
    nodes: IntArray
    distances: Array
    seconds: Array
    stood: bool

    def __len__(self) -> int:
        return len(self.words)


def play_routes(study: Study, poses: IntArray) -> list[PlayedRoute]:
    """Follow the plan of a study from some poses, in the simulator `mujoco`.

    The list is empty if the study has no plan.
    """
    plan, nodes = study.plan, study.nodes
    if plan is None or nodes is None or not len(poses):
        return []
    engine = make_engine("mujoco", study.robot, study.still)
    replay = replay_plan(
        plan, study.poses.qpos[poses], study.access_config, engine=engine
    )
    names = name_commands(plan.commands, study.poses.joints)
    return [
        _cut(nodes, names, int(pose), replay, row) for row, pose in enumerate(poses)
    ]


def _cut(
    nodes: Nodes, names: Sequence[str], pose: int, replay: Replay, row: int
) -> PlayedRoute:
    """Return one row of a replay; `nodes` are the study's poses, and standing."""
    commands = replay.commands[row][replay.commands[row] >= 0]
    states = replay.states[row, : len(commands) + 1]
    seconds = replay.seconds[row, : len(commands)]
    ends = nodes.find_landings(states[1:], seconds)
    return PlayedRoute(
        pose=pose,
        states=states,
        words=tuple(names[command] for command in commands),
        nodes=np.where(ends.node == len(nodes) - 1, STANDING, ends.node),
        distances=ends.distance,
        seconds=seconds,
        stood=bool(replay.n_moves[row]),
    )


def name_commands(commands: Commands, joints: Array) -> list[str]:
    """Return all commands in words; the last one is standing.

    Args:
        commands: Commands.
        joints: (n, nu) joints of the study's poses, most of which are commands.
    """
    pose = {each.tobytes(): number for number, each in reversed([*enumerate(joints)])}
    skills, postures, names = count(1), count(1), []
    for targets, is_skill in zip(commands.postures, commands.is_skill, strict=True):
        number = pose.get(np.asarray(targets[0], joints.dtype).tobytes())
        if is_skill:
            names.append(f"skill {next(skills)}")
        elif number is not None:
            names.append(f"command the joints of pose {number}")
        else:
            names.append(f"command added posture {next(postures)}")
    return [*names[:-1], "command standing"]


def describe_end(route: PlayedRoute, move: int) -> str:
    """Return where a move of a route ended, in words."""
    node = int(route.nodes[move])
    if route.stood and move == len(route) - 1:
        return "stands"
    if not np.isfinite(route.seconds[move]):
        return "not at rest in time"
    if route.distances[move] > AT_NODE:
        return "lands between the poses"
    return "nearly stands" if node == STANDING else f"lands near pose {node}"


def pick_poses(study: Study) -> IntArray:
    """Return a few different poses that stood up in the replay, (at most 6,).

    They differ in orientation and in the number of moves; those with the fewest moves
    come first.
    """
    n_moves = study.n_moves
    if n_moves is None:
        return np.zeros(0, np.int64)
    short = (n_moves > 0) & (n_moves <= _MOST_MOVES)
    chosen = spread(study, short if short.any() else n_moves > 0, _N_ROUTES)
    return chosen[np.argsort(n_moves[chosen], kind="stable")]


def spread(study: Study, among: BoolArray, n: int) -> IntArray:
    """Return up to n poses that differ most, of those that a mask, (n_poses,), allows.

    The first one is turned over farthest. Each next one is farthest from those before.
    """
    n_moves = np.zeros(study.n_poses) if study.n_moves is None else study.n_moves
    gravity = study.poses.gravity
    places = np.column_stack([gravity, _MOVES_APART * n_moves])[among]
    if not len(places):
        return np.zeros(0, np.int64)
    chosen = [int(places[:, 2].argmax())]
    far = np.full(len(places), np.inf)
    while len(chosen) < min(n, len(places)):
        far = np.minimum(far, np.linalg.norm(places - places[chosen[-1]], axis=1))
        far[chosen] = -1.0  # two poses may be equal
        chosen.append(int(far.argmax()))
    return np.flatnonzero(among)[chosen]
