"""Choice of the number of clusters: by hand, against single fits, stability."""

import numpy as np
import pytest

from kaccess.base.errors import InputError
from kaccess.cluster import KAccess, select_k
from kaccess.cluster.stability import compare_resamples, draw_resamples
from tests.cluster.oracles import make_directed_blocks, make_islands


def test_finds_the_number_of_islands():
    best = select_k(make_islands(4, 3, 5)[0], range(1, 8), random_state=0)
    assert best.k == best.model.n_clusters == 3
    np.testing.assert_array_equal(np.bincount(best.model.labels_), [4, 3, 5])
    assert best.stability is None


def test_curve_equals_single_fits():
    access = make_directed_blocks(50)
    curve = select_k(access, [3, 9, 2], random_state=4).curve
    np.testing.assert_array_equal(curve.k, [2, 3, 9])
    for i, k in enumerate(curve.k):
        model = KAccess(int(k), random_state=4).fit(access)
        assert curve.index[i] == model.index_
        assert curve.coverage[i] == model.coverage_
        assert curve.singletons[i] == len(model.singletons_)


def test_smallest_of_equally_good_numbers_is_chosen():
    estimator = KAccess(alpha=0.0)
    best = select_k(np.ones((4, 4)), [4, 3, 2], estimator=estimator)
    assert best.k == 2


def test_settings_come_from_the_estimator():
    access = make_directed_blocks(50)
    estimator = KAccess(solver="alternate", n_init=2, random_state=5)
    best = select_k(access, [4, 6], estimator=estimator)
    assert best.model.solver == "alternate"
    expected = [
        KAccess(k, **list_settings(estimator)).fit(access).index_ for k in (4, 6)
    ]
    np.testing.assert_array_equal(best.curve.index, expected)
    assert not hasattr(estimator, "labels_")


def list_settings(model):
    return {k: v for k, v in model.get_params().items() if k != "n_clusters"}


def test_number_of_threads_does_not_matter():
    access = make_directed_blocks(60)
    one = select_k(access, range(2, 8), random_state=0, n_bootstrap=2, n_jobs=1)
    many = select_k(access, range(2, 8), random_state=0, n_bootstrap=2, n_jobs=3)
    np.testing.assert_array_equal(one.curve.index, many.curve.index)
    np.testing.assert_array_equal(one.stability.jaccard, many.stability.jaccard)


def test_progress_counts_every_fit():
    calls = []

    def progress(done, total):
        calls.append((done, total))

    select_k(make_directed_blocks(30), [2, 3], n_bootstrap=2, progress=progress)
    assert calls == [(i, 6) for i in range(1, 7)]


def test_islands_are_found_on_every_resample():
    access, _ = make_islands(12, 9, 15)
    stability = select_k(access, [2, 3, 4], random_state=0, n_bootstrap=5).stability
    np.testing.assert_array_equal(stability.k, [3] * 5)
    np.testing.assert_array_equal(stability.jaccard, np.ones((5, 3)))
    assert stability.centroid_access.shape == (5, 3)
    assert set(stability.centroid_access.ravel()) <= {0.5, 1.0}


def test_each_resample_has_distinct_poses_of_its_own():
    resamples = draw_resamples(1000, 3, np.random.default_rng(0))
    for poses in resamples:
        assert len(np.unique(poses)) == len(poses)
        assert 0.60 < len(poses) / 1000 < 0.67
    assert not np.array_equal(resamples[0], resamples[1])


def test_stability_equals_hand_solved_values(blocks):
    """Poses 0, 1, 3 and 4 are drawn; pose 0 is then in the other cluster."""
    model = KAccess(2).fit(blocks)  # 0 1 2 | 3 4, centroids 1 and 3
    poses = np.array([0, 1, 3, 4])
    other = KAccess(2)
    other.labels_, other.centroid_indices_ = np.array([1, 0, 1, 1]), np.array([1, 3])
    stability = compare_resamples(blocks, model, [poses], [other])
    np.testing.assert_array_equal(stability.k, [2])
    np.testing.assert_allclose(stability.jaccard, [[1 / 2, 2 / 3]])
    np.testing.assert_allclose(stability.centroid_access, [[1.0, 0.6]])


def test_a_cluster_without_a_drawn_member_has_jaccard_nan(blocks):
    model = KAccess(2).fit(blocks)
    other = KAccess(1).fit(blocks[:2, :2])
    stability = compare_resamples(blocks, model, [np.array([0, 1])], [other])
    np.testing.assert_array_equal(stability.jaccard, [[1.0, np.nan]])


@pytest.mark.parametrize(
    ("ks", "match"),
    [
        ([], "`n_clusters` is empty. Pass numbers to try"),
        ([0, 2], r"`n_clusters` must lie in \[1, 5\].* got 0"),
        (range(2, 9), r"`n_clusters` must lie in \[1, 5\].* got 8"),
    ],
)
def test_impossible_numbers_raise(blocks, ks, match):
    with pytest.raises(InputError, match=match):
        select_k(blocks, ks)
