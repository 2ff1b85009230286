"""Items of a job, done by the machines of a cluster in any order.

Only a few items per worker are on their way at a time, so a machine that dies costs
little and the results fit into memory. An item that is lost is sent again. Machines
that join are used as soon as they are there.
"""

import hashlib
import logging
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

import numpy as np

from kaccess.base.errors import InputError
from kaccess.distribute.connection import Cluster
from kaccess.distribute.nodes import Needs, Node, Tally
from kaccess.distribute.remote import Job

__all__ = ["Pool"]

logger = logging.getLogger(__name__)

_LOOK_SECONDS = 1.0  # between two looks at the list of nodes
_QUEUE_SECONDS = 0.3  # of work that waits for each worker, and at least:
_FEWEST_WAITING, _MOST_WAITING = 2, 64  # items on their way for each worker
_SILENCE = 300.0  # [s] without any result, after which the user is told
_MOST_LOSSES = 50  # items lost without a result in between: something is wrong

Item = Any
Count = Callable[[Item], int]


class Pool:
    """Workers of a cluster that all do the same job.

    Args:
        cluster: Cluster.
        job: Job; it is sent to each machine once.
        needs: What each worker needs.
        tally: Counts what each node does.
    """

    def __init__(self, cluster: Cluster, job: Job, needs: Needs, tally: Tally) -> None:
        cluster.require_room(needs)
        self._cluster, self._ray, self._needs = cluster, cluster.ray, needs
        self._tally = tally
        self._pack = self._ray.cloudpickle.dumps  # arrays that Ray sends are read-only
        content = self._pack(job)
        self._key = hashlib.sha256(content).hexdigest()
        self._job = self._ray.put(np.frombuffer(content, np.uint8))
        self._call = self._ray.remote(
            num_cpus=needs.cpus, num_gpus=needs.gpus, max_retries=-1
        )(make_call())
        self._nodes: dict[str, Node] = {}  # all that have been seen
        self._alive: dict[str, Node] = {}
        self._looked = -math.inf
        self._seconds = 1.0  # of an item, a running mean

    @property
    def n_workers(self) -> int:
        """Number of workers that have room now; at least 1."""
        now = time.monotonic()
        if now - self._looked > _LOOK_SECONDS:
            self._look()
            self._looked = now
        counts = (node.count_workers(self._needs) for node in self._alive.values())
        return max(1, sum(counts))

    def _look(self) -> None:
        """Look which nodes are alive, and tell the user about those that are not."""
        alive = self._cluster.find_nodes()
        for key in self._alive.keys() - alive.keys():
            logger.warning(
                "Node %s has left the cluster. What it had begun is done elsewhere.",
                self.name(key),
            )
        self._alive = alive
        self._nodes |= alive

    def ask(self, item: Item) -> Any:  # noqa: ANN401  # what the job returns
        """Return the result of one item; it is not counted."""
        return self._ray.get(self._send(item))[2]

    def send_to(self, node: str, item: Item) -> Any:  # noqa: ANN401  # a reference
        """Send an item to a node, to no other; return a reference to its result."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        where = NodeAffinitySchedulingStrategy(node, soft=False)
        call = self._call.options(scheduling_strategy=where, max_retries=0)
        return call.remote(self._key, self._job, self._pack(item))

    def collect(self, refs: list[Any], seconds: float) -> list[tuple[Any, Any]]:
        """Return what arrives of `send_to` within some seconds, with its reference.

        A result is None if its node has died meanwhile.
        """
        ready, _ = self._ray.wait(refs, num_returns=len(refs), timeout=seconds)
        fetched = [(ref, self._fetch(ref)) for ref in ready]
        return [(ref, None if found is None else found[2]) for ref, found in fetched]

    def name(self, node: str) -> str:
        """Return the name of a node that is or was there."""
        return self._nodes[node].name if node in self._nodes else node[:8]

    def run(
        self, items: Iterable[Item], count: Count = lambda _: 1
    ) -> Iterator[tuple[Item, Any, str]]:
        """Yield each item, its result, and the key of the node, as they arrive.

        Args:
            items: Items.
            count: Returns how many units of work an item is.

        Raises:
            InputError: If a worker refuses an item, or workers die again and again.
        """
        waiting = iter(items)
        flying: dict[Any, Item] = {}
        losses, heard = 0, time.monotonic()
        try:
            while True:
                self._fill(flying, waiting)
                if not flying:
                    return
                arrived = self._wait(list(flying))
                for ref in arrived:
                    item = flying.pop(ref)
                    result = self._fetch(ref)
                    if result is None:
                        losses += 1
                        self._check_losses(losses)
                        flying[self._send(item)] = item
                        continue
                    losses, heard = 0, time.monotonic()
                    node, seconds, found = result
                    self._count(node, count(item), seconds)
                    yield item, found, node
                heard = self._mind_silence(heard)
        finally:
            self._cancel(flying)

    def _fill(self, flying: dict[Any, Item], waiting: Iterator[Item]) -> None:
        """Send items until enough are on their way."""
        each = math.ceil(_QUEUE_SECONDS / max(self._seconds, 1e-6))
        each = min(max(each, _FEWEST_WAITING), _MOST_WAITING)
        for _ in range(self.n_workers * each - len(flying)):
            item = next(waiting, _END)
            if item is _END:
                return
            flying[self._send(item)] = item

    def _send(self, item: Item) -> Any:  # noqa: ANN401  # an object reference
        return self._call.remote(self._key, self._job, self._pack(item))

    def _wait(self, refs: list[Any]) -> list[Any]:
        """Return what has arrived; wait a little for the first."""
        first, _ = self._ray.wait(refs, num_returns=1, timeout=_LOOK_SECONDS)
        if not first:
            return []
        arrived, _ = self._ray.wait(refs, num_returns=len(refs), timeout=0)
        return list(arrived) or first

    def _fetch(self, ref: Any) -> Any:  # noqa: ANN401  # a reference, a result
        """Return a result; None if it is lost with its machine."""
        exceptions = self._ray.exceptions
        try:
            return self._ray.get(ref)
        except exceptions.RayTaskError as error:
            raise explain_failure(error) from error
        except (exceptions.RayError, ConnectionError) as error:
            logger.debug("An item is sent again: %s", error)
            return None

    def _count(self, node: str, units: int, seconds: float) -> None:
        self._seconds += 0.1 * (seconds - self._seconds)
        if node not in self._nodes:
            self._nodes |= self._cluster.find_nodes()
        self._tally.add(node, self.name(node), units, seconds)

    def _check_losses(self, n: int) -> None:
        if n > _MOST_LOSSES:
            raise InputError(
                f"{n} results in a row were lost with the processes that made them. "
                "Check the memory of the machines, and the logs of Ray there."
            )

    def _mind_silence(self, heard: float) -> float:
        """Tell the user if nothing has come for long; return when to count from."""
        if time.monotonic() - heard < _SILENCE:
            return heard
        alive = len(self._cluster.find_nodes())
        logger.warning(
            "Nothing has come from the cluster for %.0f minutes; %d nodes are alive. "
            "The work goes on as soon as one of them has room.",
            _SILENCE / 60,
            alive,
        )
        return time.monotonic()

    def _cancel(self, refs: Iterable[Any]) -> None:
        """Stop what is on its way: nobody waits for it any more."""
        for ref in refs:
            with suppress(Exception):
                self._ray.cancel(ref, force=True)


_END = object()


def make_call() -> Any:  # noqa: ANN401  # a function
    """Return the function that nodes run; Ray sends it itself, not its name."""

    def call(key: str, job: Any, item: Any) -> Any:  # noqa: ANN401
        import ray

        try:
            from kaccess.distribute.remote import work
        except ImportError as error:
            raise ImportError(f"kaccess cannot be imported: {error}") from error
        return work(key, job, item, ray.get_runtime_context().get_node_id())

    return call


def explain_failure(error: Any) -> Exception:  # noqa: ANN401  # of Ray
    """Return the error that a worker has met as one of this process."""
    cause = error.cause if isinstance(error.cause, Exception) else error
    if isinstance(cause, ImportError) or "No module named 'kaccess" in str(cause):
        return InputError(
            f"A node of the cluster cannot work: {cause}. Install the same version of "
            "kaccess there, then run the same command again."
        )
    if isinstance(cause, InputError):
        return InputError(str(cause))
    return cause


def split_evenly(n: int, n_parts: int) -> Sequence[slice]:
    """Return slices that split n items into parts of nearly equal size."""
    ends = np.linspace(0, n, max(1, min(n, n_parts)) + 1).astype(int)
    return [slice(a, b) for a, b in pairwise(ends)]
