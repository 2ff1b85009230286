"""An engine whose simulations are spread over the machines of a cluster."""

import math
from functools import cached_property

import numpy as np

from kaccess.base.types import Array, Progress
from kaccess.config import EngineConfig, StillConfig
from kaccess.distribute.connection import Cluster
from kaccess.distribute.jobs import BATCH_SIZE, Batch, SettleJob, fit_to_workers
from kaccess.distribute.nodes import Tally
from kaccess.distribute.pool import Pool, split_evenly
from kaccess.engines import Settled
from kaccess.engines.motion import Motion
from kaccess.robots import Robot

__all__ = ["ClusterEngine"]

_FEWEST = 64  # simulations in a part, or sending it takes as long as the work
_PARTS = 3  # per worker, so that none waits for long for the last one


class ClusterEngine:
    """Simulates robots on a cluster until they are at rest.

    Each result depends on its own row only, so it does not matter where it is computed.

    Args:
        cluster: Cluster.
        robot: Robot to simulate.
        still: When it counts as static.
        engine: Simulator of each worker.
        tally: Counts what each node does.
    """

    def __init__(
        self,
        cluster: Cluster,
        robot: Robot,
        still: StillConfig | None,
        engine: EngineConfig,
        tally: Tally,
    ) -> None:
        config, needs = fit_to_workers(engine)
        job = SettleJob(robot, still, config, robot.fingerprint)
        self._pool = Pool(cluster, job, needs, tally)

    @property
    def batch_size(self) -> int:
        """Simulations to pass in one call to keep all workers busy."""
        return self._batch_of_worker * self._pool.n_workers

    @cached_property
    def _batch_of_worker(self) -> int:
        return int(self._pool.ask(BATCH_SIZE))

    def settle(
        self,
        qpos: Array,
        targets: Array | Motion,
        *,
        time_limit: float,
        progress: Progress | None = None,
    ) -> Settled:
        """Command `targets` from rest at `qpos`, until static or out of time."""
        settled = Settled(
            qpos=np.array(qpos, dtype=np.float64),
            time=np.full(len(qpos), np.inf),
            diverged=np.zeros(len(qpos), bool),
        )
        parts = self._split(len(qpos)) if len(qpos) else []
        where = {part.start: part for part in parts}
        batches = (
            Batch(part.start, qpos[part], targets[part], time_limit) for part in parts
        )
        done = 0
        for batch, found, _ in self._pool.run(batches, lambda each: len(each.qpos)):
            part = where[batch.start]
            settled.qpos[part], settled.time[part] = found.qpos, found.time
            settled.diverged[part] = found.diverged
            done += len(found.time)
            if progress:
                progress(done, len(qpos))
        return settled

    def _split(self, n: int) -> list[slice]:
        """Return slices of n simulations, one for each part."""
        few = min(_PARTS * self._pool.n_workers, math.ceil(n / _FEWEST))
        return list(split_evenly(n, max(few, math.ceil(n / self._batch_of_worker))))
