"""Tiles of the time matrix, estimated by the machines of a cluster.

A few pairs are estimated twice, on different nodes, and compared: with an engine on
CPUs, the results must be equal bit for bit.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kaccess.access import Transitions, merge_rows
from kaccess.base.types import IntArray, Progress
from kaccess.distribute.jobs import BATCH_SIZE, Pairs
from kaccess.distribute.pool import Pool

__all__ = ["Agreement", "ClusterTiles"]

logger = logging.getLogger(__name__)

_N_PAIRS = 16  # pairs that are estimated twice
_TASKS = 8  # per worker at least, before tiles are joined to larger tasks
_LAST_SECONDS = 60.0  # to wait for comparisons at the end
_MOST_DIFFERENT = 0.2  # share of outcomes that may differ on GPUs


class ClusterTiles:
    """Estimates tiles on a cluster.

    Args:
        pool: Workers with a `TileJob`.
        n: Number of poses.
        exact: Whether results on different nodes must be equal bit for bit.
    """

    def __init__(self, pool: Pool, n: int, *, exact: bool) -> None:
        self._pool, self._n, self._exact = pool, n, exact

    def __call__(
        self, todo: list[range], progress: Progress
    ) -> Iterator[tuple[range, Transitions]]:
        """Yield rows and their transitions, in any order."""
        agreement = Agreement(self._pool, exact=self._exact)
        tasks = merge_rows(todo, self._choose_rows(todo)) if todo else []
        for rows, tile, node in self._pool.run(tasks, self._count_pairs):
            yield rows, tile
            agreement.add(node, rows, tile)
        agreement.finish()

    def _count_pairs(self, rows: range) -> int:
        return self._n * len(rows)

    def _choose_rows(self, todo: list[range]) -> int:
        """Return the most rows of a task: a batch, but some tasks for every worker."""
        batch = int(self._pool.ask(BATCH_SIZE))
        share = sum(map(len, todo)) // (_TASKS * self._pool.n_workers)
        return min(batch // self._n, share)


@dataclass(frozen=True)
class _Sample:
    """Pairs that a node has estimated."""

    node: str
    pairs: Pairs
    found: Transitions


class Agreement:
    """Compares nodes: each repeats a few pairs of another one, once.

    Args:
        pool: Workers with a `TileJob`.
        exact: Whether results must be equal bit for bit; else nearly all outcomes.
    """

    def __init__(self, pool: Pool, *, exact: bool) -> None:
        self._pool, self._exact = pool, exact
        self._samples: dict[str, _Sample] = {}
        self._asked: set[str] = set()
        self._flying: dict[object, tuple[str, _Sample]] = {}

    def add(self, node: str, rows: range, tile: Transitions) -> None:
        """Note a tile; ask a node that is new to repeat pairs of another one."""
        if node not in self._samples:
            self._samples[node] = _take_sample(node, rows, tile)
        if len(self._samples) > 1 and len(self._asked) < len(self._samples):
            for each in self._samples.keys() - self._asked:
                other = next(s for s in self._samples.values() if s.node != each)
                ref = self._pool.send_to(each, other.pairs)
                self._flying[ref] = (each, other)
                self._asked.add(each)
        if self._flying:
            self._collect(0.0)

    def finish(self) -> None:
        """Wait for the last comparisons."""
        if self._flying:
            self._collect(_LAST_SECONDS)

    def _collect(self, seconds: float) -> None:
        for ref, result in self._pool.collect(list(self._flying), seconds):
            node, sample = self._flying.pop(ref)
            if result is not None:
                self._compare(node, sample, result)

    def _compare(self, node: str, sample: _Sample, found: Transitions) -> None:
        differ = find_differences(sample.found, found, exact=self._exact)
        if not len(differ):
            return
        source, goal = sample.pairs.source[differ[0]], sample.pairs.goal[differ[0]]
        logger.warning(
            "Nodes %s and %s disagree on %d of %d pairs, such as %d to %d: %.3f and "
            "%.3f s. Their processors or libraries differ, or one is broken; compare "
            "them before you trust the matrix.",
            self._pool.name(sample.node),
            self._pool.name(node),
            len(differ),
            len(found.times),
            source,
            goal,
            sample.found.times[differ[0]],
            found.times[differ[0]],
        )


def _take_sample(node: str, rows: range, tile: Transitions) -> _Sample:
    """Return pairs of the first row of a tile: rows of mirrored poses are even."""
    n = tile.times.shape[1]
    others = np.setdiff1d(np.arange(n), [rows.start])
    goal = others[np.linspace(0, n - 2, min(_N_PAIRS, n - 1)).astype(int)]
    pairs = Pairs(np.full(len(goal), rows.start), goal)
    found = Transitions(tile.times[0, goal], tile.outcomes[0, goal])
    return _Sample(node, pairs, found)


def find_differences(
    first: Transitions, second: Transitions, *, exact: bool
) -> IntArray:
    """Return the pairs in which two nodes differ; on GPUs a few may."""
    different = first.outcomes != second.outcomes
    if exact:
        return np.flatnonzero(different | (first.times != second.times))
    if different.mean() <= _MOST_DIFFERENT:
        return np.empty(0, int)
    return np.flatnonzero(different)
