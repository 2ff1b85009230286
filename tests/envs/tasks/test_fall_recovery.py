import dataclasses

import numpy as np
import pytest

from kaccess.envs import FallRecovery, RobotsBatch
from kaccess.envs.tasks.fall_recovery import TableI
from tests.envs.hand import HEIGHT, STANDING, judge, standing, tilted
from tests.envs.plain import LEGS, PlainRobot

MOST = 0.667 + 0.333 + 3 * 0.067 + 0.067 + 4 * 0.3 * 0.033 + 0.067 + 2 * 0.033


def test_a_robot_that_stands_perfectly_gets_every_term_in_full():
    terms, _ = judge(FallRecovery(), standing())
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
    assert sum(terms.values())[0] == pytest.approx(MOST)


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
def test_terms_are_those_of_table_one(term, changes, value):
    perfect, _ = judge(FallRecovery(), standing())
    terms, _ = judge(FallRecovery(), standing(**changes))
    assert terms.pop(term)[0] == pytest.approx(value, rel=1e-5)
    others = {name: perfect[name][0] for name in terms}
    assert {name: each[0] for name, each in terms.items()} == pytest.approx(others)


def rbf(x, y, alpha):
    return np.exp(alpha * np.linalg.norm(np.subtract(x, y)) ** 2)


def table_one(plain, h_target):
    """Table I as the paper writes it, off MuJoCo's sensors."""
    c_b = 0.0 if plain.sensor("torso_distance")[0] <= 0 else 1.0
    c_f = 0.3 * sum(plain.foot_distance <= 0)
    p, p_t = plain.data.qpos[7:], plain.data.ctrl
    return {
        "height": 0.667 * rbf(plain.sensor("position")[2], h_target, -2000),
        "orientation": 0.333 * rbf(-plain.sensor("up"), [0, 0, -1], -5),
        "angular_velocity": 0.067 * rbf(plain.sensor("gyro"), 0, -0.05),
        "torque": 0.067 * rbf(plain.torque, 0, -5),
        "joint_velocity": 0.067 * rbf(plain.data.qvel[6:], 0, -0.05),
        "contact": 0.067 * c_b + 0.033 * c_f,
        "foot_lift": 0.067 * rbf(plain.foot_distance, 0, -100),
        "jump": 0.033 * rbf(plain.distance, 0, -100),
        "action_difference": 0.033 * rbf(p_t, p, -1),
    }


@pytest.mark.parametrize("key", ["stand", "back", "left", "kneel"])
def test_moving_robots_earn_what_the_literal_table_says(robot, actions, key):
    plain, batch = PlainRobot(robot), RobotsBatch(robot, 1, low_pass=0.4, n_threads=1)
    qpos = np.array(robot.keyframes[key].qpos)
    plain.reset(qpos)
    batch.reset(qpos[None])
    for action in actions(15, 1, seed=len(key)):
        plain.step(action[0])
        batch.step(action)
        terms, _ = judge(FallRecovery(), batch.readings)
        literal = table_one(plain, batch.readings.standing_height)
        assert {name: each[0] for name, each in terms.items()} == pytest.approx(literal)
    assert len(LEGS) == batch.readings.foot_distance.shape[1]


def test_weights_and_kernels_can_be_set():
    other = TableI()._replace(height=2.0, jump_kernel=-1.0)
    task = dataclasses.replace(FallRecovery(), reward=other)
    terms, _ = judge(task, standing(distance=1.0))
    assert terms["height"][0] == pytest.approx(2.0)
    assert terms["jump"][0] == pytest.approx(0.033 * np.exp(-1))


@pytest.mark.parametrize(
    ("changes", "strict", "loose"),
    [
        ({}, True, True),
        ({"height": HEIGHT - 0.0099}, True, True),
        ({"height": HEIGHT - 0.0101}, False, False),
        ({"height": HEIGHT + 0.0101}, False, False),
        ({"gravity": tilted(14)}, True, True),
        ({"gravity": tilted(-16)}, False, True),
        ({"gravity": tilted(24, "roll")}, False, True),
        ({"gravity": tilted(26, "roll")}, False, False),
        ({"gravity": tilted(180)}, False, False),
        ({"body_touches": True}, False, False),
    ],
)
def test_standing_is_high_upright_and_off_the_ground(changes, strict, loose):
    task, memory = FallRecovery(), None
    for _ in range(5):
        _, memory = judge(task, standing(**changes), memory)
    assert [each[0] for each in task.success(memory)] == [strict, loose]


def test_standing_must_last_for_a_fifth_of_a_second():
    """Five control steps on end, up to now; a stumble starts the count again."""
    task, memory, done = FallRecovery(), None, []
    upright = [True] * 5 + [False] + [True] * 6
    for up in upright:
        _, memory = judge(task, standing(body_touches=not up), memory)
        done.append(bool(task.success(memory)[0][0]))
    assert [step for step, each in enumerate(done, 1) if each] == [5, 11, 12]
    fast = FallRecovery(control_rate=50.0)
    assert not fast.success(np.full((1, 2), 9.0))[0][0]
    assert fast.success(np.full((1, 2), 10.0))[0][0]


def test_robots_are_judged_one_by_one():
    now = standing(3, body_touches=[False, True, False])
    memory, terms = np.zeros((3, 2)), np.zeros((3, 9))
    FallRecovery().judge(now, np.array([0, 1]), memory, terms)
    assert terms[0, 5] > terms[1, 5]
    np.testing.assert_array_equal(memory[:, 0], [1, 0, 0])
    np.testing.assert_array_equal(terms[2], 0.0)


def test_any_pose_may_be_a_start(nine):
    assert FallRecovery().qualifies(nine.qpos).all()
