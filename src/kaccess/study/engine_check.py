"""How far engines agree on the moves of a study."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from kaccess.base.types import Progress
from kaccess.config import EngineName
from kaccess.engines import make_engines
from kaccess.study.study import Study, StudyLike

if TYPE_CHECKING:
    from kaccess.access.agreement import EngineComparison

__all__ = ["compare_engines"]


def compare_engines(
    study: StudyLike,
    engines: Sequence[EngineName],
    *,
    n_pairs: int = 2000,
    seed: int = 0,
    n_threads: int = 0,
    device: str | None = None,
    progress: Progress | None = None,
) -> "EngineComparison":
    """Estimate the same pairs of a study's poses on several engines.

    Args:
        study: Study or its folder; the comparison is written to its `engines.json`.
        engines: Names of the engines.
        n_pairs: Approximate number of pairs.
        seed: Seed of the choice of poses.
        n_threads: CPU threads; 0 takes all.
        device: Device of warp; by default the first GPU.
        progress: Called with (simulations done, simulations to do).
    """
    from kaccess.access import agreement

    study = Study.open(study)
    simulators = make_engines(
        engines, study.robot, study.still, n_threads=n_threads, device=device
    )
    comparison = agreement.compare_engines(
        study.poses,
        simulators,
        study.access_config,
        n_pairs=n_pairs,
        seed=seed,
        progress=progress,
    )
    study.write_json("engines.json", asdict(comparison))
    return comparison
