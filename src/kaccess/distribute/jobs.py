"""Jobs of simulators: tiles of the time matrix, and robots that come to rest."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from kaccess.access import Transitions, estimate_rows
from kaccess.access.estimate import estimate_pairs
from kaccess.access.landings import Nodes
from kaccess.base.errors import InputError
from kaccess.base.types import Array, IntArray
from kaccess.config import AccessConfig, EngineConfig, StillConfig
from kaccess.distribute.nodes import Needs
from kaccess.engines import Engine, Settled, make_engine
from kaccess.engines.motion import Motion
from kaccess.poses import Poses
from kaccess.robots import Robot

__all__ = ["BATCH_SIZE", "Batch", "Pairs", "SettleJob", "TileJob", "fit_to_workers"]

BATCH_SIZE = "batch size"
"""Item that asks how many simulations a worker should get in one call."""


def fit_to_workers(engine: EngineConfig) -> tuple[EngineConfig, Needs]:
    """Return the settings of the engine of one worker, and what a worker needs.

    A worker has a GPU of its own if the engine runs on GPUs, else as many CPUs as the
    engine has threads: one, if the user has not said how many.

    Raises:
        InputError: If a GPU is named: Ray gives each worker one of its own.
    """
    if engine.device not in (None, "cpu"):
        raise InputError(
            f"`--device {engine.device}` has no effect with `--cluster`: each worker "
            "gets a GPU of its own. Leave it out."
        )
    if engine.engine == "warp" and engine.device is None:
        return engine, Needs(gpus=1)
    threads = engine.threads or 1
    return replace(engine, threads=threads), Needs(cpus=threads)


@dataclass(frozen=True)
class Batch:
    """Robots to simulate until they are at rest.

    Args:
        start: Number of the first of them.
        qpos: (b, nq) states to start from, as in `Engine.settle`, like the others.
        targets: (b, nu) joint targets, or a motion of them.
        time_limit: Simulated time [s].
    """

    start: int
    qpos: Array
    targets: Array | Motion
    time_limit: float


@dataclass(frozen=True)
class SettleJob:
    """Simulates robots until they are at rest.

    Args:
        robot: Robot.
        still: When it counts as static.
        engine: Simulator.
        model: Hash of the robot's model, to be sure that it has arrived unchanged.
    """

    robot: Robot
    still: StillConfig | None
    engine: EngineConfig
    model: str

    def start(self) -> Callable[[Batch | str], Settled | int]:
        """Make the simulator; return a function of a batch."""
        check_model(self.robot, self.model)
        engine = make_engine(self.engine, self.robot, self.still)

        def settle(batch: Batch | str) -> Settled | int:
            if isinstance(batch, str):
                return engine.batch_size
            return engine.settle(batch.qpos, batch.targets, time_limit=batch.time_limit)

        return settle


@dataclass(frozen=True)
class Pairs:
    """Pairs of poses whose transitions are wanted, (b,) each."""

    source: IntArray
    goal: IntArray


@dataclass(frozen=True)
class TileJob:
    """Estimates the transitions of tiles.

    Args:
        poses: Poses of a study.
        config: Time limit, and tolerances that decide when a pose is reached.
        still: When a robot counts as static.
        engine: Simulator.
        model: Hash of the robot's model, to be sure that it has arrived unchanged.
        standing: (nq,) standing state at rest, to find landings; None for none.
        with_states: Whether the states in which moves end are wanted.
    """

    poses: Poses
    config: AccessConfig
    still: StillConfig
    engine: EngineConfig
    model: str
    standing: Array | None
    with_states: bool

    def start(self) -> Callable[[range | Pairs | str], Transitions | int]:
        """Make the simulator; return a function of the rows of a tile, or of pairs."""
        check_model(self.poses.robot, self.model)
        engine = make_engine(self.engine, self.poses.robot, self.still)
        nodes = None
        if self.standing is not None:
            nodes = Nodes(self.poses.robot, self.poses.qpos, self.standing, self.config)
        return lambda item: self._estimate(item, engine, nodes)

    def _estimate(
        self, item: range | Pairs | str, engine: Engine, nodes: Nodes | None
    ) -> Transitions | int:
        if isinstance(item, str):
            return engine.batch_size
        if isinstance(item, Pairs):
            return estimate_pairs(
                self.poses, item.source, item.goal, self.config, engine=engine
            )
        tile = estimate_rows(self.poses, item, self.config, engine=engine, nodes=nodes)
        if tile.landings is None or self.with_states:
            return tile
        return replace(tile, landings=replace(tile.landings, states=None))


def check_model(robot: Robot, model: str) -> None:
    """Raise `InputError` if a robot is not the one that was sent."""
    if robot.fingerprint != model:
        raise InputError(
            f"The model of {robot.name} has arrived changed on a node of the cluster: "
            "its MuJoCo differs. Install the same version everywhere."
        )
