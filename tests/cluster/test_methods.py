"""Every registered clustering method can be fitted, and has starts of its own."""

import numpy as np
import pytest

from kaccess import InputError
from kaccess.cluster.methods import fit_method
from kaccess.config import METHODS, ClusterConfig
from tests.cluster.oracles import make_islands

NEEDS = {"louvain": "sknetwork", "infomap": "infomap"}


def fit(method, **settings):
    """Fit a method to 15 poses in three groups, which access and gravity both show."""
    access, group = make_islands(4, 5, 6)
    gravity = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])[group]
    joints = 0.01 * np.arange(30.0).reshape(15, 2)
    few = {"n_init": 2} if "k" in settings else {"k_max": 5, "n_init": 2}
    used = {name: few[name] for name in few if name not in METHODS[method].unused}
    config = ClusterConfig(method=method, **used, **settings)
    return fit_method(access, config, gravity=gravity, joints=joints), group


@pytest.fixture(params=METHODS)
def method(request):
    if request.param in NEEDS:
        pytest.importorskip(NEEDS[request.param])
    return request.param


def test_every_method_finds_three_clear_groups(method):
    given_k = {} if method in NEEDS else {"k": 3}
    found, group = fit(method, **given_k)
    labels, centroids = found.model.labels_, found.model.centroid_indices_
    np.testing.assert_array_equal(labels[:, None] == labels, group[:, None] == group)
    np.testing.assert_array_equal(labels[centroids], np.arange(3))


def test_every_method_can_choose_the_number_of_clusters(method):
    labels = fit(method)[0].model.labels_
    assert 2 <= len(np.unique(labels)) <= 5


@pytest.mark.parametrize("method", ["kaccess", "kmedoids"])
def test_only_k_access_without_a_given_k_has_a_curve(method):
    np.testing.assert_array_equal(fit(method)[0].curve.k, [2, 3, 4, 5])
    assert fit(method, k=3)[0].curve is None


def test_bootstrap_tries_at_most_half_as_many_clusters_as_poses():
    found, _ = fit("kaccess", n_bootstrap=2)
    assert len(found.stability.k) == 2
    access = np.ones((6, 6))
    config = ClusterConfig(k_max=5, n_init=1, n_bootstrap=1)
    few = fit_method(access, config, gravity=np.ones((6, 3)), joints=np.ones((6, 1)))
    np.testing.assert_array_equal(few.curve.k, [2, 3])


def test_gravity_counts_twice_for_weighted_k_means():
    """Gravity differs by 1 between halves, joints by 1.4 between neighbours."""
    gravity = np.repeat([[0.0, 0.0, -1.0], [0.0, -0.8, -0.6]], 4, axis=0)
    joints = np.tile([[0.0], [1.4]], (4, 1))

    def label(method):
        config = ClusterConfig(method=method, k=2)
        found = fit_method(np.ones((8, 8)), config, gravity=gravity, joints=joints)
        return found.model.labels_ == found.model.labels_[0]

    np.testing.assert_array_equal(label("kmeans"), [True, False] * 4)
    np.testing.assert_array_equal(label("weighted-kmeans"), [True] * 4 + [False] * 4)


def test_every_method_has_starts_of_a_unique_name():
    names = [info.starts for info in METHODS.values()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("method", METHODS)
def test_settings_without_effect_on_a_method_are_refused(method):
    """And those that are not refused do have an effect."""
    values = {"k": 3, "k_max": 5, "solver": "alternate", "n_init": 2, "n_bootstrap": 2}
    for name in METHODS[method].unused:
        with pytest.raises(InputError, match=f"`{name}` has no effect with method"):
            ClusterConfig(method=method, **{name: values.pop(name)})
    for name, value in values.items():
        assert getattr(ClusterConfig(method=method, **{name: value}), name) == value


@pytest.mark.parametrize("setting", [{"k_max": 5}, {"n_bootstrap": 2}])
def test_a_given_k_needs_no_settings_to_choose_it(setting):
    with pytest.raises(InputError, match="has no effect if `k` is given"):
        ClusterConfig(k=3, **setting)


def test_any_seed_will_do(method):
    small = fit(method, seed=3)[0].model.labels_
    large = fit(method, seed=3 + 5 * (2**32 - 1))[0].model.labels_
    np.testing.assert_array_equal(small, large)
