"""Estimating only the pairs of a study that matter for clusters, routes or coverage."""

import shutil
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from kaccess.access import Landings, Nodes
from kaccess.base.errors import InputError
from kaccess.base.stats import Interval
from kaccess.base.types import IntArray, Progress
from kaccess.config import AccessConfig, PairsConfig
from kaccess.engines import Engine
from kaccess.pairs import (
    LazyPairs,
    estimate_coverage,
    find_centroids,
    find_commands,
)
from kaccess.study.lock import hold_folders
from kaccess.study.marking import mark_partial
from kaccess.study.pair_store import PairStore
from kaccess.study.study import Study

__all__ = ["FoundPairs", "estimate_some"]

_FOLDER = "pairs"
_FOR_ROUTES = 0.4  # share of the pairs for routes, if they must serve both
_SURE = 0.95  # confidence at which routes leave their pairs to clusters
_HALF_WIDTH = 0.01  # of the interval of a coverage, at which it is good enough


@dataclass(frozen=True)
class FoundPairs:
    """What was found with some pairs.

    Args:
        n_asked: Pairs that were asked for.
        n_known: Pairs of different poses that the study has now.
        n_commands: Commands that were tried from all poses; None if not asked for.
        candidates: Candidates for centroids; None if not asked for.
        coverage: Coverage of the starts; None if not asked for.
    """

    n_asked: int
    n_known: int
    n_commands: int | None = None
    candidates: IntArray | None = None
    coverage: Interval | None = None


def estimate_some(
    study: Study,
    config: AccessConfig,
    pairs: PairsConfig,
    engine: Engine,
    nodes: Nodes | None,
    *,
    progress: Progress | None = None,
) -> FoundPairs:
    """Estimate and store the pairs that matter for a goal.

    Args:
        study: Study.
        config: Time limit, and tolerances that decide when a pose is reached.
        pairs: How many pairs, and for which goal.
        engine: Simulator.
        nodes: Nodes of the posture graph; None if the robot does not stay standing.
        progress: Called with (pairs asked for, pairs at most).
    """
    if pairs.goal == "routes" and nodes is None:
        raise InputError(
            "`goal` cannot be routes: this robot does not stay standing, so that there "
            "is nothing to lead to. Choose clusters."
        )
    if study.partial is not None and study.partial["asked"] == _list(pairs):
        return FoundPairs(0, int(study.partial["estimated"]))
    starts = _find_starts(study, pairs) if pairs.starts_matter else None
    folder = study.path / _FOLDER
    with hold_folders([folder]):
        store = PairStore(study, config, engine, nodes, folder)
        lazy = LazyPairs(
            study.n_poses, store, pairs.count(study.n_poses), progress=progress
        )
        found = _search(study, lazy, pairs, nodes, starts)
        store.write()
        n_known = int(store.known.sum()) - study.n_poses
    shutil.rmtree(folder, ignore_errors=True)
    found = replace(found, n_known=n_known)
    mark_partial(study, _describe(study, pairs, found))
    return found


def _search(
    study: Study,
    lazy: LazyPairs,
    pairs: PairsConfig,
    nodes: Nodes | None,
    starts: IntArray | None,
) -> FoundPairs:
    """Ask the pairs of a goal."""
    if starts is not None:
        share = estimate_coverage(
            lazy,
            starts,
            seed=pairs.seed,
            confidence=pairs.confidence or 0.95,
            half_width=_HALF_WIDTH if pairs.confidence else 0.0,
        )
        return FoundPairs(lazy.n_asked, 0, coverage=share)
    n_commands = candidates = None
    if nodes is not None and pairs.goal != "clusters":
        n_commands = _search_commands(study, lazy, pairs, nodes)
    if pairs.goal != "routes":
        candidates = find_centroids(
            lazy,
            study.describe_poses(),
            seed=pairs.seed,
            confidence=pairs.confidence,
        ).candidates
    return FoundPairs(lazy.n_asked, 0, n_commands, candidates)


def _search_commands(
    study: Study, lazy: LazyPairs, pairs: PairsConfig, nodes: Nodes
) -> int:
    """Ask the pairs of routes; with a part of the budget if clusters need some too."""
    budget, confidence = lazy.budget, pairs.confidence
    if pairs.goal == "all":
        lazy.budget, confidence = int(_FOR_ROUTES * budget), confidence or _SURE
    names = ("node", "distance", "seconds")
    standing = (study.arrays.read(f"landings/{name}_standing") for name in names)
    found = find_commands(
        lazy,
        nodes,
        Landings(*standing),
        horizon=study.test_seconds,
        seed=pairs.seed,
        confidence=confidence,
    )
    lazy.budget = budget
    return len(found.commands)


def _find_starts(study: Study, pairs: PairsConfig) -> IntArray:
    """Return the centroids of a stored clustering."""
    stored = study.read_jsons("clusters")
    if pairs.starts not in stored:
        known = ", ".join(sorted(stored)) or "none yet"
        raise InputError(
            f"`starts` must be a clustering of this study ({known}), got "
            f"{pairs.starts!r}. Run `kaccess cluster {study.path}` first."
        )
    centroids = np.array(stored[pairs.starts]["centroids"])
    if not len(centroids) or centroids.max() >= study.n_poses or centroids.min() < 0:
        raise InputError(
            f"{study.path}/clusters/{pairs.starts}.json is damaged: its centroids are "
            "not poses of this study. Delete it, and cluster again."
        )
    return centroids


def _list(pairs: PairsConfig) -> dict[str, Any]:
    """Return the settings as they are stored, without those of no effect."""
    settings = asdict(pairs)
    return {k: v for k, v in settings.items() if k != "starts" or pairs.starts_matter}


def _describe(
    study: Study, pairs: PairsConfig, found: FoundPairs
) -> dict[str, Any] | None:
    """Return what the settings say of the pairs; None if all are estimated."""
    if found.n_known == study.n_poses * (study.n_poses - 1):
        return None
    before = (study.partial or {}).get("candidates")
    section: dict[str, Any] = {"estimated": found.n_known, "asked": _list(pairs)}
    if found.candidates is not None or before is not None:
        some = found.candidates
        section["candidates"] = before if some is None else some.tolist()
    if found.coverage is not None:
        section["coverage"] = asdict(found.coverage)
    return section
