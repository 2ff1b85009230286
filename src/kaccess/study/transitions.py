"""Estimating the transitions of a study: tile by tile, each stored when it is done."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from kaccess.access import (
    Transitions,
    check_mirror,
    estimate_rows,
    estimate_to_standing,
    find_nodes,
    merge_rows,
    replay_plan,
)
from kaccess.access.landings import Nodes
from kaccess.base.progress import scale_progress
from kaccess.base.types import Progress
from kaccess.config import AccessConfig
from kaccess.engines import Engine
from kaccess.poses import Poses
from kaccess.study.study import Study

__all__ = [
    "ComputeTiles",
    "LocalTiles",
    "estimate_once",
    "estimate_tiles",
    "record_access",
    "replay_once",
]


def record_access(study: Study, config: AccessConfig, engine: str) -> None:
    """Store how moves are estimated; an error if it was another way before."""
    settings = asdict(config) | {"engine": engine}
    if not config.move_time:
        del settings["move_time"]  # as in studies made before it was a setting
    study.record("access", settings)


def estimate_once(study: Study, config: AccessConfig, engine: Engine) -> Nodes | None:
    """Estimate and store the moves to standing, and check the mirror symmetry.

    Returns:
        The nodes of the posture graph; None if the robot does not stay standing.
    """
    nodes = None
    if study.is_standing_done:
        nodes = study.nodes
    else:
        nodes = find_nodes(study.poses, config, engine=engine)
        study.record("standing", {"rests": nodes is not None})
        if nodes is not None:
            _store_standing(study, config, engine, nodes)
        else:
            study.to_standing = np.inf
    if study.poses.mirrored and "mirror_check" not in study.settings:
        check = check_mirror(study.poses, config, engine=engine)
        study.record("mirror_check", asdict(check))
    return nodes


def _store_standing(
    study: Study, config: AccessConfig, engine: Engine, nodes: Nodes
) -> None:
    """Estimate and store the moves to standing; their times last."""
    moves = estimate_to_standing(study.poses, config, engine=engine, nodes=nodes)
    assert moves is not None and moves.landings is not None
    study.arrays.write_standing(moves.landings, nodes.qpos[-1])
    study.to_standing = moves.times


def replay_once(
    study: Study, config: AccessConfig, engine: Engine, nodes: Nodes | None
) -> None:
    """Follow the plan from every pose, and store in how many moves it stands up."""
    study.__dict__.pop("plan", None)  # it may have been made before the last tile
    plan = study.plan
    if nodes is not None and plan is not None and study.n_moves is None:
        replay = replay_plan(plan, study.poses.qpos, config, engine=engine)
        study.arrays.write_n_moves(replay.n_moves)


ComputeTiles = Callable[[list[range], Progress], Iterator[tuple[range, Transitions]]]
"""Estimates tiles: yields rows and their transitions, in any order, tiles perhaps
joined. Its progress is called with (pairs done, pairs in these tiles)."""


@dataclass(frozen=True)
class LocalTiles:
    """Estimates tiles in this process, one after the other.

    Args:
        poses: Poses of the study.
        config: Time limit, and tolerances that decide when a pose is reached.
        engine: Simulator.
        nodes: Nodes of the posture graph, to find landings; None for none.
    """

    poses: Poses
    config: AccessConfig
    engine: Engine
    nodes: Nodes | None = None

    def __call__(
        self, todo: list[range], progress: Progress
    ) -> Iterator[tuple[range, Transitions]]:
        """Yield rows and their transitions; small tiles are joined to a batch."""
        n, done = len(self.poses), 0
        n_pairs = n * sum(map(len, todo))
        for rows in merge_rows(todo, self.engine.batch_size // n):
            tile = estimate_rows(
                self.poses,
                rows,
                self.config,
                engine=self.engine,
                nodes=self.nodes,
                progress=scale_progress(progress, done, n * len(rows), n_pairs),
            )
            yield rows, tile
            done += n * len(rows)


def estimate_tiles(
    study: Study,
    tiles: Sequence[range],
    compute: ComputeTiles,
    *,
    progress: Progress | None = None,
) -> None:
    """Estimate and store the tiles that are not done yet.

    Args:
        study: Study.
        tiles: Rows of each tile.
        compute: Estimates tiles, here or on other machines.
        progress: Called with (pairs done, pairs in these tiles).
    """
    show = progress or _ignore
    study.arrays.remove_drafts()
    row_done, n = study.arrays.rows_done(), study.n_poses
    todo = [rows for rows in tiles if not row_done[rows.start : rows.stop].all()]
    n_pairs = n * sum(map(len, tiles))
    done = before = n_pairs - n * sum(map(len, todo))
    show(done, n_pairs)
    for rows, tile in compute(todo, lambda part, _: show(before + part, n_pairs)):
        study.arrays.write_rows(rows, tile.times, tile.outcomes, tile.landings)
        done += n * len(rows)
        show(done, n_pairs)


def _ignore(done: int, total: int) -> None:
    """Show no progress."""
