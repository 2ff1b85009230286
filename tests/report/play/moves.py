"""Moves of a study to show."""

import numpy as np

from kaccess import Study


def find_pair(path, outcome):
    """Return two different poses between which a move has this outcome."""
    found = np.argwhere(Study(path).outcomes == outcome)
    source, goal = next(pair for pair in found if pair[0] != pair[1])
    return int(source), int(goal)
