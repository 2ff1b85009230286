"""Where the work of a stage is done: in this process, or on a cluster."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from kaccess.access.landings import Nodes
from kaccess.config import AccessConfig, EngineConfig, EngineName, StillConfig
from kaccess.distribute.connection import Cluster, connect
from kaccess.distribute.engine import ClusterEngine
from kaccess.distribute.jobs import TileJob, fit_to_workers
from kaccess.distribute.nodes import Tally
from kaccess.distribute.pool import Pool
from kaccess.distribute.tiles import ClusterTiles
from kaccess.engines import Engine, make_engine, make_replayer
from kaccess.robots import Robot
from kaccess.study import Study
from kaccess.study.transitions import ComputeTiles, LocalTiles

__all__ = ["ClusterWork", "Here", "Workplace", "open_workplace"]

logger = logging.getLogger(__name__)

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

    def report(self) -> None:
        """Say what each node has done."""
        for tally in self._tallies.values():
            for line in tally.describe():
                logger.info(line)


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
