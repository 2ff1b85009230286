import numpy as np
import pytest

from kaccess.envs import Stand
from tests.envs.hand import judge, make_standing, tilt_gravity


def test_standing_still_earns_the_maximum():
    terms, _ = judge(Stand(), make_standing())
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
def test_terms_equal_those_computed_by_hand(term, changes, value):
    assert judge(Stand(), make_standing(**changes))[0][term][0] == pytest.approx(value)


def test_success_needs_200_ms_of_standing():
    task, memory = Stand(), None
    for _ in range(4):
        _, memory = judge(task, make_standing(gravity=tilt_gravity(20)), memory)
    assert not task.has_succeeded(memory)[1][0]
    _, memory = judge(task, make_standing(gravity=tilt_gravity(20)), memory)
    assert [each[0] for each in task.has_succeeded(memory)] == [False, True]


def test_starts_must_be_the_right_way_up(nine):
    up = dict(zip(nine.names, Stand().qualifies(nine.qpos), strict=True))
    assert up["crouch"] and up["belly"] and up["kneel"]
    assert not (up["back"] or up["left"] or up["right"])
