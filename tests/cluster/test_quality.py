"""Quality of a clustering: by hand, and against the literal formula."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kaccess.base.errors import InputError
from kaccess.cluster import accessibility_index, assess
from kaccess.cluster.quality import measure_unreachable
from tests.cluster.oracles import FLOOR, compute_index_of_labels, make_directed_blocks
from tests.cluster.strategies import problems


def test_quality_of_blocks_equals_hand_solved_values(blocks):
    quality = assess(blocks, [1, 3])
    np.testing.assert_allclose(quality.intra, [0.8, 0.7])
    np.testing.assert_allclose(quality.inter, [[1.0, FLOOR], [FLOOR, 1.0]])
    expected = (np.log(0.8) + np.log(0.7)) / 2 - 2 * np.log(FLOOR) / 4
    assert quality.index == pytest.approx(expected)
    np.testing.assert_array_equal(quality.sizes, [3, 2])
    assert len(quality.singletons) == len(quality.uncovered) == 0


def test_inter_averages_over_members():
    """The mean access from members 0 and 1 to the other centroid, 2, is 0.2."""
    access = np.array([[1.0, 0.9, 0.1], [0.5, 1.0, 0.3], [0.2, 0.4, 1.0]])
    quality = assess(access, [0, 2], [0, 0, 1])
    np.testing.assert_allclose(quality.inter, [[1.0, 0.2], [0.2, 1.0]])


def test_singletons_are_listed_and_penalised(blocks):
    quality = assess(blocks, [1, 3, 4], alpha=0.0)
    np.testing.assert_array_equal(quality.singletons, [3, 4])
    penalised = accessibility_index(blocks, [1, 3, 4], alpha=2.5)
    assert penalised == pytest.approx(quality.index - 5.0)


def test_a_centroid_does_not_cover_itself(blocks):
    assert assess(blocks, [1, 3]).coverage == pytest.approx(3 / 5)
    assert assess(blocks, [0, 1, 3]).coverage == pytest.approx(
        4 / 5
    )  # 0 and 1 cover each other


def test_poses_that_no_centroid_reaches_are_listed(blocks):
    quality = assess(blocks, [0, 1])
    np.testing.assert_array_equal(quality.uncovered, [3, 4])
    np.testing.assert_array_equal(quality.sizes, [3, 2])  # ties go to centroid 0


def test_order_of_centroids_does_not_change_the_index(blocks):
    assert accessibility_index(blocks, [3, 1]) == accessibility_index(blocks, [1, 3])
    np.testing.assert_allclose(assess(blocks, [3, 1]).intra, [0.7, 0.8])


@settings(max_examples=200, deadline=None)
@given(problems(), st.data(), st.floats(0.0, 3.0))
def test_index_equals_the_literal_formula(problem, data, alpha):
    access, k, _ = problem
    poses = data.draw(st.permutations(range(len(access))))
    centroids = np.array(poses[:k])
    labels = data.draw(st.lists(st.integers(0, k - 1), min_size=len(access)))
    labels = np.array(labels[: len(access)])
    labels[centroids] = np.arange(k)
    quality = assess(access, centroids, labels, alpha=alpha)
    value, intra, inter, n_singletons = compute_index_of_labels(
        access, centroids, labels, alpha
    )
    assert quality.index == pytest.approx(value)
    np.testing.assert_allclose(quality.intra, intra)
    np.testing.assert_allclose(quality.inter, inter)
    assert len(quality.singletons) == n_singletons


@pytest.mark.parametrize("n_rows", [1, 2, 5])
def test_unreachable_share_counts_ordered_pairs(blocks, n_rows):
    def measure(labels):
        rows = [slice(at, min(at + n_rows, 5)) for at in range(0, 5, n_rows)]
        return measure_unreachable([(each, blocks[each]) for each in rows], labels)

    assert measure(np.array([0, 0, 0, 1, 1])) == 0.0
    assert measure(np.zeros(5, dtype=int)) == pytest.approx(12 / 20)
    assert measure(np.arange(5)) == 0.0
    assert measure(np.array([0, 0, -1, 0, -1])) == pytest.approx(4 / 6)


def test_both_precisions_agree():
    access = make_directed_blocks(40)
    exact = accessibility_index(access, [3, 14, 25])
    single = accessibility_index(access.astype(np.float32), [3, 14, 25])
    assert single == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize(
    ("centroids", "labels", "match"),
    [
        ([1, 3], [0, 0, 0, 1], r"`labels` must have shape \(5,\).* got \(4,\)"),
        ([1, 3], [0, 0, 0, 0, 0], r"`labels` must lie .* got \[0 0\]"),
        ([1, 3], [0, 0, 0, 1, 2], r"`labels` must lie in \[0, 1\]"),
        ([1, 0], [0, 0, 0, 1, 1], r"`labels` must lie .* got \[0 0\]"),
        ([1, 7], None, r"`centroid_indices` must lie in \[0, 4\].* 1 to 7"),
        ([-1, 2], None, r"`centroid_indices` must lie in \[0, 4\].* -1 to 2"),
        ([1, 1], None, "`centroid_indices` must be a list of distinct"),
        ([0.5], None, "`centroid_indices` must be a list of distinct"),
        ([], None, "`centroid_indices` must be a list of distinct"),
    ],
)
def test_inconsistent_clusterings_raise(blocks, centroids, labels, match):
    with pytest.raises(InputError, match=match):
        assess(blocks, centroids, labels)
