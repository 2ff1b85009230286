import numpy as np
import pytest

from kaccess import InputError
from kaccess.robots import Robot, find_mirror


def test_partners_are_left_and_right(any_robot):
    mirror = find_mirror(any_robot)
    swap = str.maketrans("lr", "rl")
    names = any_robot.joint_names
    for name, partner in zip(names, mirror.partner, strict=True):
        assert names[partner][0] == name[0].translate(swap)
        assert names[partner][-4:] in (name[-4:], "left", "ight")


def test_mirroring_twice_changes_nothing(any_robot):
    mirror = find_mirror(any_robot)
    qpos = np.random.default_rng(0).normal(size=(5, any_robot.model.nq))
    np.testing.assert_allclose(mirror.qpos(mirror.qpos(qpos)), qpos)
    assert np.abs(mirror.qpos(qpos) - qpos).max() > 0.1


def test_a_robot_with_one_heavier_leg_is_refused(bittle):
    model = bittle.model.__copy__()
    model.body("lf_thigh").mass *= 1.5
    with pytest.raises(InputError, match="mirrored states accelerate differently"):
        find_mirror(Robot("lopsided", model, 0.35))


def test_a_robot_with_one_leg_out_of_place_is_refused(bittle):
    model = bittle.model.__copy__()
    model.body("lf_thigh").pos[0] += 0.01
    with pytest.raises(InputError, match=r"joint 'lf_shoulder' has no partner"):
        find_mirror(Robot("crooked", model, 0.35))
