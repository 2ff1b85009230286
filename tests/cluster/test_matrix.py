"""Accepted accessibility matrices, and errors for the others."""

import numpy as np
import pytest

from kaccess.base.errors import InputError
from kaccess.cluster import KAccess, accessibility_index, select_k
from kaccess.cluster.matrix import check_access
from tests.cluster.oracles import FLOOR, make_directed_blocks

CONSUMERS = {
    "fit": lambda access: KAccess(1).fit(access),
    "index": lambda access: accessibility_index(access, [0]),
    "select_k": lambda access: select_k(access, [1]),
}


def make_access(value, *, at=(0, 1), n=4):
    access = np.full((n, n), 0.5)
    np.fill_diagonal(access, 1.0)
    access[at] = value
    return access


BAD = {
    "poses": (np.ones((5, 3)), r"square matrix .* got shape \(5, 3\).*not the poses"),
    "empty": (np.ones((0, 0)), r"`access` is empty, with shape \(0, 0\)"),
    "unfinished": (
        make_access(np.nan),
        "1 NaN of 16 pairs: the estimate is unfinished",
    ),
    "negative": (make_access(-0.25), r"must lie in \[0, 1\], got values from -0.25"),
    "times": (
        make_access(2.5),
        r"to 2.5. Did you pass times\? Pass `np.exp\(-times\)`",
    ),
    "infinite": (
        make_access(np.inf),
        r"must lie in \[0, 1\], got values from 0.5 to inf",
    ),
}


@pytest.mark.parametrize("consumer", CONSUMERS)
@pytest.mark.parametrize("case", BAD)
def test_bad_matrices_raise(consumer, case):
    access, match = BAD[case]
    with pytest.raises(InputError, match=match):
        CONSUMERS[consumer](access)


def test_text_raises():
    with pytest.raises(InputError, match="`access` must be real numbers, got <U1"):
        check_access([["a", "b"], ["c", "d"]])


def test_a_vector_raises():
    with pytest.raises(InputError, match=r"square matrix .* got shape \(3,\)"):
        check_access(np.ones(3))


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_a_wrong_diagonal_is_fixed_with_a_warning(consumer):
    access = make_access(0.3, at=(2, 2))
    before = access.copy()
    with pytest.warns(UserWarning, match=r"1 of 4 diagonal entries .* are taken as 1"):
        CONSUMERS[consumer](access)
    np.testing.assert_array_equal(access, before)


def test_a_rounding_error_on_the_diagonal_is_fixed_without_warning():
    fixed = check_access(make_access(1.0 - 1e-9, at=(2, 2)))
    np.testing.assert_array_equal(np.diagonal(fixed), 1.0)


def test_zero_becomes_the_floor():
    access = make_access(0.0)
    assert check_access(access)[0, 1] == FLOOR
    assert access[0, 1] == 0.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_good_matrix_is_not_copied(dtype):
    access = make_directed_blocks(20).astype(dtype)
    assert check_access(access) is access


@pytest.mark.parametrize("dtype", [np.int64, np.bool_, np.float16])
def test_other_number_types_become_floats(dtype):
    assert check_access(np.eye(3, dtype=dtype)).dtype == np.float64
