"""Partial studies: only some pairs are estimated, the others stay NaN.

What is assumed of the others: commands that were not tried from all poses are in no
route; pairs from and to the candidates for centroids are as trees predict them
(`kaccess.pairs.belief`); all other pairs are not reached.
"""

import numpy as np

from kaccess.access import Landings, Nodes, PostureGraph
from kaccess.base.settings import Settings
from kaccess.base.types import Array, IntArray
from kaccess.config import AccessConfig
from kaccess.poses import Poses
from kaccess.study.arrays import Arrays

__all__ = ["describe_assumptions", "describe_poses", "fill_access", "make_graph"]


def describe_assumptions(partial: Settings, n: int) -> str:
    """Say how many pairs a study has, and what is assumed of the others.

    Args:
        partial: Section `pairs` of its settings.
        n: Number of poses.
    """
    share = partial["estimated"] / max(1, n * (n - 1))
    return (
        f"{share:.1%} of the pairs are estimated. Of the others, it is assumed: "
        "commands that were not tried from all poses are in no route; pairs from or to "
        "candidates for centroids are as trees predict them from the estimated pairs; "
        "all other pairs are not reached. `kaccess access` estimates the rest."
    )


def describe_poses(poses: Poses, config: AccessConfig) -> Array:
    """Return what tells poses apart, (n, 4 + nu), in tolerances of a reached pose."""
    config = poses.robot.scale.fit(config)
    return np.column_stack(
        [
            poses.gravity / config.gravity_tol,
            poses.joints / config.joint_tol,
            poses.height / config.height_tol,
        ]
    )


def make_graph(arrays: Arrays, nodes: Nodes) -> PostureGraph:
    """Return the posture graph of the commands that were tried from all poses."""
    commands = np.flatnonzero(arrays.find_known().all(axis=0))
    columns = np.append(commands, arrays.n_poses)
    parts = [_read_columns(arrays, part, columns) for part in arrays.landing_parts]
    return PostureGraph.between(nodes, Landings(*parts), commands)


def _read_columns(arrays: Arrays, part: str, columns: IntArray) -> np.ndarray:
    """Return some columns of an array of landings; the last one is standing."""
    last = arrays.read(f"landings/{part}_standing")[:, None]
    some = columns[:-1]
    rows = [values[:, some] for _, values in arrays.read_in_parts(f"landings/{part}")]
    return np.concatenate([np.concatenate(rows), last], axis=1)


def fill_access(times: Array, features: Array, partial: Settings) -> Array:
    """Return accessibilities, (n, n), with those that are believed where NaN.

    Args:
        times: (n, n) seconds from pose i to pose j; NaN: not estimated.
        features: (n, d) what describes a pose.
        partial: Section `pairs` of the settings.
    """
    from kaccess.pairs.belief import fill_believed  # it takes seconds to load

    candidates = np.array(partial.get("candidates", ()), np.int64)
    return fill_believed(times, features, candidates)
