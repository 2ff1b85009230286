"""Matrices that several tests share."""

import numpy as np
import pytest

# Poses 0-2 reach one another, so do 3-4, nothing crosses. Pose 1 is a hub.
BLOCKS = np.array(
    [
        [1.0, 0.9, 0.2, 0.0, 0.0],
        [0.8, 1.0, 0.8, 0.0, 0.0],
        [0.2, 0.9, 1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0, 0.7],
        [0.0, 0.0, 0.0, 0.6, 1.0],
    ]
)


@pytest.fixture
def blocks():
    return BLOCKS.copy()
