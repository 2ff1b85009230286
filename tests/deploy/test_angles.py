"""Angles: OpenCat's order, limits and signs."""

import numpy as np
import pytest

from kaccess.deploy.angles import Angles, find_attitude, find_gravity
from kaccess.deploy.protocol import Attitude
from kaccess.deploy.servo import Heat, ServoModel
from kaccess.deploy.session import _find_rate
from kaccess.robots import load_robot


@pytest.fixture(scope="module")
def angles():
    return Angles(load_robot("bittle"))


def test_joints_are_in_the_order_of_the_firmware(angles):
    robot = load_robot("bittle")
    joints = np.zeros(8)
    joints[robot.joint_names.index("rr_knee")] = np.deg2rad(14.4)
    assert angles.to_degrees(joints).tolist() == [0, 0, 0, 0, 0, 0, 14, 0]  # joint 14


def test_there_and_back(angles):
    degrees = np.array([-100, 60, -20, 120, -50, 0, 30, -40])
    assert angles.to_degrees(angles.to_radians(degrees)).tolist() == degrees.tolist()


def test_angles_stay_within_the_measured_limits(angles):
    low = angles.to_degrees(np.full(8, -9.0)).tolist()
    high = angles.to_degrees(np.full(8, 9.0)).tolist()
    assert low == [-125, -125, -35, -35, -60, -60, -45, -45]
    assert high == [70, 70, 125, 125, 125, 125, 125, 125]


@pytest.mark.parametrize(
    ("pitch", "roll", "gravity"),
    [
        (0, 0, [0, 0, -1]),
        (90, 0, [1, 0, 0]),  # nose down: gravity points forwards
        (0, 90, [0, 1, 0]),  # left side down: gravity points to the left
        (0, 180, [0, 0, 1]),  # on its back
        (180, 180, [0, 0, 1]),  # the same, as the folded pitch shows it
    ],
)
def test_gravity_from_roll_and_pitch(pitch, roll, gravity):
    found = find_gravity(Attitude(pitch, roll))
    np.testing.assert_allclose(found, gravity, atol=1e-12)


def test_attitude_there_and_back():
    vectors = np.random.default_rng(0).normal(size=(500, 3))
    for gravity in vectors / np.linalg.norm(vectors, axis=1, keepdims=True):
        np.testing.assert_allclose(find_gravity(find_attitude(gravity)), gravity)


def test_rate_of_a_robot_that_rolls_to_its_right():
    """About x by 1 rad/s: the left side rises, so gravity turns to the right."""
    seen = [(t, np.array([0.0, -np.sin(t), -np.cos(t)])) for t in (0.0, 0.02, 0.04)]
    np.testing.assert_allclose(_find_rate(seen), [1.0, 0.0, 0.0], atol=1e-3)


def test_servo_model_has_a_time_constant_and_a_speed_limit():
    servos = ServoModel(np.zeros(2), speed=1.0)
    # 63 % of the way to 0.01 rad; the way to 9 rad at 1 rad/s.
    np.testing.assert_allclose(
        servos.follow(np.array([0.01, 9.0]), 0.05), [0.00632, 0.05], atol=1e-5
    )


def test_heat_counts_seconds_at_full_torque_and_cools():
    heat = Heat(2)
    for _ in range(100):
        heat.add(np.array([9.0, 0.0]), 0.01)
    assert heat.seconds[0] == pytest.approx(1.0, rel=0.02)
    for _ in range(6000):
        heat.add(np.zeros(2), 0.01)
    assert heat.seconds[0] == pytest.approx(np.exp(-1), rel=0.03)
    assert heat.seconds[1] == 0
