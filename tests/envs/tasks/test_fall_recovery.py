import dataclasses

import numpy as np
import pytest

from kaccess.envs import FallRecovery, RobotsBatch
from kaccess.envs.tasks.fall_recovery import TableI
from tests.envs.common import FAST
from tests.envs.hand import HEIGHT, STANDING, judge, make_standing, tilt_gravity
from tests.envs.plain import LEGS, PlainRobot

MAXIMUM = 0.667 + 0.333 + 3 * 0.067 + 0.067 + 4 * 0.3 * 0.033 + 0.067 + 2 * 0.033


def test_a_robot_that_stands_perfectly_gets_the_maximum_of_every_term():
    terms, _ = judge(FallRecovery(), make_standing())
    assert {name: term[0] for name, term in terms.items()} == pytest.approx(
        {
            "height": 0.667,
            "orientation": 0.333,
            "angular_velocity": 0.067,
            "torque": 0.067,
            "joint_velocity": 0.067,
            "contact": 0.067 + 0.033 * 1.2,
            "foot_lift": 0.067,
            "jump": 0.033,
            "action_difference": 0.033,
        }
    )
    assert sum(terms.values())[0] == pytest.approx(MAXIMUM)


@pytest.mark.parametrize(
    ("term", "changes", "value"),
    [
        # Worked out by hand: weight * exp(kernel * squared error).
        ("height", {"height": HEIGHT - 0.02}, 0.667 * 0.449329),  # e^-0.8
        ("height", {"height": HEIGHT + 0.02}, 0.667 * 0.449329),
        ("orientation", {"gravity": [1, 0, 0]}, 0.333 * 4.53999e-5),  # e^-10
        ("orientation", {"gravity": [0, 0, 1]}, 0.333 * 2.06115e-9),  # e^-20
        ("angular_velocity", {"angular_velocity": [2, 0, -4]}, 0.067 * 0.367879),
        ("torque", {"torque": 0.1}, 0.067 * 0.670320),  # 8 joints: e^-0.4
        ("joint_velocity", {"joint_velocity": 1.0}, 0.067 * 0.670320),  # e^-0.4
        ("contact", {"body_touches": True}, 0.033 * 1.2),
        ("contact", {"foot_touches": [True, False, True, False]}, 0.067 + 0.033 * 0.6),
        ("contact", {"foot_touches": False, "body_touches": True}, 0.0),
        ("foot_lift", {"foot_distance": [0.1, 0, 0, 0]}, 0.067 * 0.367879),  # e^-1
        ("foot_lift", {"foot_distance": 0.05}, 0.067 * 0.367879),
        ("jump", {"distance": 0.1}, 0.033 * 0.367879),
        ("action_difference", {"target": STANDING + 0.25}, 0.033 * 0.606531),  # e^-0.5
    ],
)
def test_terms_equal_those_of_table_one(term, changes, value):
    perfect, _ = judge(FallRecovery(), make_standing())
    terms, _ = judge(FallRecovery(), make_standing(**changes))
    assert terms.pop(term)[0] == pytest.approx(value, rel=1e-5)
    others = {name: perfect[name][0] for name in terms}
    assert {name: each[0] for name, each in terms.items()} == pytest.approx(others)


def rbf(x, y, alpha):
    return np.exp(alpha * np.linalg.norm(np.subtract(x, y)) ** 2)


def compute_table_one(plain, h_target):
    """Return Table I as in the paper, from MuJoCo's sensors."""
    c_b = 0.0 if plain.read("torso_distance")[0] <= 0 else 1.0
    c_f = 0.3 * sum(plain.foot_distance <= 0)
    p, p_t = plain.data.qpos[7:], plain.data.ctrl
    return {
        "height": 0.667 * rbf(plain.read("position")[2], h_target, -2000),
        "orientation": 0.333 * rbf(-plain.read("up"), [0, 0, -1], -5),
        "angular_velocity": 0.067 * rbf(plain.read("gyro"), 0, -0.05),
        "torque": 0.067 * rbf(plain.torque, 0, -5),
        "joint_velocity": 0.067 * rbf(plain.data.qvel[6:], 0, -0.05),
        "contact": 0.067 * c_b + 0.033 * c_f,
        "foot_lift": 0.067 * rbf(plain.foot_distance, 0, -100),
        "jump": 0.033 * rbf(plain.distance, 0, -100),
        "action_difference": 0.033 * rbf(p_t, p, -1),
    }


@pytest.mark.parametrize("key", ["stand", "back", "left", "kneel"])
def test_rewards_of_moving_robots_equal_table_one(robot, actions, key):
    plain, batch = PlainRobot(robot), RobotsBatch(robot, 1, low_pass=0.4, **FAST)
    qpos = np.array(robot.keyframes[key].qpos)
    plain.reset(qpos)
    batch.reset(qpos[None])
    for action in actions(15, 1, seed=len(key)):
        plain.step(action[0])
        batch.step(action)
        terms, _ = judge(FallRecovery(), batch.readings)
        literal = compute_table_one(plain, batch.readings.standing_height)
        assert {name: each[0] for name, each in terms.items()} == pytest.approx(literal)
    assert len(LEGS) == batch.readings.foot_distance.shape[1]


def test_weights_and_kernels_can_be_set():
    other = TableI()._replace(height=2.0, jump_kernel=-1.0)
    task = dataclasses.replace(FallRecovery(), reward=other)
    terms, _ = judge(task, make_standing(distance=1.0))
    assert terms["height"][0] == pytest.approx(2.0)
    assert terms["jump"][0] == pytest.approx(0.033 * np.exp(-1))


@pytest.mark.parametrize(
    ("changes", "strict", "loose"),
    [
        ({}, True, True),
        ({"height": HEIGHT - 0.0099}, True, True),
        ({"height": HEIGHT - 0.0101}, False, False),
        ({"height": HEIGHT + 0.0101}, False, False),
        ({"gravity": tilt_gravity(14)}, True, True),
        ({"gravity": tilt_gravity(-16)}, False, True),
        ({"gravity": tilt_gravity(24, "roll")}, False, True),
        ({"gravity": tilt_gravity(26, "roll")}, False, False),
        ({"gravity": tilt_gravity(180)}, False, False),
        ({"body_touches": True}, False, False),
    ],
)
def test_a_standing_robot_is_high_upright_and_off_the_floor(changes, strict, loose):
    task, memory = FallRecovery(), None
    for _ in range(5):
        _, memory = judge(task, make_standing(**changes), memory)
    assert [each[0] for each in task.has_succeeded(memory)] == [strict, loose]


def test_standing_must_last_for_200_ms():
    """Five control steps in a row, up to now; a stumble restarts the count."""
    task, memory, done = FallRecovery(), None, []
    for is_up in [True] * 5 + [False] + [True] * 6:
        _, memory = judge(task, make_standing(body_touches=not is_up), memory)
        done.append(bool(task.has_succeeded(memory)[0][0]))
    assert [step for step, each in enumerate(done, 1) if each] == [5, 11, 12]
    fast = FallRecovery(control_rate=50.0)
    assert not fast.has_succeeded(np.full((1, 2), 9.0))[0][0]
    assert fast.has_succeeded(np.full((1, 2), 10.0))[0][0]


def test_only_the_given_robots_are_judged():
    now = make_standing(3, body_touches=[False, True, False])
    memory, terms = np.zeros((3, 2)), np.zeros((3, 9))
    FallRecovery().judge(now, np.array([0, 1]), memory, terms)
    assert terms[0, 5] > terms[1, 5]
    np.testing.assert_array_equal(memory[:, 0], [1, 0, 0])
    np.testing.assert_array_equal(terms[2], 0.0)


def test_any_pose_may_be_a_start(nine):
    assert FallRecovery().qualifies(nine.qpos).all()
