"""Gymnasium's format of the infos of n environments."""

from typing import Any

import numpy as np

from kaccess.base.types import BoolArray

__all__ = ["add_masks", "make_final_info"]

Info = dict[str, np.ndarray]


def add_masks(info: Info, has_info: BoolArray) -> Info:
    """Return infos with masks: `_name` says which environments have `name`."""
    return info | dict.fromkeys(["_" + name for name in info], has_info)


def make_final_info(info: Info, ended: BoolArray, obs: np.ndarray) -> dict[str, Any]:
    """Return the infos of a step in which some episodes ended.

    Args:
        info: Infos of the step, (n,) each.
        ended: (n,) whether an episode ended.
        obs: (n, d) observations after the step.
    """
    final_obs = np.full(len(ended), None, dtype=object)
    for row in np.flatnonzero(ended):
        final_obs[row] = obs[row].copy()
    return {
        **({} if ended.all() else _select(info, ~ended)),
        "final_obs": final_obs,
        "_final_obs": ended.copy(),
        "final_info": _select(info, ended),
        "_final_info": ended.copy(),
    }


def _select(info: Info, has_info: BoolArray) -> Info:
    """Return the infos of some environments, with masks; 0 for the others."""
    selected = {
        name: np.where(has_info, values, np.zeros((), values.dtype))
        for name, values in info.items()
    }
    return add_masks(selected, has_info)
