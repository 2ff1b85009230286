"""Orientations: known attitudes, round trips and mirror images."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kaccess.base.rotations import (
    gravity_in_body,
    mirror_quat,
    quat_from_roll_pitch,
    roll_pitch,
    turn_quat,
)

ROLL = st.floats(-3.14, 3.14)
PITCH = st.floats(-1.57, 1.57)


def make_gravity(roll, pitch):
    return gravity_in_body(quat_from_roll_pitch(np.array([roll]), np.array([pitch])))


def test_gravity_in_known_attitudes():
    np.testing.assert_allclose(make_gravity(0.0, 0.0), [[0, 0, -1]], atol=1e-12)
    np.testing.assert_allclose(make_gravity(np.pi, 0.0), [[0, 0, 1]], atol=1e-12)
    # Rolled to the right by 90 degrees: the ground is on the right, -y.
    np.testing.assert_allclose(make_gravity(np.pi / 2, 0.0), [[0, -1, 0]], atol=1e-12)
    # Nose down: the ground is ahead, +x.
    np.testing.assert_allclose(make_gravity(0.0, np.pi / 2), [[1, 0, 0]], atol=1e-12)


@given(ROLL, PITCH)
def test_roll_and_pitch_give_back_the_same_gravity(roll, pitch):
    got = np.concatenate(roll_pitch(make_gravity(roll, pitch)))
    np.testing.assert_allclose(make_gravity(*got), make_gravity(roll, pitch))


@given(ROLL, PITCH)
def test_mirroring_flips_roll_only(roll, pitch):
    quat = quat_from_roll_pitch(np.array([roll]), np.array([pitch]))
    expected = make_gravity(-roll, pitch)
    np.testing.assert_allclose(gravity_in_body(mirror_quat(quat)), expected, atol=1e-12)


def test_a_turn_about_the_vertical_changes_only_the_heading():
    quat = quat_from_roll_pitch(np.array([0.4, 0.4]), np.array([-0.3, -0.3]))
    turned = turn_quat(quat, np.array([0.0, np.pi / 2]), np.array([0.0, 0.0, 1.0]))
    np.testing.assert_allclose(turned[0], quat[0])
    np.testing.assert_allclose(gravity_in_body(turned), gravity_in_body(quat))
    upright = np.array([[1.0, 0.0, 0.0, 0.0]])
    left = turn_quat(upright, np.array([np.pi / 2]), np.array([0.0, 0.0, 1.0]))
    np.testing.assert_allclose(left, [[0.5**0.5, 0, 0, 0.5**0.5]])
