"""Louvain, Infomap and directed spectral clustering on graphs with known answers."""

import sys

import numpy as np
import pytest
from sklearn.base import clone

from kaccess.base.errors import InputError
from kaccess.cluster import DirectedSpectral, Infomap, Louvain
from kaccess.cluster.graphs import _find_visits, _make_walk, _symmetrize
from tests.cluster.oracles import make_directed_blocks, make_islands

NEEDS = {"Louvain": "sknetwork", "Infomap": "infomap"}
METHODS = [Louvain(), Infomap(), DirectedSpectral(random_state=0)]


@pytest.fixture(params=METHODS, ids=lambda method: type(method).__name__)
def method(request):
    name = type(request.param).__name__
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    return clone(request.param)


def test_islands_are_found(method):
    access, home = make_islands(5, 6, 7)
    method.fit(access)
    np.testing.assert_array_equal(method.labels_, home)


def test_order_of_poses_does_not_matter(method):
    access, home = make_islands(5, 6, 7)
    order = np.random.default_rng(0).permutation(18)
    method.fit(access[np.ix_(order, order)])
    same = home[order][:, None] == home[order]
    np.testing.assert_array_equal(method.labels_[:, None] == method.labels_, same)


def test_centroids_have_the_best_worst_case(method):
    access = make_directed_blocks(60)
    method.fit(access)
    labels, centroids = method.labels_, method.centroid_indices_
    np.testing.assert_array_equal(labels[centroids], np.arange(labels.max() + 1))
    for label, centroid in enumerate(centroids):
        members = np.flatnonzero(labels == label)
        worst = access[np.ix_(members, members)].min(axis=1)
        assert worst.max() == access[centroid, members].min()


def test_both_precisions_agree(method):
    access = make_directed_blocks(60).astype(np.float32)
    single = clone(method).fit(access).labels_
    np.testing.assert_array_equal(single, method.fit(access.astype(float)).labels_)


def test_input_does_not_change(method):
    access = make_directed_blocks(30)
    before = access.copy()
    method.fit(access)
    np.testing.assert_array_equal(access, before)


def test_isolated_poses_do_not_change_other_clusters(method):
    access, _ = make_islands(5, 5, 1, 1)
    labels = method.fit(access).labels_
    assert len(set(labels[:5])) == len(set(labels[5:10])) == 1
    assert labels[0] != labels[5]


def test_poses_instead_of_a_matrix_raise(method):
    with pytest.raises(InputError, match=r"square matrix .* got shape \(5, 3\)"):
        method.fit(np.ones((5, 3)))


@pytest.mark.parametrize("method", [Louvain(), Infomap()], ids=["louvain", "infomap"])
def test_missing_extra_names_the_command_to_install_it(method, monkeypatch):
    for name in ("sknetwork.clustering", "infomap"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"pip install 'kaccess\[graph\]'"):
        method.fit(np.eye(3))


def test_spectral_finds_the_given_number_of_clusters():
    access, _ = make_islands(5, 6, 7)
    assert DirectedSpectral(4, random_state=0).fit(access).labels_.max() == 3
    with pytest.raises(InputError, match=r"`n_clusters` must lie in \[1, 18\], .* 19"):
        DirectedSpectral(19).fit(access)


@pytest.mark.parametrize("teleport", [0.0, 1.0])
def test_teleport_outside_0_to_1_raises(teleport):
    with pytest.raises(InputError, match=r"`teleport` must lie in \(0, 1\)"):
        DirectedSpectral(teleport=teleport).fit(np.eye(3))


def test_walk_and_laplacian_have_the_properties_of_chung_2005():
    """Rows sum to 1, visits are stationary, their root is the first eigenvector."""
    weights = np.random.default_rng(0).random((8, 8)) * (np.arange(8)[:, None] > 0)
    walk = _make_walk(weights, 0.1)
    visits = _find_visits(walk, 0.1)
    np.testing.assert_allclose(walk.sum(axis=1), 1.0)
    np.testing.assert_allclose(walk[0], 1 / 8)  # a dead end leads to any node
    np.testing.assert_allclose(visits @ walk, visits)
    operator = _symmetrize(walk, visits)
    np.testing.assert_allclose(operator, operator.T)
    np.testing.assert_allclose(operator @ np.sqrt(visits), np.sqrt(visits))
    assert np.linalg.eigvalsh(operator).max() == pytest.approx(1.0)
