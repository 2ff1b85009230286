"""K-Access: hand-solved matrices, invariants and the checks of scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from kaccess.base.errors import InputError
from kaccess.cluster import KAccess
from tests.cluster.oracles import (
    FLOOR,
    compute_index,
    compute_mean_access,
    make_directed_blocks,
    run_algorithm_1,
)
from tests.cluster.strategies import problems

SOLVERS = ["swap", "alternate"]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(5))
def test_finds_blocks_and_their_best_centroids(blocks, solver, seed):
    model = KAccess(2, solver=solver, random_state=seed).fit(blocks)
    homes = model.centroid_indices_[model.labels_]
    np.testing.assert_array_equal(homes, [1, 1, 1, 3, 3])
    np.testing.assert_allclose(model.intra_[model.labels_], [0.8] * 3 + [0.7] * 2)
    assert model.index_ == pytest.approx(
        compute_index(np.maximum(blocks, 1e-8), [1, 3])
    )


@settings(max_examples=100, deadline=None)
@given(problems())
def test_one_restart_from_a_given_pose_equals_algorithm_1(problem):
    access, k, first = problem
    model = KAccess(k, solver="alternate", n_init=1, first=first).fit(access)
    centroids, assignment = run_algorithm_1(access, k, first)
    np.testing.assert_array_equal(model.centroid_indices_, centroids)
    np.testing.assert_array_equal(model.centroid_indices_[model.labels_], assignment)
    assert model.index_ == pytest.approx(compute_index(access, centroids))


@settings(max_examples=100, deadline=None)
@given(problems())
def test_each_pose_joins_its_best_centroid_and_a_centroid_itself(problem):
    access, k, first = problem
    for solver in SOLVERS:
        model = KAccess(k, solver=solver, n_init=2, first=first).fit(access)
        expected = access[model.centroid_indices_].argmax(axis=0)
        expected[model.centroid_indices_] = np.arange(k)
        np.testing.assert_array_equal(model.labels_, expected)


@pytest.mark.parametrize(("seed", "k"), [(11, 4), (19, 3), (47, 4)])
def test_swap_is_never_worse_than_algorithm_1_where_poses_tie(seed, k):
    """On these matrices, swaps end with a lower index than Algorithm 1's list has."""
    access = np.random.default_rng(seed).choice([FLOOR] * 3 + [0.1, 0.5, 0.9], (6, 6))
    np.fill_diagonal(access, 1.0)
    swap, alternate = (
        KAccess(k, solver=solver, n_init=1, first=0).fit(access) for solver in SOLVERS
    )
    assert swap.index_ == alternate.index_
    np.testing.assert_array_equal(swap.centroid_indices_, alternate.centroid_indices_)


@pytest.mark.parametrize("seed", range(10))
def test_alternate_ends_with_the_best_worst_case_centroids(seed):
    access = np.random.default_rng(seed).random((40, 40))
    np.fill_diagonal(access, 1.0)
    model = KAccess(4, solver="alternate", random_state=seed).fit(access)
    for cluster, centroid in enumerate(model.centroid_indices_):
        members = np.flatnonzero(model.labels_ == cluster)
        worst = [min(access[i, j] for j in members) for i in members]
        assert members[np.argmax(worst)] == centroid


@pytest.mark.parametrize("objective", ["index", "access"])
@pytest.mark.parametrize("seed", range(3))
def test_swap_is_never_worse_than_algorithm_1_and_better_for_some_k(objective, seed):
    access = make_directed_blocks(120, seed=seed)
    gains = []
    for k in (2, 7, 20):
        models = [
            KAccess(k, solver=solver, objective=objective, n_init=5, random_state=0)
            for solver in SOLVERS
        ]
        swap, alternate = (score(model.fit(access), access) for model in models)
        gains.append(swap - alternate)
    assert min(gains) >= 0.0 < max(gains)


def score(model, access):
    """Return the score that the model raises."""
    if model.objective == "index":
        return model.index_
    return compute_mean_access(access, model.centroid_indices_)


def test_more_restarts_raise_the_index():
    access = make_directed_blocks(100, seed=4)
    index = [
        KAccess(9, solver="alternate", n_init=n, random_state=1).fit(access).index_
        for n in (1, 4, 16)
    ]
    assert index[0] < index[1] < index[2]


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
def test_input_does_not_change(solver):
    access = make_directed_blocks(30)  # valid as it is, so `fit` does not copy it
    before = access.copy()
    KAccess(4, solver=solver).fit(access)
    np.testing.assert_array_equal(access, before)


@pytest.mark.parametrize("objective", ["index", "access"])
def test_both_precisions_find_the_same_clusters(objective):
    access = make_directed_blocks(90).astype(np.float32)
    double = access.astype(np.float64)
    fits = [KAccess(6, objective=objective, random_state=0) for _ in range(2)]
    one, other = fits[0].fit(access), fits[1].fit(double)
    np.testing.assert_array_equal(one.centroid_indices_, other.centroid_indices_)
    assert one.index_ == pytest.approx(other.index_, rel=1e-5)


def test_memory_order_does_not_matter():
    access = make_directed_blocks(60)
    one = KAccess(5, random_state=0).fit(access)
    other = KAccess(5, random_state=0).fit(np.asfortranarray(access))
    np.testing.assert_array_equal(one.labels_, other.labels_)


@pytest.mark.parametrize("objective", ["index", "access"])
def test_same_seed_gives_the_same_clusters(objective):
    access = make_directed_blocks(60)
    fits = [KAccess(5, objective=objective, random_state=3).fit(access) for _ in "ab"]
    np.testing.assert_array_equal(fits[0].labels_, fits[1].labels_)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("k", [1, 2, 4])
def test_duplicates_can_be_centroids_of_their_own_clusters(solver, k):
    model = KAccess(k, solver=solver, random_state=0).fit(np.ones((4, 4)))
    expected = np.zeros(4)  # all ties go to the first centroid
    expected[model.centroid_indices_] = np.arange(k)
    np.testing.assert_array_equal(model.labels_, expected)
    assert len(np.unique(expected)) == k


def test_poses_that_no_centroid_reaches_are_listed():
    access = np.full((5, 5), 1e-8)
    np.fill_diagonal(access, 1.0)
    access[0, 1] = access[0, 2] = 0.5  # only 0 reaches others; none reaches 0, 3 or 4
    model = KAccess(2, objective="access", first=3, n_init=1, n_kicks=0).fit(access)
    np.testing.assert_array_equal(model.centroid_indices_, [0, 3])
    np.testing.assert_array_equal(model.uncovered_, [4])
    np.testing.assert_array_equal(model.labels_, [0, 0, 0, 1, 0])
    assert model.coverage_ == pytest.approx(2 / 5)


def test_as_many_clusters_as_poses_are_all_singletons(blocks):
    model = KAccess(5).fit(blocks)
    np.testing.assert_array_equal(model.labels_, np.arange(5))
    np.testing.assert_array_equal(model.singletons_, np.arange(5))


def test_predict_returns_the_centroid_that_reaches_each_pose_best(blocks):
    model = KAccess(2).fit(blocks)
    access = np.array([[0.3, 0.1, 1e-8], [0.2, 0.4, 1e-8]])
    np.testing.assert_array_equal(model.predict(access), [0, 1, 0])
    np.testing.assert_array_equal(
        model.predict(blocks[model.centroid_indices_]), model.labels_
    )


@pytest.mark.parametrize("convert", [np.asarray, list])
def test_restored_model_predicts_like_the_fitted_one(convert):
    access = make_directed_blocks(60)
    model = KAccess(5, random_state=0).fit(access[:40, :40])
    unseen = access[model.centroid_indices_, 40:]
    expected = model.predict(unseen)
    assert len(np.unique(expected)) > 2
    restored = KAccess.restore(convert(model.centroid_indices_))
    assert restored.n_clusters == 5
    np.testing.assert_array_equal(restored.predict(unseen), expected)
    np.testing.assert_array_equal(restored.centroid_indices_, model.centroid_indices_)


def test_no_convergence_warns_and_still_gives_a_result():
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
def test_bad_settings_raise(blocks, settings, match):
    with pytest.raises(InputError, match=match):
        KAccess(**{"n_clusters": 2, **settings}).fit(blocks)


def test_predict_without_a_row_per_centroid_raises(blocks):
    model = KAccess(2).fit(blocks)
    with pytest.raises(
        InputError, match=r"row per centroid \(2\).* got shape \(5, 5\)"
    ):
        model.predict(blocks)


def squash(kernel):
    """Convert the kernel matrices of scikit-learn's checks to accessibilities."""
    try:
        numbers = check_array(kernel, dtype=float)
    except (TypeError, ValueError):
        return kernel  # KAccess must raise the error
    return np.exp(numbers - numbers.max())


class OnKernels(KAccess):
    """K-Access on square matrices of any numbers; `predict` takes one row per pose."""

    def fit(self, access, y=None):
        squashed = squash(access)
        if squashed is not access:
            np.fill_diagonal(squashed, 1.0)
        return super().fit(squashed, y)

    def predict(self, access):
        check_is_fitted(self)
        access = validate_data(self, access, reset=False)
        return super().predict(squash(access)[:, self.centroid_indices_].T)


def list_expected_failures(_):
    features = "passes feature vectors; K-Access takes only a matrix"
    return {
        "check_clustering": features,
        "check_estimators_nan_inf": features,
        "check_estimators_empty_data_messages": "has its own message, see test_matrix",
    }


@parametrize_with_checks([OnKernels(2)], expected_failed_checks=list_expected_failures)
def test_passes_checks_of_scikit_learn(estimator, check):
    check(estimator)
