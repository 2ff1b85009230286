import numpy as np
import pytest

from kaccess.envs import Stand
from tests.envs.hand import judge, standing, tilted


def test_standing_still_earns_all_there_is():
    terms, _ = judge(Stand(), standing())
    assert {name: term[0] for name, term in terms.items()} == pytest.approx(
        {"posture": 0.5, "orientation": 0.3, "stillness": 0.2}
    )


@pytest.mark.parametrize(
    ("term", "changes", "value"),
    [
        ("posture", {"joints": 0.75}, 0.5 * np.exp(-0.5)),
        ("orientation", {"gravity": [1, 0, 0]}, 0.3 * np.exp(-10)),
        ("stillness", {"joint_velocity": 1.0}, 0.2 * np.exp(-0.4)),
    ],
)
def test_terms_are_worked_out_by_hand(term, changes, value):
    assert judge(Stand(), standing(**changes))[0][term][0] == pytest.approx(value)


def test_it_has_stood_after_a_fifth_of_a_second():
    task, memory = Stand(), None
    for _ in range(4):
        _, memory = judge(task, standing(gravity=tilted(20)), memory)
    assert not task.success(memory)[1][0]
    _, memory = judge(task, standing(gravity=tilted(20)), memory)
    assert [each[0] for each in task.success(memory)] == [False, True]


def test_starts_are_the_right_way_up(nine):
    up = dict(zip(nine.names, Stand().qualifies(nine.qpos), strict=True))
    assert up["crouch"] and up["belly"] and up["kneel"]
    assert not (up["back"] or up["left"] or up["right"])
