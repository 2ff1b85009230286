"""Static poses of a robot: it is dropped in a random orientation and comes to rest.

Candidates come in blocks, each from its own random stream, and the first n valid ones
are the poses. So a seed gives the same poses for any batch size, and a larger n adds
poses and keeps the earlier ones.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.rotations import gravity_in_body, quat_from_roll_pitch, roll_pitch
from kaccess.base.types import Array, BoolArray, IntArray, Progress
from kaccess.config import EngineConfig, EngineName, SampleConfig
from kaccess.engines import Engine, Settled, as_engine
from kaccess.robots import Robot, find_mirror

__all__ = [
    "Stream",
    "Draws",
    "Poses",
    "draw_drops",
    "draw_poses",
    "sample_poses",
    "settle_keyframes",
]

_BLOCK = 64  # candidates per random stream; another value gives different poses
_SPARE = 1.15  # candidates per pose in a round: some do not come to rest
_MIN_DRAWS, _MIN_KEPT = 2000, 0.01  # stop if fewer than 1 % of 2000 are valid


@dataclass(frozen=True, eq=False)
class Poses:
    """Static poses of one robot, with x = y = yaw = 0.

    Args:
        robot: Robot.
        qpos: (n, nq) states; velocities are zero.
        contacts: (n, n_parts) whether each of `robot.parts` touches the ground.
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


class Stream(IntEnum):
    """Random streams of a seed: poses of different streams are independent."""

    STUDY = 0  # learners train on these
    CURVE = 1  # tests during training
    FINAL = 2  # tests of trained policies, during development
    FRESH = 3  # for `kaccess play`
    GROWTH = 4  # for `kaccess grow`
    STARTS = 5  # the starts `fresh`
    HELD_OUT = 6  # tests of trained policies, for published numbers
    CHOICE = 7  # which of the poses drawn are used
    DROPS = 8  # the starts `drop`


class _Outcome(IntEnum):
    """Whether a candidate became a pose, or why not."""

    KEPT = 0
    COLLIDING = 1
    RESTLESS = 2
    DIVERGED = 3
    AIRBORNE = 4


@dataclass(frozen=True)
class Draws:
    """How many candidates became poses, and why the others did not.

    Args:
        drawn: Number of candidates up to the last pose.
        kept: Candidates that became poses.
        colliding: Discarded: with the drawn joints the robot touches itself.
        restless: Discarded: not static within the time limit.
        diverged: Discarded: the simulation diverged.
        airborne: Discarded: at rest without touching the ground.
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
    engine: Engine | EngineName | EngineConfig = "mujoco",
    progress: Progress | None = None,
) -> Poses:
    """Sample static poses of a robot.

    Args:
        robot: Robot.
        n: Number of poses.
        seed: Seed of the draws.
        config: How poses are drawn; its `n`, `use` and `seed` are ignored.
        engine: Simulator, or its name or settings.
        progress: Called with (poses found, n) from time to time.

    Returns:
        n poses. A seed gives the same poses for any number of threads.

    Raises:
        InputError: If hardly any candidate comes to rest.
    """
    config = replace(config or SampleConfig(), n=n, use=None, seed=seed)
    engine = as_engine(engine, robot)
    return draw_poses(robot, config, engine=engine, progress=progress)[0]


def draw_poses(
    robot: Robot,
    config: SampleConfig,
    *,
    engine: Engine,
    stream: Stream = Stream.STUDY,
    progress: Progress | None = None,
) -> tuple[Poses, Draws]:
    """Sample poses as `sample_poses` does, and count the candidates.

    The counts are of all n poses, also if only some of them are used.

    Args:
        robot: Robot.
        config: How poses are drawn.
        engine: Simulator.
        stream: Random stream of the seed.
        progress: Called with (poses found, n) from time to time.
    """
    config = robot.scale.fit(config)
    mirror = find_mirror(robot) if config.mirror else None
    n = config.n // 2 if mirror else config.n
    qpos = np.empty((0, robot.model.nq))
    outcomes = np.empty(0, int)
    if progress:
        progress(0, n)
    rounds = _draw_rounds(robot, config, engine, n=n, stream=stream)
    for more_qpos, more_outcomes in rounds:
        qpos = np.concatenate([qpos, more_qpos[more_outcomes == _Outcome.KEPT]])
        outcomes = np.concatenate([outcomes, more_outcomes])
        if progress:
            progress(min(len(qpos), n), n)
        if len(qpos) >= n:
            break
        _check_enough_rest(robot, outcomes)

    last = np.flatnonzero(outcomes == _Outcome.KEPT)[n - 1]
    draws = _count(outcomes[: last + 1])
    qpos = _choose(qpos[:n], config)
    if mirror:
        both = np.stack([qpos, mirror.reflect_qpos(qpos)], axis=1)
        qpos = both.reshape(2 * len(qpos), -1)
    return Poses(robot, qpos, robot.find_contacts(qpos)[0], config.mirror), draws


def _choose(qpos: Array, config: SampleConfig) -> Array:
    """Return the poses to use, in the order of drawing; with `mirror`, one per pair."""
    if config.use is None:
        return qpos
    n_used = config.use // 2 if config.mirror else config.use
    rng = np.random.default_rng([config.seed, 0, Stream.CHOICE])
    return qpos[np.sort(rng.permutation(len(qpos))[:n_used])]


def draw_drops(robot: Robot, n: int, *, seed: int = 0) -> Array:
    """Draw n robots in the air, (n, nq), with random orientation and joints.

    They are at rest, at the height from which poses are dropped, and do not touch
    themselves.
    """
    kept, block = np.empty((0, robot.model.nq)), 0
    while len(kept) < n:
        blocks = range(block, block + -(-n // _BLOCK))
        roll, pitch, joints = _draw(robot, seed, blocks, Stream.DROPS)
        start = _place_above(robot, roll, pitch, robot.drop_height)
        start[:, robot.joint_adr] = joints
        kept = np.concatenate([kept, start[~robot.find_contacts(start)[1]]])
        block = blocks.stop
    return kept[:n]


def _place_above(robot: Robot, roll: Array, pitch: Array, height: float) -> Array:
    """Return standing robots, (b, nq), turned and lifted to a height [m]."""
    start = np.repeat(robot.standing[None], len(roll), axis=0)
    start[:, :2] = 0.0
    start[:, 2] = height
    start[:, 3:7] = quat_from_roll_pitch(roll, pitch)
    return start


def settle_keyframes(robot: Robot, names: Sequence[str], *, engine: Engine) -> Array:
    """Return the states, (k, nq), in which a robot comes to rest from keyframes."""
    keys = [robot.keyframes[name] for name in names]
    settled = engine.settle(
        np.array([key.qpos for key in keys]),
        np.array([key.ctrl for key in keys]),
        time_limit=robot.scale.fit(SampleConfig().time_limit),
    )
    return level(settled.qpos)


def _draw_rounds(
    robot: Robot, config: SampleConfig, engine: Engine, *, n: int, stream: Stream
) -> Iterator[tuple[Array, IntArray]]:
    """Yield candidates at rest and their outcomes, in endless rounds."""
    most = engine.batch_size // 4  # small rounds, so that progress is shown often
    n_blocks = max(1, round(min(_SPARE * n, most) / _BLOCK))
    first = 0
    while True:
        blocks = range(first, first + n_blocks)
        roll, pitch, joints = _draw(robot, config.seed, blocks, stream)
        height = config.drop_height or robot.drop_height
        start = _place_above(robot, roll, pitch, height)
        drop = _move if config.draw == "move" else _teleport
        yield drop(robot, engine, start, joints, time_limit=config.time_limit)
        first += n_blocks


def _draw(
    robot: Robot, seed: int, blocks: range, stream: Stream = Stream.STUDY
) -> tuple[Array, Array, Array]:
    """Draw roll, (b,), pitch, (b,), and joints, (b, nu), of some blocks."""
    low, high = robot.joint_range.T
    roll, pitch, joints = [], [], []
    for block in blocks:
        rng = np.random.default_rng([seed, block, stream])  # a trailing 0 has no effect
        roll.append(rng.uniform(-np.pi, np.pi, _BLOCK))
        pitch.append(rng.uniform(-np.pi / 2, np.pi / 2, _BLOCK))
        joints.append(rng.uniform(low, high, (_BLOCK, len(low))))
    return np.concatenate(roll), np.concatenate(pitch), np.concatenate(joints)


def _move(
    robot: Robot, engine: Engine, start: Array, joints: Array, *, time_limit: float
) -> tuple[Array, IntArray]:
    """Drop with the standing joints, command the drawn ones, hold those reached."""
    fallen = engine.settle(start, joints, time_limit=time_limit)
    lying = level(fallen.qpos)
    rested = engine.settle(lying, robot.get_joints(lying), time_limit=time_limit)
    outcomes = np.maximum(_judge(robot, fallen), _judge(robot, rested))
    return level(rested.qpos), outcomes


def _teleport(
    robot: Robot, engine: Engine, start: Array, joints: Array, *, time_limit: float
) -> tuple[Array, IntArray]:
    """Drop with the drawn joints, unless the robot touches itself."""
    start[:, robot.joint_adr] = joints
    colliding = robot.find_contacts(start)[1]
    outcomes = np.full(len(start), int(_Outcome.COLLIDING))
    settled = engine.settle(
        start[~colliding], joints[~colliding], time_limit=time_limit
    )
    start[~colliding] = level(settled.qpos)
    outcomes[~colliding] = _judge(robot, settled)
    return start, outcomes


def _judge(robot: Robot, settled: Settled) -> IntArray:
    """Return the outcome of each candidate, (b,)."""
    on_ground = robot.find_contacts(settled.qpos)[0].any(axis=1)
    return np.select(
        [settled.diverged, ~np.isfinite(settled.time), ~on_ground],
        [int(_Outcome.DIVERGED), int(_Outcome.RESTLESS), int(_Outcome.AIRBORNE)],
        int(_Outcome.KEPT),
    )


def level(qpos: Array) -> Array:
    """Return states, (n, nq), moved to x = y = 0 and rotated to yaw 0."""
    levelled = qpos.copy()
    levelled[:, :2] = 0.0
    roll, pitch = roll_pitch(gravity_in_body(qpos[:, 3:7]))
    levelled[:, 3:7] = quat_from_roll_pitch(roll, pitch)
    return levelled


def _count(outcomes: IntArray) -> Draws:
    counts = np.bincount(outcomes, minlength=len(_Outcome))
    return Draws(
        drawn=len(outcomes),
        kept=int(counts[_Outcome.KEPT]),
        colliding=int(counts[_Outcome.COLLIDING]),
        restless=int(counts[_Outcome.RESTLESS]),
        diverged=int(counts[_Outcome.DIVERGED]),
        airborne=int(counts[_Outcome.AIRBORNE]),
    )


def _check_enough_rest(robot: Robot, outcomes: IntArray) -> None:
    """Raise `InputError` if hardly any candidate became a pose."""
    draws = _count(outcomes)
    if draws.drawn >= _MIN_DRAWS and draws.kept < _MIN_KEPT * draws.drawn:
        raise InputError(
            f"{robot.name} hardly ever comes to rest: of {draws.drawn} draws "
            f"{draws.kept} became poses, {draws.colliding} touched themselves, "
            f"{draws.restless} kept moving, {draws.diverged} diverged and "
            f"{draws.airborne} did not touch the ground. "
            "Check its gains, damping and `drop_height`, or raise `time_limit`."
        )
