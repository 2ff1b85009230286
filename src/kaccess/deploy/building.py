"""Skills from a study: its routes, tried in simulation at the speed of the firmware.

From each lying pose the plan of the study is followed; its commands in a row are a
route. Every route, and its mirror image, is then tried from all lying poses, and the
fewest that serve nearly all of them are kept. Where none works, a search finds postures
that swing the robot.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import Array, BoolArray, IntArray, Progress
from kaccess.config import EngineConfig
from kaccess.deploy.angles import MEASURED, Angles, find_attitude
from kaccess.deploy.frames import Player
from kaccess.deploy.protocol import LEGS
from kaccess.deploy.skills import DELAY, SPEED, Route, Skills
from kaccess.robots import Robot, load_robot
from kaccess.study import Study

__all__ = ["build_skills"]

_MOST_MOVES = 4  # of a route
_N_SKILLS = 12  # at most
_N_TRIED = 24  # routes that are tried from everywhere
_SETTLE = 1.0  # [s], after a slow move
_MARGIN = 0.3  # [s], added to the time that a move takes to rest
_LONGEST = 6.0  # [s], of a frame's delay: 120 of 127 units
_N_SWINGS, _SWING_MOVES = 1200, 3  # of the search from poses without a route
_TURN = 60.0  # [deg], of the body in a move that makes a trigger worth while
_N_POSTURES = 40  # kept for `--check`


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
    works = _try_all(robot, lying, candidates, engine, progress)
    stuck = ~works.any(axis=1)
    if stuck.any():
        swings = _search_swings(robot, lying[stuck], engine)
        candidates += swings
        works = np.column_stack(
            [works, _try_all(robot, lying, swings, engine, progress)]
        )
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
    if study.plan is None or not study.has_routes:
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
        wait = np.minimum(np.ceil((seconds + _MARGIN) / DELAY) * DELAY, _LONGEST)
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


def _try_all(
    robot: Robot,
    lying: Array,
    routes: list[Route],
    engine: EngineConfig | None,
    progress: Progress | None,
) -> BoolArray:
    """Return from which lying poses each route gets the robot up, (n, m)."""
    works = np.zeros((len(lying), len(routes)), bool)
    for column, route in enumerate(routes):
        works[:, column] = _try(robot, lying, route, engine)
        if progress:
            progress(column + 1, len(routes))
    return works


def _search_swings(
    robot: Robot, stuck: Array, engine: EngineConfig | None
) -> list[Route]:
    """Return routes from poses without any: postures in a row that swing the robot.

    Flat on its back, moves from rest to rest do not turn it over at the speed of the
    firmware, but a swing does: postures at random, one after the other without rest.
    """
    angles, rng = Angles(robot), np.random.default_rng(0)
    shape = (_N_SWINGS, _SWING_MOVES, len(LEGS))
    share = rng.random(shape)
    share = np.where(rng.random(shape) < 0.5, np.rint(share), share)  # ends of ranges
    swings = np.rint(angles.low + share * (angles.high - angles.low)).astype(np.int64)
    starts = stuck[np.arange(_N_SWINGS) % len(stuck)]
    player = _start(robot, starts, engine)
    at_once, wait = np.zeros(_N_SWINGS), np.full(_N_SWINGS, _SETTLE)
    for move in range(_SWING_MOVES):
        last = move == _SWING_MOVES - 1
        player.move(swings[:, move], wait if last else at_once)
    stand = angles.to_degrees(robot.standing_targets)
    player.move(np.tile(stand, (_N_SWINGS, 1)), wait)
    best = np.argsort(player.gravity[:, 2] - player.stands, kind="stable")
    found = []
    for row in best[: _N_TRIED // 2].tolist():
        degrees = np.concatenate([swings[row], stand[None]])
        hold = np.array([0.0] * (_SWING_MOVES - 1) + [_SETTLE, _SETTLE])
        route = Route(degrees, hold, np.zeros((len(hold), 2), np.int64))
        found += [route, route.mirror()]
    return found


def _cover(works: BoolArray) -> list[int]:
    """Return few routes that together work twice from as many poses as all do.

    Twice, so that there is another one if the first fails.
    """
    kept: list[int] = []
    need = np.minimum(works.sum(axis=1), 2)
    for _ in range(_N_SKILLS):
        gain = works[need > 0].sum(axis=0)
        gain[kept] = 0
        if not gain.any():
            break
        # Among equals, the one that works from most poses.
        best = int(np.lexsort((works.sum(axis=0), gain))[-1])
        kept.append(best)
        need -= works[:, best]
    return kept
