import numpy as np
import pytest

from kaccess import InputError
from kaccess.robots import Robot, find_mirror


def test_partners_are_on_the_left_and_right(any_robot):
    mirror = find_mirror(any_robot)
    names = any_robot.joint_names
    other = {"lf": "rf", "rf": "lf", "lr": "rr", "rr": "lr", "le": "ri", "ri": "le"}
    for name, partner in zip(names, mirror.partner, strict=True):
        assert names[partner][:2] == other[name[:2]]
        assert names[partner].partition("_")[2] == name.partition("_")[2]


def test_two_reflections_give_the_original(any_robot):
    mirror = find_mirror(any_robot)
    qpos = np.random.default_rng(0).normal(size=(5, any_robot.model.nq))
    np.testing.assert_allclose(mirror.reflect_qpos(mirror.reflect_qpos(qpos)), qpos)
    assert np.abs(mirror.reflect_qpos(qpos) - qpos).max() > 0.1


def test_a_robot_with_one_heavier_leg_is_an_error(bittle):
    model = bittle.model.__copy__()
    model.body("lf_thigh").mass *= 30
    with pytest.raises(InputError, match="mirrored states accelerate differently"):
        find_mirror(Robot("lopsided", model, 0.35))


def test_a_slight_difference_is_accepted(bittle):
    """Real robots have a camera or a cable on one side."""
    model = bittle.model.__copy__()
    model.body("lf_thigh").mass *= 1.05
    model.body("lf_thigh").pos[0] += 1e-4
    find_mirror(Robot("real", model, 0.35))


def test_a_robot_with_one_more_damped_joint_is_an_error(bittle):
    model = bittle.model.__copy__()
    model.dof_damping[6] *= 4
    with pytest.raises(InputError, match="mirrored states accelerate differently"):
        find_mirror(Robot("stiff", model, 0.35))


def test_a_robot_with_one_narrower_joint_range_is_an_error(bittle):
    model = bittle.model.__copy__()
    model.actuator_ctrlrange[0] = [-1.0, 1.0]
    with pytest.raises(InputError, match=r"range of joint 'lf_shoulder' differs"):
        find_mirror(Robot("narrow", model, 0.35))


def test_a_robot_with_one_leg_out_of_place_is_an_error(bittle):
    model = bittle.model.__copy__()
    model.body("lf_thigh").pos[0] += 0.01
    with pytest.raises(InputError, match=r"joint 'lf_shoulder' has no partner"):
        find_mirror(Robot("crooked", model, 0.35))
