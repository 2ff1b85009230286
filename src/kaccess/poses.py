"""Static poses of a robot: dropped in a random attitude, kept where it comes to rest.

Candidate c of a seed is the same whatever else is drawn: candidates come in blocks,
each from its own random stream, and the first n that pass are the poses. So the same
seed gives the same poses for any batch size, and a larger n only adds to them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.rotations import gravity_in_body, quat_from_roll_pitch, roll_pitch
from kaccess.base.types import Array, BoolArray, IntArray, Progress
from kaccess.config import EngineName, SampleConfig
from kaccess.engines import Engine, Settled, as_engine
from kaccess.robots import Robot, find_mirror

__all__ = ["Draws", "Poses", "draw_poses", "sample_poses", "settle_keyframes"]

_BLOCK = 64  # candidates per random stream; another value means other poses
_SPARE = 1.15  # candidates drawn for each pose wanted: some do not come to rest
_HOPELESS = (2000, 0.01)  # give up once so many draws have kept less than that share


@dataclass(frozen=True, eq=False)
class Poses:
    """Static poses of one robot, without place or heading: x = y = yaw = 0.

    Args:
        robot: The robot.
        qpos: (n, nq) states, to be started from at rest.
        contacts: (n, n_parts) which of `robot.parts` touch the ground.
        mirrored: Whether pose 2i + 1 is the mirror image of pose 2i.
    """

    robot: Robot
    qpos: Array
    contacts: BoolArray
    mirrored: bool = False

    def __len__(self) -> int:
        return len(self.qpos)

    @property
    def joints(self) -> Array:
        """(n, nu) positions of the actuated joints [rad]."""
        return self.robot.get_joints(self.qpos)

    @property
    def gravity(self) -> Array:
        """(n, 3) unit gravity vector in the body frame."""
        return gravity_in_body(self.qpos[:, 3:7])

    @property
    def height(self) -> Array:
        """(n,) height of the base [m]."""
        return self.qpos[:, 2]

    @property
    def roll(self) -> Array:
        """(n,) roll in (-pi, pi] [rad]."""
        return roll_pitch(self.gravity)[0]

    @property
    def pitch(self) -> Array:
        """(n,) pitch in [-pi/2, pi/2] [rad]."""
        return roll_pitch(self.gravity)[1]


class _Fate(IntEnum):
    """What became of a candidate."""

    KEPT = 0
    COLLIDING = 1
    RESTLESS = 2
    DIVERGED = 3
    AIRBORNE = 4


@dataclass(frozen=True)
class Draws:
    """What became of the candidates drawn for a set of poses.

    Args:
        drawn: Candidates up to the last pose kept.
        kept: Those that became poses.
        colliding: Dropped because the drawn joints make the robot touch itself.
        restless: Dropped because not static within the time limit.
        diverged: Dropped because the simulation broke down.
        airborne: Dropped because at rest without touching the ground.
    """

    drawn: int
    kept: int
    colliding: int
    restless: int
    diverged: int
    airborne: int


def sample_poses(
    robot: Robot,
    n: int = 1000,
    *,
    seed: int = 0,
    config: SampleConfig | None = None,
    engine: Engine | EngineName = "mujoco",
    progress: Progress | None = None,
) -> Poses:
    """Sample static poses of a robot.

    Args:
        robot: The robot.
        n: Number of poses.
        seed: Seed of the draws.
        config: How poses are drawn; its `n` and `seed` give way to those above.
        engine: Simulator, or the name of one.
        progress: Called with (poses kept, n) as sampling goes on.

    Returns:
        n poses, the same for a seed on any number of threads.

    Raises:
        InputError: If next to no candidate comes to rest.
    """
    config = replace(config or SampleConfig(), n=n, seed=seed)
    engine = as_engine(engine, robot)
    return draw_poses(robot, config, engine=engine, progress=progress)[0]


def draw_poses(
    robot: Robot,
    config: SampleConfig,
    *,
    engine: Engine,
    stream: int = 0,
    progress: Progress | None = None,
) -> tuple[Poses, Draws]:
    """Sample poses as `sample_poses` does, and tell what became of the candidates.

    Each `stream` of a seed gives other poses: those to learn from are of stream 0.
    """
    mirror = find_mirror(robot) if config.mirror else None
    n = config.n // 2 if mirror else config.n
    qpos = np.empty((0, robot.model.nq))
    fates = np.empty(0, int)
    if progress:
        progress(0, n)
    for more_qpos, more_fates in _candidates(robot, config, engine, n=n, stream=stream):
        qpos = np.concatenate([qpos, more_qpos[more_fates == _Fate.KEPT]])
        fates = np.concatenate([fates, more_fates])
        if progress:
            progress(min(len(qpos), n), n)
        if len(qpos) >= n:
            break
        _check_hope(robot, fates)

    last = np.flatnonzero(fates == _Fate.KEPT)[n - 1]
    draws = _count(fates[: last + 1])
    qpos = qpos[:n]
    if mirror:
        qpos = np.stack([qpos, mirror.reflect_qpos(qpos)], axis=1).reshape(config.n, -1)
    return Poses(robot, qpos, robot.find_contacts(qpos)[0], config.mirror), draws


def settle_keyframes(
    robot: Robot, names: Sequence[str], *, engine: Engine, time_limit: float = 2.0
) -> Array:
    """Return where keyframes of a robot come to rest on their targets, (k, nq)."""
    keys = [robot.keyframes[name] for name in names]
    settled = engine.settle(
        np.array([key.qpos for key in keys]),
        np.array([key.ctrl for key in keys]),
        time_limit=time_limit,
    )
    return level(settled.qpos)


def _candidates(
    robot: Robot, config: SampleConfig, engine: Engine, *, n: int, stream: int
) -> Iterator[tuple[Array, IntArray]]:
    """Yield settled candidates and their fates, round after round, without end."""
    most = engine.batch_size // 4  # a round is two drops, and shows how far it is
    n_blocks = max(1, round(min(_SPARE * n, most) / _BLOCK))
    first = 0
    while True:
        blocks = range(first, first + n_blocks)
        roll, pitch, joints = _draw(robot, config.seed, blocks, stream)
        start = np.repeat(robot.standing[None], len(roll), axis=0)
        start[:, :2] = 0.0
        start[:, 2] = config.drop_height or robot.drop_height
        start[:, 3:7] = quat_from_roll_pitch(roll, pitch)
        drop = _move if config.draw == "move" else _teleport
        yield drop(robot, engine, start, joints, time_limit=config.time_limit)
        first += n_blocks


def _draw(
    robot: Robot, seed: int, blocks: range, stream: int = 0
) -> tuple[Array, Array, Array]:
    """Return roll, pitch and joints of the candidates of some blocks."""
    low, high = robot.joint_range.T
    roll, pitch, joints = [], [], []
    for block in blocks:
        rng = np.random.default_rng([seed, block, stream])  # 0 last changes nothing
        roll.append(rng.uniform(-np.pi, np.pi, _BLOCK))
        pitch.append(rng.uniform(-np.pi / 2, np.pi / 2, _BLOCK))
        joints.append(rng.uniform(low, high, (_BLOCK, len(low))))
    return np.concatenate(roll), np.concatenate(pitch), np.concatenate(joints)


def _move(
    robot: Robot, engine: Engine, start: Array, joints: Array, *, time_limit: float
) -> tuple[Array, IntArray]:
    """Drop with the standing joints, command others, then rest on those reached."""
    fallen = engine.settle(start, joints, time_limit=time_limit)
    lying = level(fallen.qpos)
    rested = engine.settle(lying, robot.get_joints(lying), time_limit=time_limit)
    fates = np.maximum(_fates(robot, fallen), _fates(robot, rested))
    return level(rested.qpos), fates


def _teleport(
    robot: Robot, engine: Engine, start: Array, joints: Array, *, time_limit: float
) -> tuple[Array, IntArray]:
    """Drop with the drawn joints, unless the robot touches itself."""
    start[:, robot.joint_adr] = joints
    colliding = robot.find_contacts(start)[1]
    fates = np.full(len(start), int(_Fate.COLLIDING))
    settled = engine.settle(
        start[~colliding], joints[~colliding], time_limit=time_limit
    )
    start[~colliding] = level(settled.qpos)
    fates[~colliding] = _fates(robot, settled)
    return start, fates


def _fates(robot: Robot, settled: Settled) -> IntArray:
    on_ground = robot.find_contacts(settled.qpos)[0].any(axis=1)
    return np.select(
        [settled.diverged, ~np.isfinite(settled.time), ~on_ground],
        [int(_Fate.DIVERGED), int(_Fate.RESTLESS), int(_Fate.AIRBORNE)],
        int(_Fate.KEPT),
    )


def level(qpos: Array) -> Array:
    """Return states, (n, nq), moved to x = y = 0 and turned to yaw 0."""
    levelled = qpos.copy()
    levelled[:, :2] = 0.0
    roll, pitch = roll_pitch(gravity_in_body(qpos[:, 3:7]))
    levelled[:, 3:7] = quat_from_roll_pitch(roll, pitch)
    return levelled


def _count(fates: IntArray) -> Draws:
    counts = np.bincount(fates, minlength=len(_Fate))
    return Draws(
        drawn=len(fates),
        kept=int(counts[_Fate.KEPT]),
        colliding=int(counts[_Fate.COLLIDING]),
        restless=int(counts[_Fate.RESTLESS]),
        diverged=int(counts[_Fate.DIVERGED]),
        airborne=int(counts[_Fate.AIRBORNE]),
    )


def _check_hope(robot: Robot, fates: IntArray) -> None:
    enough, share = _HOPELESS
    draws = _count(fates)
    if draws.drawn >= enough and draws.kept < share * draws.drawn:
        raise InputError(
            f"{robot.name} hardly ever comes to rest: of {draws.drawn} draws "
            f"{draws.kept} became poses, {draws.colliding} touched themselves, "
            f"{draws.restless} kept moving, {draws.diverged} broke the simulation, "
            f"{draws.airborne} touched no ground. "
            "Look at its gains, damping and `drop_height`, or raise `time_limit`."
        )
