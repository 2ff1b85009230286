"""How far simulators agree: on which poses are reached, how fast, and on clusters.

Each engine estimates all pairs of some poses. To separate rounding from differences
between the models, the first engine repeats this from nudged poses, which differ by
about the resolution of single precision. A pair whose result then changes is called
sensitive: no engine can be called wrong there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import permutations
from time import perf_counter

import numpy as np

from kaccess.access.estimate import Transitions, accessibility, estimate_rows
from kaccess.base.errors import InputError
from kaccess.base.progress import scale_progress
from kaccess.base.types import Array, BoolArray, Progress
from kaccess.cluster import KAccess, assess, select_k
from kaccess.config import AccessConfig, Count, Seed, check_number
from kaccess.engines import Engine
from kaccess.poses import Poses

__all__ = [
    "Agreement",
    "EngineComparison",
    "Transfer",
    "compare_engines",
    "judge_transfers",
    "measure_agreement",
    "nudge_poses",
]

_NUDGE = 1e-6  # [rad]: single precision rounds Bittle's joints to 1e-7
_N_NUDGES = 4
_MOST_CLUSTERS = 60


@dataclass(frozen=True)
class Agreement:
    """How far two estimates of the same pairs agree; its fields are keys of JSON files.

    Args:
        n_pairs: Number of pairs compared, without those from a pose to itself.
        same: Number of pairs where both or neither reach the goal.
        both: Number of pairs where both reach the goal.
        only_first: Number of pairs where only the first reaches it.
        only_second: Number of pairs where only the second reaches it.
        same_time: Number of pairs where both reach it after equally many steps.
        later: Second time minus first: 5, 25, 50, 75 and 95 % quantiles [s].
        touchy: Number of sensitive pairs among those where only one reaches it.
    """

    n_pairs: int
    same: int
    both: int
    only_first: int
    only_second: int
    same_time: int
    later: tuple[float, ...]
    touchy: int


@dataclass(frozen=True)
class Transfer:
    """K-Access centroids of one engine's matrix, evaluated on another's.

    Args:
        k: Number of clusters with the best index on the first matrix.
        index: Index of the centroids on the first matrix.
        coverage: Share of poses that a centroid reaches, on the first matrix.
        other_index: Index of the same centroids on the second matrix.
        other_coverage: Coverage of the same centroids on the second matrix.
    """

    k: int
    index: float
    coverage: float
    other_index: float
    other_coverage: float


@dataclass(frozen=True)
class EngineComparison:
    """Results of several engines on the same pairs.

    Args:
        poses: Indices of the poses whose pairs were estimated.
        reached: Share of pairs that reach the goal, by engine.
        seconds: Wall time [s], by engine.
        agreements: Agreement, by ordered pair of engines: "first, second".
        transfers: Transfer of centroids, by ordered pair of engines.
        touchy: Share of sensitive pairs.
    """

    poses: tuple[int, ...]
    reached: dict[str, float]
    seconds: dict[str, float]
    agreements: dict[str, Agreement]
    transfers: dict[str, Transfer]
    touchy: float


def compare_engines(
    poses: Poses,
    engines: Mapping[str, Engine],
    config: AccessConfig,
    *,
    n_pairs: int = 2000,
    seed: int = 0,
    progress: Progress | None = None,
) -> EngineComparison:
    """Estimate the same pairs on several engines.

    Args:
        poses: Poses to choose from.
        engines: Engines by name; the first one also simulates the nudged poses.
        config: Time limit, and tolerances within which a pose counts as reached.
        n_pairs: Approximate number of pairs.
        seed: Seed of the choice of poses, and of the nudges.
        progress: Called with (simulations done, total) from time to time.
    """
    check_number(Count, pairs=n_pairs)
    check_number(Seed, seed=seed)
    rng = np.random.default_rng(seed)
    chosen = _choose_poses(poses, n_pairs, rng)
    some = replace(
        poses,
        qpos=poses.qpos[chosen],
        contacts=poses.contacts[chosen],
        mirrored=False,
    )
    runs = [(some, engine) for engine in engines.values()]
    first = next(iter(engines.values()))
    runs += [(nudge_poses(some, rng), first) for _ in range(_N_NUDGES)]
    estimates, seconds = _estimate_all(runs, config, progress)
    found = dict(zip(engines, estimates, strict=False))
    sensitive = _find_differing(estimates[0], estimates[len(engines) :])
    off = _mask_diagonal(sensitive)
    return EngineComparison(
        poses=tuple(int(pose) for pose in chosen),
        reached={
            name: float(_is_reached(run)[off].mean()) for name, run in found.items()
        },
        seconds=dict(zip(engines, seconds, strict=False)),
        agreements=_measure_agreements(found, poses.robot.timestep, sensitive),
        transfers=judge_transfers(found),
        touchy=float(sensitive[off].mean()),
    )


def _measure_agreements(
    found: Mapping[str, Transitions], timestep: float, sensitive: BoolArray
) -> dict[str, Agreement]:
    """Return the agreement of each ordered pair of engines."""
    return {
        f"{a}, {b}": measure_agreement(
            found[a], found[b], timestep=timestep, sensitive=sensitive
        )
        for a, b in permutations(found, 2)
    }


def measure_agreement(
    first: Transitions, second: Transitions, *, timestep: float, sensitive: BoolArray
) -> Agreement:
    """Compare two estimates of the same pairs.

    Args:
        first: (n, n) transitions.
        second: (n, n) transitions between the same poses.
        timestep: Physics step [s].
        sensitive: (n, n) whether the result of a pair changes when poses are nudged.
    """
    off = _mask_diagonal(first.times)
    one, two = _is_reached(first)[off], _is_reached(second)[off]
    both = one & two
    later = (second.times[off][both] - first.times[off][both]).astype(np.float64)
    levels = (0.05, 0.25, 0.5, 0.75, 0.95) if len(later) else ()
    return Agreement(
        n_pairs=int(off.sum()),
        same=int((one == two).sum()),
        both=int(both.sum()),
        only_first=int((one & ~two).sum()),
        only_second=int((~one & two).sum()),
        same_time=int((np.abs(later) < timestep / 2).sum()),
        later=tuple(float(np.quantile(later, level)) for level in levels),
        touchy=int((sensitive[off] & (one != two)).sum()),
    )


def _choose_poses(poses: Poses, n_pairs: int, rng: np.random.Generator) -> Array:
    """Return sorted indices of random poses that give about `n_pairs` pairs."""
    n = round(n_pairs**0.5)
    if not 3 <= n <= len(poses):
        raise InputError(
            f"`pairs` must lie in [9, {len(poses) ** 2}], since there are {len(poses)} "
            f"poses, got {n_pairs}."
        )
    return np.sort(rng.choice(len(poses), n, replace=False))


def nudge_poses(poses: Poses, rng: np.random.Generator) -> Poses:
    """Return poses with joints moved at random by at most 1e-6 rad."""
    qpos = poses.qpos.copy()
    nudge = rng.uniform(-_NUDGE, _NUDGE, (len(poses), len(poses.robot.joint_adr)))
    qpos[:, poses.robot.joint_adr] += nudge
    return replace(poses, qpos=qpos)


def _estimate_all(
    runs: list[tuple[Poses, Engine]], config: AccessConfig, progress: Progress | None
) -> tuple[list[Transitions], list[float]]:
    """Return the transitions between all poses in each run, and its wall time [s]."""
    estimates, seconds = [], []
    n = len(runs[0][0])
    n_each = n * (n - 1)
    for index, (poses, engine) in enumerate(runs):
        part = scale_progress(progress, index * n_each, n_each, len(runs) * n_each)
        start = perf_counter()
        estimates.append(
            estimate_rows(poses, range(n), config, engine=engine, progress=part)
        )
        seconds.append(perf_counter() - start)
    return estimates, seconds


def _is_reached(run: Transitions) -> BoolArray:
    return np.isfinite(run.times)


def _mask_diagonal(matrix: Array | BoolArray) -> BoolArray:
    """Return a mask that is false on the diagonal of a square matrix, (n, n)."""
    return ~np.eye(len(matrix), dtype=bool)


def _find_differing(reference: Transitions, others: list[Transitions]) -> BoolArray:
    """Return whether any run and the reference differ in what is reached, (n, n)."""
    differs = np.zeros(reference.times.shape, bool)
    for other in others:
        differs |= _is_reached(other) != _is_reached(reference)
    return differs


def judge_transfers(found: Mapping[str, Transitions]) -> dict[str, Transfer]:
    """Cluster each engine's matrix, and evaluate the centroids on the others'."""
    access = {name: accessibility(run.times) for name, run in found.items()}
    models = {name: _cluster(matrix) for name, matrix in access.items()}
    judged = {}
    for first, second in permutations(found, 2):
        centroids = models[first].centroid_indices_
        own, other = (assess(access[name], centroids) for name in (first, second))
        judged[f"{first}, {second}"] = Transfer(
            k=len(centroids),
            index=own.index,
            coverage=own.coverage,
            other_index=other.index,
            other_coverage=other.coverage,
        )
    return judged


def _cluster(access: Array) -> KAccess:
    most = min(_MOST_CLUSTERS, len(access) - 1)
    return select_k(access, range(2, most + 1), random_state=0).model
