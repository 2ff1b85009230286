import numpy as np

from kaccess.evaluation.curves import Curves
from kaccess.report.page.learning import _speed_table


def curves(*success):
    table = np.array(success, dtype=float)
    episodes = 25.0 * np.arange(1, table.shape[1] + 1)
    return Curves(np.arange(len(table)), episodes, {"success_loose": table})


def test_speed_is_told_against_starts_anywhere():
    fast = curves([0.0, 0.96, 0.96, 1.0], [0.0, 0.96, 0.96, 0.96])
    slow = curves([0.0, 0.0, 0.0, 0.95], [0.0, 0.0, 0.0, 0.9])
    (table,) = _speed_table("fall-recovery", {"rnd": slow, "ka": fast})
    assert table.head[0] == "starts"
    one = "1.00 (1.00 to 1.00)"
    ka = ["ka", "50", "50", "100, 1 of 2 seeds", "0.50 (0.50 to 0.50)", one]
    late = ["100, 1 of 2 seeds", "100, 0 of 2 seeds"]
    rnd = ["rnd", "100", *late, one, "0.50 (0.50 to 0.50)"]
    assert table.rows == [ka, rnd]


def test_without_another_kind_there_is_nothing_to_compare():
    assert not _speed_table("fall-recovery", {"rnd": curves([1.0])})
    assert not _speed_table("fall-recovery", {"ka": curves([1.0]), "km": curves([1.0])})
