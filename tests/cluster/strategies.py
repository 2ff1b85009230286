"""Hypothesis strategies for accessibility matrices with ties and duplicates."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.cluster.oracles import FLOOR

# With few distinct values, ties and duplicates are common.
LEVELS = [FLOOR, FLOOR, 0.1, 0.25, 0.5, 0.8, 1.0]


@st.composite
def accesses(draw, max_poses=12):
    n = draw(st.integers(1, max_poses))
    smooth = st.floats(FLOOR, 1.0)
    entries = draw(st.sampled_from([st.sampled_from(LEVELS), smooth]))
    access = draw(arrays(np.float64, (n, n), elements=entries))
    np.fill_diagonal(access, 1.0)
    return access


@st.composite
def problems(draw, max_poses=12, min_clusters=1):
    """A matrix, a number of clusters and a first centroid."""
    access = draw(accesses(max_poses).filter(lambda a: len(a) >= min_clusters))
    n_clusters = draw(st.integers(min_clusters, len(access)))
    return access, n_clusters, draw(st.integers(0, len(access) - 1))
