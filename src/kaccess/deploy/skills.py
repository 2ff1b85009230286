"""Routes as OpenCat skills, and a chooser that needs only roll and pitch.

Bittle's servos hold what they were told, so after a slow move to the standing posture
the joints are known, and roll and pitch say how the robot lies. From each lying pose of
a study the plan is followed in simulation; its commands in a row are a route. The same
route is then tried from all other lying poses. The best few routes, each tried from
everywhere, are the skills: each pose belongs to the cluster of the skill that serves it
and its neighbours best, and the chooser asks for the skill with the highest share of
success around the measured gravity vector.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.files import whole_file
from kaccess.base.json_files import read_json, write_json
from kaccess.base.types import Array, BoolArray, IntArray, Progress
from kaccess.config import EngineConfig
from kaccess.deploy.angles import MEASURED, Angles, find_attitude
from kaccess.deploy.frames import Player, measure_move
from kaccess.deploy.protocol import LEGS, N_JOINTS
from kaccess.robots import Robot, load_robot
from kaccess.study import Study

__all__ = ["Route", "Skills", "build_skills", "load_shipped", "write_skills"]

SPEED = 250.0  # [deg/s] of BiBoard after `I`: 2 deg in 8 ms (boards.py)
_SPEED_FACTOR = 16  # the same speed in a frame of a skill: 16 / 8 deg in 8 ms
_MOST_MOVES = 4  # of a route
_N_SKILLS = 12  # at most
_N_TRIED = 24  # routes that are tried from everywhere
_SETTLE = 1.0  # [s], after a slow move
_MARGIN = 0.3  # [s], added to the time that a move takes to rest
_DELAY = 0.05  # [s], unit of a frame's delay
_LONGEST = 6.0  # [s], of a frame's delay: 120 of 127 units
_N_NEAR = 6  # lying poses whose successes are averaged
_NEAR = 0.15  # [-], distance of gravity vectors at which a weight is halved
_TURN = 60.0  # [deg], of the body in a move that makes a trigger worth while
_N_POSTURES = 40  # kept for `--check`
_SHIPPED = Path(__file__).parent / "bittle-skills.json"


@dataclass(frozen=True)
class Route:
    """A route to standing: postures with times.

    Args:
        degrees: (k, 8) angles of the joints 8 to 15 [deg]; the last ones stand.
        hold: (k,) time after each move [s], in steps of 50 ms.
        triggers: (k, 2) axis and angle that the body turns past in each move: 1 for
            pitch, 2 for roll, signed by the direction, and [deg]; 0 for none.
    """

    degrees: IntArray
    hold: Array
    triggers: IntArray

    @property
    def seconds(self) -> float:
        """Time of the whole route, from the standing posture [s]."""
        way = np.concatenate([self.degrees[-1:], self.degrees])
        moves = measure_move(way[:-1], way[1:], SPEED)
        return float(moves.sum() + self.hold.sum())

    def mirror(self) -> "Route":
        """Return the same route with left and right exchanged."""
        swap = np.array([1, 0, 3, 2, 5, 4, 7, 6])
        is_roll = np.abs(self.triggers[:, :1]) == 2
        triggers = np.where(is_roll, -self.triggers, self.triggers)
        return Route(self.degrees[:, swap], self.hold, triggers)

    def to_array(self, *, triggers: bool = False) -> list[int]:
        """Return the route as a behaviour in OpenCat's files.

        Its first frame is the standing posture, in which the robot is already: the
        firmware goes there at a speed of its own.

        Args:
            triggers: Whether frames wait for the body to turn. Not on NyBoard: its
                firmware would wait for ever.
        """
        frames = [_make_frame(self.degrees[-1], 0.0, (0, 0))]
        for degrees, hold, trigger in zip(
            self.degrees, self.hold, self.triggers.tolist(), strict=True
        ):
            frames.append(_make_frame(degrees, hold, trigger if triggers else (0, 0)))
        header = [-len(frames), 0, 0, 1, 0, 0, 0]
        return [*header, *(number for frame in frames for number in frame)]


def _make_frame(degrees: IntArray, hold: float, trigger: Any) -> list[int]:  # noqa: ANN401  # two numbers
    """Return 16 angles, speed, delay, trigger axis and angle of a frame."""
    rest = [0] * (N_JOINTS - len(LEGS))
    delay = round(hold / _DELAY)
    return [*rest, *map(int, degrees), _SPEED_FACTOR, delay, *map(int, trigger)]


@dataclass(frozen=True)
class Skills:
    """Routes from all lying poses, and where each of them works.

    Args:
        routes: m routes.
        gravity: (n, 3) gravity of lying poses, after a slow move to standing.
        works: (n, m) whether a route gets the robot up from there.
        postures: (p, 8) joint angles of resting poses [deg], for `--check`.
        source: Where they are from.
    """

    routes: tuple[Route, ...]
    gravity: Array
    works: BoolArray
    postures: IntArray
    source: str

    def choose(self, gravity: Array, tried: dict[int, int] | None = None) -> int:
        """Return the number of the route with the best chances.

        Args:
            gravity: (3,) gravity in the body frame.
            tried: How often routes were tried before, in vain, by number.
        """
        chances = self.rate(gravity[None])[0]
        for route, times in (tried or {}).items():
            chances[route] *= 0.5**times
        return int(chances.argmax())

    def rate(self, gravity: Array) -> Array:
        """Return the chances of all routes, (b, m), with gravity vectors, (b, 3)."""
        distance = np.linalg.norm(self.gravity[None] - gravity[:, None], axis=2)
        near = np.argsort(distance, axis=1, kind="stable")[:, :_N_NEAR]
        far = np.take_along_axis(distance, near, axis=1)
        weight = 1 / (1 + (far / _NEAR) ** 2)
        weight /= weight.sum(axis=1, keepdims=True)
        return np.asarray(np.einsum("bk,bkm->bm", weight, self.works[near]))

    @property
    def labels(self) -> IntArray:
        """Route that is chosen in each lying pose, (n,)."""
        return np.asarray(self.rate(self.gravity).argmax(axis=1))

    @property
    def share(self) -> float:
        """Share of lying poses from which the chosen route works at once."""
        return float(self.works[np.arange(len(self.works)), self.labels].mean())

    @property
    def moves(self) -> IntArray:
        """Postures to command in a check, (k, 8) [deg]: poses, and steps of routes."""
        steps = [route.degrees for route in self.routes]
        return np.unique(np.concatenate([self.postures, *steps]), axis=0)

    def save(self, path: Path) -> None:
        """Write them to a file."""
        routes = [vars(route) for route in self.routes]
        gravity = np.round(self.gravity, 4)
        works = self.works.astype(int)
        write_json(
            path, {**vars(self), "routes": routes, "gravity": gravity, "works": works}
        )

    @classmethod
    def load(cls, path: Path) -> "Skills":
        """Read what `save` wrote."""
        content = read_json(path, "Install kaccess again.")
        routes = [
            Route(
                np.array(each["degrees"], np.int64),
                np.array(each["hold"], float),
                np.array(each["triggers"], np.int64),
            )
            for each in content["routes"]
        ]
        return cls(
            tuple(routes),
            np.array(content["gravity"], float),
            np.array(content["works"], bool),
            np.array(content["postures"], np.int64),
            content["source"],
        )


def load_shipped() -> Skills:
    """Return the skills that come with the package, made from a study of Bittle."""
    return Skills.load(_SHIPPED)


def build_skills(
    study: Study,
    *,
    engine: EngineConfig | None = None,
    progress: Progress | None = None,
) -> Skills:
    """Return the skills of a study of Bittle, tried with the measured joint limits.

    Args:
        study: A study of `bittle` or `bittle-real` with transition times.
        engine: Engine, which sets the threads.
        progress: Called with (routes tried, routes to try).

    Raises:
        InputError: If the study is of another robot, or has no routes.
    """
    robot = _check(study)
    lying = _lie_down(robot, study.poses.qpos, engine)
    candidates = _follow_plan(study, robot, lying, engine)
    gravity = _start(robot, lying, engine).gravity
    works = np.zeros((len(lying), len(candidates)), bool)
    for column, route in enumerate(candidates):
        works[:, column] = _try(robot, lying, route, engine)
        if progress:
            progress(column + 1, len(candidates))
    kept = _cover(works)
    postures = Angles(study.robot).to_degrees(study.poses.joints)
    return Skills(
        tuple(candidates[route] for route in kept),
        gravity,
        works[:, kept],
        postures[:_N_POSTURES],
        f"{study.n_poses} poses of {study.robot.name}",
    )


def _check(study: Study) -> Robot:
    if study.robot.source not in ("bittle", MEASURED):
        raise InputError(
            f"`deploy` needs a study of bittle or {MEASURED}, got one of "
            f"{study.robot.name}. Make one with `kaccess sample {MEASURED} STUDY`, "
            "`kaccess access STUDY`."
        )
    if study.plan is None or not study.plan.exists:
        raise InputError(
            f"{study.path} has no routes to standing yet. Run `kaccess access "
            f"{study.path}` first."
        )
    return load_robot(MEASURED)


def _start(robot: Robot, qpos: Array, engine: EngineConfig | None) -> Player:
    return Player(robot, qpos, speed=SPEED, engine=engine)


def _lie_down(robot: Robot, qpos: Array, engine: EngineConfig | None) -> Array:
    """Return where robots lie after a slow move to the standing posture, (n, nq).

    Those that stand then are left out: they need no route.
    """
    qpos = qpos.copy()
    low, high = robot.joint_range.T
    joints = robot.get_joints(qpos)
    outside = ((joints < low - 0.05) | (joints > high + 0.05)).any(axis=1)
    player = _start(robot, qpos[~outside], engine)
    stand = Angles(robot).to_degrees(robot.standing_targets)
    player.move_slowly(stand, _SETTLE)
    return player.qpos[~player.stands]


def _follow_plan(
    study: Study, robot: Robot, lying: Array, engine: EngineConfig | None
) -> list[Route]:
    """Return the routes that the plan takes from lying poses, the commonest first."""
    plan, angles = study.plan, Angles(study.robot)
    assert plan is not None
    player = _start(robot, lying, engine)
    n = len(lying)
    stand = angles.to_degrees(robot.standing_targets)
    degrees = np.zeros((n, _MOST_MOVES, len(LEGS)), np.int64)
    hold, seen = np.zeros((n, _MOST_MOVES)), np.zeros((n, _MOST_MOVES + 1, 3))
    length = np.zeros(n, np.int64)
    seen[:, 0] = player.gravity
    for move in range(_MOST_MOVES):
        joints = angles.to_radians(player.degrees)
        command, seconds, _ = plan.choose(player.gravity, joints)
        goal = angles.to_degrees(plan.commands.postures[command, -1])
        if move == _MOST_MOVES - 1:
            goal = np.tile(stand, (n, 1))
        wait = np.minimum(np.ceil((seconds + _MARGIN) / _DELAY) * _DELAY, _LONGEST)
        player.move(goal, wait)
        degrees[:, move], hold[:, move] = goal, wait
        seen[:, move + 1] = player.gravity
        up = player.stands & (goal == stand).all(axis=1) & (length == 0)
        length[up] = move + 1
    made = [
        _make_route(degrees[i, :k], hold[i, :k], seen[i, : k + 1])
        for i, k in enumerate(length.tolist())
        if k
    ]
    if not made:
        raise InputError(
            f"No route of {study.path} gets the robot up at the speed of its firmware. "
            "Sample more poses."
        )
    return _choose_common(made)


def _make_route(degrees: IntArray, hold: Array, seen: Array) -> Route:
    turns = [_find_trigger(a, b) for a, b in pairwise(seen)]
    return Route(degrees, np.round(hold, 2), np.array(turns, np.int64))


def _find_trigger(before: Array, after: Array) -> tuple[int, int]:
    """Return axis and angle that the body turns past in a move; (0, 0) for none.

    The firmware compares angles in [-180, 180], so a turn over the back has none.
    """
    start, end = find_attitude(before), find_attitude(after)
    turns = [(1, start.pitch, end.pitch), (2, start.roll, end.roll)]
    axis, old, new = max(turns, key=lambda turn: abs(turn[2] - turn[1]))
    middle = round((old + new) / 2)
    if not _TURN < abs(new - old) < 180 or abs(middle) > 120:
        return 0, 0
    return (axis if new > old else -axis), middle


def _choose_common(routes: list[Route]) -> list[Route]:
    """Return different routes to try: those that most poses share, then short ones."""
    groups: dict[bytes, list[Route]] = {}
    for route in routes:
        groups.setdefault(route.degrees.tobytes(), []).append(route)
    ranked = sorted(
        groups.values(), key=lambda group: (-len(group), len(group[0].degrees))
    )
    best = [_merge(group) for group in ranked[: _N_TRIED // 2]]
    return [each for route in best for each in (route, route.mirror())]


def _merge(group: list[Route]) -> Route:
    """Return one route of several with the same postures: with the longest waits."""
    hold = np.max([route.hold for route in group], axis=0)
    same = all((route.triggers == group[0].triggers).all() for route in group)
    triggers = group[0].triggers if same else np.zeros_like(group[0].triggers)
    return replace(group[0], hold=hold, triggers=triggers)


def _try(
    robot: Robot, lying: Array, route: Route, engine: EngineConfig | None
) -> BoolArray:
    """Return from which lying poses a route gets the robot up, (n,)."""
    player = _start(robot, lying, engine)
    for degrees, hold in zip(route.degrees, route.hold, strict=True):
        n = len(lying)
        player.move(np.tile(degrees, (n, 1)), np.full(n, hold))
    return player.stands


def _cover(works: BoolArray) -> list[int]:
    """Return few routes that together work from as many poses as all do."""
    kept: list[int] = []
    left = np.ones(len(works), bool)
    for _ in range(_N_SKILLS):
        gain = works[left].sum(axis=0)
        if not gain.any():
            break
        # Among equals, the one that works from most poses.
        best = int(np.lexsort((works.sum(axis=0), gain))[-1])
        kept.append(best)
        left &= ~works[:, best]
    return kept


def write_skills(skills: Skills, folder: Path) -> list[Path]:
    """Write each route as an OpenCat skill, and a table of when to use which.

    The files `*.h` have the arrays of OpenCat's InstinctBittleESP.h, in which names
    with `rl` run without interruption on the back; `*.txt` has the numbers after `K`.
    """
    paths = []
    rows = ["skill  poses  roll from..to  pitch from..to  works from"]
    labels = skills.labels
    for number, route in enumerate(skills.routes):
        name, mine = f"krl{number}", labels == number
        numbers = route.to_array(triggers=True)
        paths += [_write(folder / f"{name}.h", _format_array(name, numbers))]
        plain = " ".join(map(str, route.to_array()))
        paths += [_write(folder / f"{name}.txt", f"K {plain}\n")]
        rows.append(_format_row(name, skills.gravity[mine], skills.works[mine, number]))
    paths.append(_write(folder / "skills.txt", "\n".join(rows) + "\n"))
    return paths


def _write(path: Path, text: str) -> Path:
    with whole_file(path) as draft:
        draft.write_text(text)
    return path


def _format_array(name: str, numbers: list[int]) -> str:
    """Return an array in the layout of OpenCat's files; large angles are halved."""
    size = N_JOINTS + 4
    header, rows = numbers[:7], np.reshape(numbers[7:], (-1, size))
    if np.abs(rows[:, :N_JOINTS]).max() > 125:
        header[3] = 2
        rows[:, :N_JOINTS] = np.rint(rows[:, :N_JOINTS] / 2)
    lines = [
        f"const int8_t {name}[] PROGMEM = {{",
        f"{', '.join(map(str, header[:4]))},",
        f" {', '.join(map(str, header[4:]))},",
        *(f"  {', '.join(f'{each:4d}' for each in row)}," for row in rows),
        "};",
    ]
    return "\n".join(lines) + "\n"


def _format_row(name: str, gravity: Array, works: BoolArray) -> str:
    if not len(gravity):
        return f"{name:6s} {0:5d}  only where others have failed"
    attitudes = [find_attitude(each) for each in gravity]
    roll = [round(each.roll) for each in attitudes]
    pitch = [round(each.pitch) for each in attitudes]
    return (
        f"{name:6s} {len(gravity):5d}  {min(roll):+4d}..{max(roll):+4d}     "
        f"{min(pitch):+4d}..{max(pitch):+4d}      {works.sum()} of {len(works)}"
    )
