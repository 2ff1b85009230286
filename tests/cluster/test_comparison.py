"""The table that compares methods."""

import numpy as np
import pytest

from kaccess.cluster import KAccess, Labelling, compare, format_comparison


def label(labels, centroids):
    return Labelling(np.array(labels), np.array(centroids))


def test_rows_equal_hand_solved_values(blocks):
    clusterings = {
        "apart": label([0, 0, 0, 1, 1], [1, 3]),
        "mixed": label([1, 1, 1, 1, 0], [4, 1]),
    }
    apart, mixed = compare(blocks, clusterings)
    assert (apart.name, apart.n_clusters, apart.n_singletons) == ("apart", 2, 0)
    assert apart.unreachable == apart.n_uncovered == 0
    assert apart.index > mixed.index
    assert mixed.unreachable == pytest.approx(6 / 12)
    assert mixed.n_singletons == 1
    assert mixed.coverage == pytest.approx(3 / 5)
    np.testing.assert_array_equal(mixed.sizes, [4, 1])


def test_row_agrees_with_the_estimator(blocks):
    model = KAccess(2, alpha=0.5).fit(blocks)
    (row,) = compare(blocks, {"K-Access": model}, alpha=0.5)
    assert (row.index, row.coverage) == (model.index_, model.coverage_)


def test_table_has_one_line_per_method(blocks):
    rows = compare(blocks, {"a long name": label([0, 0, 0, 1, 1], [1, 3])})
    heading, line = format_comparison(rows).splitlines()
    assert heading.startswith("method")
    assert line.split()[:5] == ["a", "long", "name", "2", "8.92"]
    assert line.endswith("3 / 2 / 2")
