"""Where the work of a stage is done: in this process, or on a cluster."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from kaccess.access.landings import Nodes
from kaccess.base.errors import InputError
from kaccess.base.types import Progress, TrainProgress
from kaccess.config import (
    AccessConfig,
    EngineConfig,
    EngineName,
    EvaluateConfig,
    SacConfig,
    StillConfig,
    Threads,
    TrainConfig,
    check_number,
)
from kaccess.distribute.connection import Cluster, connect
from kaccess.distribute.engine import ClusterEngine
from kaccess.distribute.jobs import TileJob, fit_to_workers
from kaccess.distribute.nodes import Tally
from kaccess.distribute.pool import Pool
from kaccess.distribute.tiles import ClusterTiles
from kaccess.engines import Engine, make_engine, make_replayer
from kaccess.robots import Robot
from kaccess.study import Study
from kaccess.study.parcel import pack_study
from kaccess.study.transitions import ComputeTiles, LocalTiles

if TYPE_CHECKING:
    from kaccess.evaluation import Evaluation

__all__ = ["ClusterWork", "Here", "Workplace", "open_workplace"]

_AnyEngine = EngineName | EngineConfig


class Workplace(Protocol):
    """Makes the simulators of a stage."""

    def make_engine(
        self, engine: _AnyEngine, robot: Robot, still: StillConfig | None = None
    ) -> Engine:
        """Return an engine for a robot."""
        ...

    def make_replayer(
        self, engine: _AnyEngine, robot: Robot, still: StillConfig
    ) -> Engine:
        """Return an engine for a few simulations at a time."""
        ...

    def make_tiles(
        self,
        study: Study,
        config: AccessConfig,
        engine: _AnyEngine,
        simulator: Engine,
        nodes: Nodes | None,
    ) -> ComputeTiles:
        """Return what estimates tiles; `simulator` is what `make_engine` returned."""
        ...

    def evaluate(
        self,
        study: Study,
        config: EvaluateConfig,
        *,
        engine: _AnyEngine,
        progress: Progress | None,
    ) -> "list[Evaluation]":
        """Test all policies of a study."""
        ...

    def train(
        self,
        study: Study,
        config: TrainConfig,
        sac: SacConfig,
        *,
        device: str,
        n_threads: int,
        progress: TrainProgress | None,
    ) -> Path:
        """Train learners on a study; return the folder of the runs."""
        ...


class Here:
    """This process."""

    make_engine = staticmethod(make_engine)
    make_replayer = staticmethod(make_replayer)

    def make_tiles(
        self,
        study: Study,
        config: AccessConfig,
        engine: _AnyEngine,
        simulator: Engine,
        nodes: Nodes | None,
    ) -> ComputeTiles:
        """Return what estimates tiles one after the other."""
        return LocalTiles(study.poses, config, simulator, nodes)

    def evaluate(
        self,
        study: Study,
        config: EvaluateConfig,
        *,
        engine: _AnyEngine,
        progress: Progress | None,
    ) -> "list[Evaluation]":
        """Test all policies of a study, one after the other."""
        from kaccess.evaluation.evaluate import evaluate_study

        return evaluate_study(study, config, engine=engine, progress=progress)

    def train(
        self,
        study: Study,
        config: TrainConfig,
        sac: SacConfig,
        *,
        device: str,
        n_threads: int,
        progress: TrainProgress | None,
    ) -> Path:
        """Train all learners at once; return the folder of the runs."""
        from kaccess.training import train_learners

        return train_learners(
            study, config, sac, device=device, n_threads=n_threads, progress=progress
        )


class ClusterWork:
    """The machines of a cluster.

    Args:
        cluster: Cluster.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._tallies: dict[str, Tally] = {}

    def count(self, unit: str) -> Tally:
        """Return the tally of what each node does, in some unit."""
        return self._tallies.setdefault(unit, Tally(unit))

    def make_engine(
        self, engine: _AnyEngine, robot: Robot, still: StillConfig | None = None
    ) -> Engine:
        """Return an engine that spreads simulations over the cluster."""
        tally = self.count("simulations")
        config = EngineConfig.of(engine)
        return ClusterEngine(self.cluster, robot, still, config, tally)

    def make_replayer(
        self, engine: _AnyEngine, robot: Robot, still: StillConfig
    ) -> Engine:
        """Return an engine on CPUs of the cluster."""
        config = EngineConfig.of(engine)
        if config.engine == "warp":
            config = EngineConfig(threads=config.threads)
        return self.make_engine(config, robot, still)

    def make_tiles(
        self,
        study: Study,
        config: AccessConfig,
        engine: _AnyEngine,
        simulator: Engine,
        nodes: Nodes | None,
    ) -> ComputeTiles:
        """Return what estimates tiles on the cluster, each on one worker."""
        settings, needs = fit_to_workers(EngineConfig.of(engine))
        job = TileJob(
            study.poses,
            config,
            study.still,
            settings,
            study.robot.fingerprint,
            None if nodes is None else nodes.qpos[-1],
            study.arrays.has_states,
        )
        pool = Pool(self.cluster, job, needs, self.count("pairs"))
        return ClusterTiles(pool, study.n_poses, exact=settings.engine != "warp")

    def evaluate(
        self,
        study: Study,
        config: EvaluateConfig,
        *,
        engine: _AnyEngine,
        progress: Progress | None,
    ) -> "list[Evaluation]":
        """Test all policies of a study, each on one worker."""
        from kaccess.distribute.scores import score_on
        from kaccess.evaluation.evaluate import evaluate_study

        score = partial(score_on, self.cluster, self.count("policies"))
        return evaluate_study(
            study, config, engine=engine, score=score, progress=progress
        )

    def train(
        self,
        study: Study,
        config: TrainConfig,
        sac: SacConfig,
        *,
        device: str,
        n_threads: int,
        progress: TrainProgress | None,
    ) -> Path:
        """Train the learners of each seed on one worker."""
        from kaccess.distribute.learners import TrainJob, choose_needs, train_on

        check_number(Threads, threads=n_threads)
        needs = choose_needs(self.cluster, device, n_threads)
        where = "cuda" if needs.gpus else "cpu"
        if config.engine == "warp" and not needs.gpus and device != "cpu":
            raise InputError(
                "The engine warp needs NVIDIA GPUs, and no node of the cluster has "
                "one. Choose the engine mujoco."
            )
        job = TrainJob(study.robot, pack_study(study), sac, where, needs.cpus)
        tally = self.count("seeds")
        return train_on(self.cluster, study, config, job, needs, tally, progress)

    def report(self) -> None:
        """Say what each node has done."""
        for tally in self._tallies.values():
            tally.tell()


@contextmanager
def open_workplace(cluster: str | None) -> Iterator[Workplace]:
    """Yield this process, or connect to a cluster within this block.

    Args:
        cluster: None for this process, else `auto`, `ray://HOST:PORT` or `local:N`.
    """
    if cluster is None:
        yield Here()
        return
    with connect(cluster) as found:
        place = ClusterWork(found)
        yield place
        place.report()
