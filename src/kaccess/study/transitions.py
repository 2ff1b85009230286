"""Estimating the transitions of a study: tile by tile, each stored when it is done."""

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from kaccess.access import (
    check_mirror,
    estimate_rows,
    estimate_to_standing,
    merge_rows,
)
from kaccess.base.progress import scale_progress
from kaccess.base.types import Progress
from kaccess.config import AccessConfig
from kaccess.engines import Engine
from kaccess.study.study import Study

__all__ = ["estimate_once", "estimate_tiles"]


def estimate_once(study: Study, config: AccessConfig, engine: Engine) -> None:
    """Estimate and store the times to standing, and check the mirror symmetry."""
    if np.isnan(study.to_standing).any():
        standing = estimate_to_standing(study.poses, config, engine=engine)
        study.record("standing", {"rests": standing is not None})
        study.to_standing = np.inf if standing is None else standing.times
    if study.poses.mirrored and "mirror_check" not in study.settings:
        check = check_mirror(study.poses, config, engine=engine)
        study.record("mirror_check", asdict(check))


def estimate_tiles(
    study: Study,
    tiles: Sequence[range],
    config: AccessConfig,
    engine: Engine,
    *,
    progress: Progress | None = None,
) -> None:
    """Estimate and store the tiles that are not done yet.

    Args:
        study: Study.
        tiles: Rows of each tile.
        config: Time limit, and tolerances that decide when a pose is reached.
        engine: Simulator.
        progress: Called with (pairs done, pairs in these tiles).
    """
    progress = progress or _ignore
    row_done, n = study.arrays.rows_done(), study.n_poses
    todo = [rows for rows in tiles if not row_done[rows.start : rows.stop].all()]
    n_pairs = n * sum(map(len, tiles))
    done = n_pairs - n * sum(map(len, todo))
    progress(done, n_pairs)
    for rows in merge_rows(todo, engine.batch_size // n):
        part = scale_progress(progress, done, n * len(rows), n_pairs)
        tile = estimate_rows(study.poses, rows, config, engine=engine, progress=part)
        study.arrays.write_rows(rows, tile.times, tile.outcomes)
        done += n * len(rows)
        progress(done, n_pairs)


def _ignore(done: int, total: int) -> None:
    """Show no progress."""
