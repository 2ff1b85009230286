"""K-Means: Dunn index by hand, choice of k, and the checks of scikit-learn."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from kaccess.base.errors import InputError
from kaccess.cluster import DunnKMeans, dunn_index, make_features


def test_dunn_index_equals_a_hand_solved_value():
    """Means are 1, 10 and 25, diameters 2 * 1, 0 and 2 * 5: the index is 9 / 10."""
    features = np.array([[0.0], [2.0], [10.0], [20.0], [30.0]])
    assert dunn_index(features, np.array([0, 0, 1, 2, 2])) == pytest.approx(0.9)


def test_dunn_index_in_two_dimensions():
    features = np.array([[0.0, 0.0], [0.0, 2.0], [3.0, 5.0], [3.0, 5.0]])
    assert dunn_index(features, np.array([0, 0, 1, 1])) == pytest.approx(5.0 / 2.0)


def test_dunn_index_is_infinite_if_samples_equal_their_means():
    assert dunn_index(np.array([[0.0], [1.0]]), np.array([0, 1])) == np.inf


def make_blobs(rng, centres, n=20, spread=0.1):
    return np.concatenate([c + spread * rng.normal(size=(n, len(c))) for c in centres])


def test_finds_the_number_of_blobs():
    centres = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0], [5.0, 5.0]])
    features = make_blobs(np.random.default_rng(0), centres)
    model = DunnKMeans(max_clusters=10, random_state=0).fit(features)
    assert len(model.centroid_indices_) == 4
    same = np.repeat(np.arange(4), 20)
    np.testing.assert_array_equal(
        model.labels_[:, None] == model.labels_, same[:, None] == same
    )


def test_centroids_are_the_samples_nearest_to_the_means():
    features = np.random.default_rng(0).normal(size=(50, 3))
    model = DunnKMeans(5, random_state=0).fit(features)
    for label, centroid in enumerate(model.centroid_indices_):
        members = np.flatnonzero(model.labels_ == label)
        mean = features[members].mean(axis=0)
        distances = np.linalg.norm(features[members] - mean, axis=1)
        assert centroid == members[distances.argmin()]


def test_features_are_weighted_gravity_and_joints():
    gravity, joints = np.array([[0.0, 0.0, -1.0]]), np.array([[0.3, 0.4]])
    features = make_features(gravity, joints, gravity_weight=2.0)
    np.testing.assert_array_equal(features, [[0.0, 0.0, -2.0, 0.3, 0.4]])
    with pytest.raises(InputError, match=r"`gravity` must have shape \(1, 3\)"):
        make_features(gravity[:, :2], joints)


def test_gravity_weight_changes_the_clusters():
    """Two directions of gravity, two joint angles: the larger difference decides."""
    gravity = np.repeat([[0.0, 0.0, -1.0], [0.0, -0.8, -0.6]], 4, axis=0)
    joints = np.tile([[0.0], [1.4]], (4, 1))
    light = DunnKMeans(2, random_state=0).fit(make_features(gravity, joints))
    heavy = make_features(gravity, joints, gravity_weight=2.0)
    heavy = DunnKMeans(2, random_state=0).fit(heavy)
    assert len(set(light.labels_[[0, 2, 4, 6]])) == 1  # by joints
    assert len(set(heavy.labels_[:4])) == 1  # by gravity


@parametrize_with_checks([DunnKMeans(2), DunnKMeans(max_clusters=4)])
def test_passes_checks_of_scikit_learn(estimator, check):
    check(estimator)
