"""The machines of a cluster: what they offer, and how fast each of them works."""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

__all__ = ["Needs", "Node", "Tally", "find_nodes"]

logger = logging.getLogger(__name__)

_SLOW = 0.5  # of the median rate of a worker: below, a node is much slower
_TOLD = 300.0  # [s] between two reports of all rates
_FEWEST_PARTS = 3  # parts of a node and its peers, before they are compared


@dataclass(frozen=True)
class Needs:
    """What a worker needs of a machine: a number of CPUs or GPUs."""

    cpus: int = 1
    gpus: int = 0

    def __str__(self) -> str:
        return "a GPU" if self.gpus else f"{self.cpus} CPU{'s'[: self.cpus - 1]}"


@dataclass(frozen=True)
class Node:
    """A machine of a cluster that is alive.

    Args:
        key: Its key in Ray.
        name: Its name for people.
        cpus: Number of CPUs that it offers.
        gpus: Number of GPUs that it offers.
    """

    key: str
    name: str
    cpus: int
    gpus: int

    def count_workers(self, needs: Needs) -> int:
        """Return how many workers have room on it."""
        by_cpus = self.cpus // needs.cpus
        return min(by_cpus, self.gpus // needs.gpus) if needs.gpus else by_cpus


def find_nodes(listed: list[dict[str, Any]]) -> dict[str, Node]:
    """Return the nodes that are alive, by key, from what `ray.nodes()` returns."""
    alive = [each for each in listed if each["Alive"]]
    hosts = [_name_host(each) for each in alive]
    return {
        each["NodeID"]: Node(
            each["NodeID"],
            host if hosts.count(host) == 1 else f"{host}/{each['NodeID'][:6]}",
            int(each["Resources"].get("CPU", 0)),
            int(each["Resources"].get("GPU", 0)),
        )
        for each, host in zip(alive, hosts, strict=True)
    }


def _name_host(listed: dict[str, Any]) -> str:
    return str(listed.get("NodeManagerHostname") or listed.get("NodeManagerAddress"))


@dataclass
class _Work:
    """What one node has done."""

    name: str
    ended: float
    units: int = 0
    parts: int = 0
    busy: float = 0.0  # [s], of all workers together
    active: float = 0.0  # [s], in which some worker was busy

    @property
    def rate_of_worker(self) -> float:
        return self.units / self.busy if self.busy > 0 else 0.0


@dataclass
class Tally:
    """Counts what each node does, and warns once about one that is much slower.

    Args:
        unit: What is counted, in the plural.
    """

    unit: str
    _works: dict[str, _Work] = field(default_factory=dict)
    _warned: set[str] = field(default_factory=set)
    _told: float = field(default_factory=time.monotonic)

    def add(self, key: str, name: str, units: int, seconds: float) -> None:
        """Count a part that a worker of a node has done in some seconds."""
        now = time.monotonic()
        work = self._works.setdefault(key, _Work(name, now - seconds))
        work.units, work.parts = work.units + units, work.parts + 1
        work.active += min(seconds, now - work.ended)
        work.busy, work.ended = work.busy + seconds, now
        self._warn_if_slow(key)
        if now - self._told > _TOLD:
            self.tell()

    def tell(self) -> None:
        """Say what each node has done so far."""
        self._told = time.monotonic()
        for line in self.describe():
            logger.info(line)

    def find_slow(self) -> Mapping[str, float]:
        """Return nodes whose workers are much slower, and their share of the median."""
        rates = {
            key: work.rate_of_worker
            for key, work in self._works.items()
            if work.parts >= _FEWEST_PARTS and work.busy > 0
        }
        if len(rates) < 2:
            return {}
        shares = {
            key: rate / median(r for other, r in rates.items() if other != key)
            for key, rate in rates.items()
        }
        return {key: share for key, share in shares.items() if share < _SLOW}

    def _warn_if_slow(self, key: str) -> None:
        share = self.find_slow().get(key)
        if share is not None and key not in self._warned:
            self._warned.add(key)
            logger.warning(
                "Node %s is slow: a worker there has %.0f %% of the usual rate. Other "
                "work may run on it.",
                self._works[key].name,
                100 * share,
            )

    def describe(self) -> list[str]:
        """Return what each node has done, a sentence each, the fastest first."""
        works = self._works.values()
        rates = {work.name: work.units / max(work.active, 1e-9) for work in works}
        return [
            f"Node {work.name}: {work.units:,} {self.unit}, {rates[work.name]:,.3g}/s."
            for work in sorted(works, key=lambda work: -rates[work.name])
        ]
