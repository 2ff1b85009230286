"""K-Access: hand-solved matrices, invariants and the scikit-learn contract."""

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from kaccess.base.errors import InputError
from kaccess.cluster import KAccess
from tests.cluster.oracles import algorithm_1, directed_blocks, index_of_set
from tests.cluster.strategies import problems

SOLVERS = ["swap", "alternate"]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(5))
def test_finds_blocks_and_their_hubs(blocks, solver, seed):
    model = KAccess(2, solver=solver, random_state=seed).fit(blocks)
    np.testing.assert_array_equal(model.labels_, [0, 0, 0, 1, 1])
    np.testing.assert_array_equal(model.centroid_indices_, [1, 3])
    np.testing.assert_allclose(model.intra_, [0.8, 0.7])
    assert model.index_ == pytest.approx(index_of_set(np.maximum(blocks, 1e-8), [1, 3]))


@settings(max_examples=100, deadline=None)
@given(problems())
def test_one_start_from_a_given_pose_is_algorithm_1(problem):
    access, k, first = problem
    model = KAccess(k, solver="alternate", n_init=1, first=first).fit(access)
    centroids, assignment = algorithm_1(access, k, first)
    np.testing.assert_array_equal(model.centroid_indices_, centroids)
    np.testing.assert_array_equal(centroids, model.centroid_indices_)
    np.testing.assert_array_equal(model.centroid_indices_[model.labels_], assignment)


@settings(max_examples=100, deadline=None)
@given(problems())
def test_assignments_are_argmax_and_centroids_their_own(problem):
    access, k, first = problem
    for solver in SOLVERS:
        model = KAccess(k, solver=solver, n_init=2, first=first).fit(access)
        expected = access[model.centroid_indices_].argmax(axis=0)
        expected[model.centroid_indices_] = np.arange(k)
        np.testing.assert_array_equal(model.labels_, expected)


@pytest.mark.parametrize("seed", range(10))
def test_alternate_ends_at_a_maximin_fixed_point(seed):
    access = np.random.default_rng(seed).random((40, 40))
    np.fill_diagonal(access, 1.0)
    model = KAccess(4, solver="alternate", random_state=seed).fit(access)
    for cluster, centroid in enumerate(model.centroid_indices_):
        members = np.flatnonzero(model.labels_ == cluster)
        worst = [min(access[i, j] for j in members) for i in members]
        assert members[np.argmax(worst)] == centroid


@pytest.mark.parametrize("objective", ["index", "access"])
@pytest.mark.parametrize("seed", range(3))
def test_swap_is_never_worse_than_algorithm_1(objective, seed):
    access = directed_blocks(120, seed=seed)
    fits = [
        KAccess(k, solver=solver, objective=objective, n_init=5, random_state=0)
        for k in (2, 7, 20)
        for solver in SOLVERS
    ]
    for swap, letter in zip(fits[::2], fits[1::2], strict=True):
        swap.fit(access), letter.fit(access)
        if objective == "index":
            assert swap.index_ >= letter.index_
        else:
            better = access[swap.centroid_indices_].max(axis=0).mean()
            assert better >= access[letter.centroid_indices_].max(axis=0).mean()


def test_more_starts_are_never_worse():
    access = directed_blocks(100, seed=4)
    index = [
        KAccess(9, solver="alternate", n_init=n, random_state=1).fit(access).index_
        for n in (1, 4, 16)
    ]
    assert index == sorted(index)


@pytest.mark.parametrize("seed", range(5))
def test_order_of_poses_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    access = rng.random((30, 30))
    np.fill_diagonal(access, 1.0)
    order = rng.permutation(30)
    settings = {"solver": "alternate", "n_init": 1}
    one = KAccess(5, first=order[3], **settings).fit(access)
    other = KAccess(5, first=3, **settings).fit(access[np.ix_(order, order)])
    assert set(order[other.centroid_indices_]) == set(one.centroid_indices_)
    homes = one.centroid_indices_[one.labels_]
    np.testing.assert_array_equal(
        order[other.centroid_indices_[other.labels_]], homes[order]
    )
    assert one.index_ == pytest.approx(other.index_)


@pytest.mark.parametrize("solver", SOLVERS)
def test_input_is_left_alone(blocks, solver):
    before = blocks.copy()
    KAccess(2, solver=solver).fit(blocks)
    np.testing.assert_array_equal(blocks, before)


@pytest.mark.parametrize("objective", ["index", "access"])
def test_both_precisions_find_the_same(objective):
    access = directed_blocks(90).astype(np.float32)
    double = access.astype(np.float64)
    fits = [KAccess(6, objective=objective, random_state=0) for _ in range(2)]
    one, other = fits[0].fit(access), fits[1].fit(double)
    np.testing.assert_array_equal(one.centroid_indices_, other.centroid_indices_)
    assert one.index_ == pytest.approx(other.index_, rel=1e-5)


def test_memory_order_does_not_matter():
    access = directed_blocks(60)
    one = KAccess(5, random_state=0).fit(access)
    other = KAccess(5, random_state=0).fit(np.asfortranarray(access))
    np.testing.assert_array_equal(one.labels_, other.labels_)


@pytest.mark.parametrize("objective", ["index", "access"])
def test_same_seed_same_outcome(objective):
    access = directed_blocks(60)
    fits = [KAccess(5, objective=objective, random_state=3).fit(access) for _ in "ab"]
    np.testing.assert_array_equal(fits[0].labels_, fits[1].labels_)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("k", [1, 2, 4])
def test_duplicates_have_their_own_clusters_when_asked_for(solver, k):
    model = KAccess(k, solver=solver, random_state=0).fit(np.ones((4, 4)))
    assert len(np.unique(model.labels_)) == k
    np.testing.assert_array_equal(model.labels_[model.centroid_indices_], np.arange(k))


def test_poses_out_of_reach_and_poses_that_reach_nothing():
    access = np.full((5, 5), 1e-8)
    np.fill_diagonal(access, 1.0)
    access[0, 1] = access[0, 2] = 0.5  # nobody reaches 0, 3 or 4; only 0 reaches any
    model = KAccess(2, objective="access", first=3, n_init=1, n_kicks=0).fit(access)
    np.testing.assert_array_equal(model.centroid_indices_, [0, 3])
    np.testing.assert_array_equal(model.uncovered_, [4])
    np.testing.assert_array_equal(model.labels_, [0, 0, 0, 1, 0])
    assert model.coverage_ == pytest.approx(2 / 5)


def test_as_many_clusters_as_poses(blocks):
    model = KAccess(5).fit(blocks)
    np.testing.assert_array_equal(model.labels_, np.arange(5))
    np.testing.assert_array_equal(model.singletons_, np.arange(5))


def test_unseen_poses_go_to_the_centroid_that_reaches_them_best(blocks):
    model = KAccess(2).fit(blocks)
    access = np.array([[0.3, 0.1, 1e-8], [0.2, 0.4, 1e-8]])
    np.testing.assert_array_equal(model.predict(access), [0, 1, 0])
    np.testing.assert_array_equal(
        model.predict(blocks[model.centroid_indices_]), model.labels_
    )


def test_no_convergence_is_a_warning_and_still_a_result():
    access = np.random.default_rng(7).random((60, 60))
    np.fill_diagonal(access, 1.0)
    model = KAccess(9, solver="alternate", n_init=1, first=0, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="9 clusters did not converge within 1"):
        model.fit(access)
    assert len(model.labels_) == 60


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"n_clusters": 0}, r"`n_clusters` must lie in \[1, 5\].* got 0"),
        ({"n_clusters": 6}, r"`n_clusters` must lie in \[1, 5\].* got 6"),
        ({"n_clusters": 2.5}, r"`n_clusters` must be a whole number, got 2.5"),
        ({"solver": "pam"}, "`solver` must be 'swap' or 'alternate', got 'pam'"),
        ({"objective": "i"}, "`objective` must be 'index' or 'access', got 'i'"),
        ({"first": 5}, r"`first` must be a pose index in \[0, 4\], got 5"),
        ({"first": -1}, r"`first` must be a pose index in \[0, 4\], got -1"),
        ({"n_init": 0}, "`n_init` must be at least 1, got 0"),
        ({"max_iter": 0}, "`max_iter` must be at least 1, got 0"),
        ({"n_kicks": -1}, "`n_kicks` must be at least 0, got -1"),
    ],
)
def test_bad_settings_are_explained(blocks, settings, match):
    with pytest.raises(InputError, match=match):
        KAccess(**{"n_clusters": 2, **settings}).fit(blocks)


def test_predict_wants_a_row_per_centroid(blocks):
    model = KAccess(2).fit(blocks)
    with pytest.raises(
        InputError, match=r"row per centroid \(2\).* got shape \(5, 5\)"
    ):
        model.predict(blocks)


def squash(kernel):
    """Turn the kernel matrices of scikit-learn's checks into accessibilities."""
    try:
        numbers = check_array(kernel, dtype=float)
    except (TypeError, ValueError):
        return kernel  # KAccess itself has to cope with it
    return np.exp(numbers - numbers.max())


class OnKernels(KAccess):
    """K-Access on square matrices of any numbers; rows of `predict` are new poses."""

    def fit(self, access, y=None):
        squashed = squash(access)
        if squashed is not access:
            np.fill_diagonal(squashed, 1.0)
        return super().fit(squashed, y)

    def predict(self, access):
        check_is_fitted(self)
        access = validate_data(self, access, reset=False)
        return super().predict(squash(access)[:, self.centroid_indices_].T)


def failures_to_expect(_):
    features = "feeds feature vectors; K-Access takes a matrix only"
    return {
        "check_clustering": features,
        "check_estimators_nan_inf": features,
        "check_estimators_empty_data_messages": "has its own, see test_matrix",
    }


@parametrize_with_checks([OnKernels(2)], expected_failed_checks=failures_to_expect)
def test_sklearn_contract(estimator, check):
    check(estimator)
