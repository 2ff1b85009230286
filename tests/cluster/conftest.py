"""A matrix that several tests share."""

import numpy as np
import pytest

# Poses 0-2 reach one another, and so do 3-4. Pose 1 reaches 0 and 2 best.
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
