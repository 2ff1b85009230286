import numpy as np
import pytest

from kaccess.envs import FallRecovery, GetUp
from tests.envs.hand import judge, make_standing, tilt_gravity


def test_standing_still_earns_the_maximum():
    terms, _ = judge(GetUp(), make_standing())
    assert {name: term[0] for name, term in terms.items()} == pytest.approx(
        {"orientation": 0.3, "height": 0.3, "posture": 0.3, "stillness": 0.1}
    )


LOW = {"height": 0.5 * make_standing().standing_height}


@pytest.mark.parametrize(
    ("term", "changes", "value"),
    [
        ("orientation", {"gravity": [1, 0, 0]}, 0.3 * np.exp(-4)),
        ("height", LOW, 0.15),
        ("height", {"gravity": [1, 0, 0]}, 0.3 * np.exp(-4)),
        ("height", {"height": 1.0}, 0.3),
        ("posture", {"joints": 0.75}, 0.3 * np.exp(-0.25)),
        ("posture", LOW, 0.0),
        ("posture", {"gravity": tilt_gravity(26)}, 0.0),
        ("stillness", {"joint_velocity": 1.0}, 0.1 * np.exp(-0.4)),
        ("stillness", {"body_touches": True}, 0.0),
    ],
)
def test_terms_equal_those_computed_by_hand(term, changes, value):
    assert judge(GetUp(), make_standing(**changes))[0][term][0] == pytest.approx(value)


def test_success_and_starts_are_those_of_fall_recovery(nine):
    ours, papers = GetUp(), FallRecovery()
    assert ours.standing == papers.standing and ours.to_stand
    assert ours.qualifies(nine.qpos).all()
