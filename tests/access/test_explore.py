"""Exploration: signs of standing, the archive, draws, and get-ups that replay."""

import numpy as np
import pytest

from kaccess.access import explore as module
from kaccess.access.explore import PostureDraw, Signs, explore
from kaccess.base.rotations import quat_from_roll_pitch
from kaccess.engines.mujoco import MujocoEngine
from kaccess.engines.stepper import Moment, Stepper
from kaccess.robots.mirror import pair_joints

SETTINGS = {"posture_time": 0.2, "most_motions": 480, "most_found": 3}


@pytest.fixture(scope="module")
def stepper(bittle):
    return Stepper(bittle, n_threads=1)


@pytest.fixture(scope="module")
def lying(bittle):
    """A Bittle on its belly, with its legs stretched."""
    qpos = bittle.standing[None].copy()
    qpos[:, bittle.joint_adr] = [-1.4, 0, -1.4, 0, 1.4, 0, 1.4, 0]
    targets = bittle.get_joints(qpos)
    return MujocoEngine(bittle, n_threads=1).settle(qpos, targets, time_limit=3.0).qpos


def explore_once(stepper, lying, **changes):
    rng, mirror = np.random.default_rng(0), pair_joints(stepper.robot)
    settings = SETTINGS | {"mirror": mirror} | changes
    return explore(stepper, lying[0], rng=rng, **settings)


def make_moment(quat, centre, feet):
    n = len(quat)
    qpos = np.concatenate([np.zeros((n, 3)), quat], axis=1)
    return Moment(
        np.zeros((n, 1)), qpos, centre, feet, speed=np.zeros(n), sound=np.ones(n, bool)
    )


def test_signs_are_measured_against_a_standing_robot():
    """A robot 1 m high: it stands, squats, lies on its back, lies on its side."""
    quat = quat_from_roll_pitch(
        np.array([0, 0, 0, np.pi / 2]), np.array([0, 0, -np.pi / 2, 0])
    )
    centre = np.array([[0, 0, 1.0], [0.1, 0, 0.5], [0, 0, 0.1], [0, 0, 0.1]])
    feet = np.array([[0, 0, 0], [0, 0, 0], [0.8, 0.6, 0.2], [0, 1.0, 0]])
    moment = make_moment(quat, centre, feet)
    first = make_moment(quat[:1], centre[:1], feet[:1])
    signs = Signs.of(moment, first)
    np.testing.assert_allclose(signs.upright, [1, 1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(signs.height, [1, 0.5, 0.1, 0.1])
    np.testing.assert_allclose(signs.offset, [0, 0.1, 1, 1])
    np.testing.assert_array_equal(signs.stands, [1, 0, 0, 0])
    np.testing.assert_array_equal(signs.nearly_up, [1, 1, 0, 0])
    assert len({tuple(cell) for cell in signs.cells}) == 4
    np.testing.assert_array_equal(signs.cells[:, 4], [0, 0, 1, 0])  # feet in the air
    promise = signs.rate_promise(symmetric=True)
    assert (np.diff(promise[:3]) < 0).all() and promise[3] < 0.1
    assert signs.rate_promise(symmetric=False)[3] > 0.2


def test_an_archive_keeps_the_state_that_costs_least():
    archive = module._Archive()
    entries = [
        module._Entry(np.zeros(1), (), (), cost, 1.0) for cost in (2.0, 1.0, 0.97)
    ]
    for each in entries:
        archive.add((0,), each)
    assert archive.choose(1, np.random.default_rng(0)) == [entries[1]]
    assert entries[1].n_tries == 1


def test_states_that_were_tried_often_are_chosen_less_often():
    archive, rng = module._Archive(), np.random.default_rng(0)
    seldom, often = (
        module._Entry(np.zeros(1), (), (), 1.0, 1.0, n_tries) for n_tries in (0, 1e6)
    )
    archive.add((0,), seldom)
    archive.add((1,), often)
    chosen = archive.choose(50, rng)
    assert sum(each is seldom for each in chosen) > 45


def test_draws_are_symmetric_within_the_ranges_and_some_are_standing(bittle, poses):
    mirror, rng = pair_joints(bittle), np.random.default_rng(0)
    last = np.repeat(poses.joints[:1], 400, axis=0)
    drawn = PostureDraw(bittle, rng, mirror).draw(last)
    low, high = bittle.joint_range.T
    assert (drawn >= low).all() and (drawn <= high).all()
    mirrored = mirror.reflect_joints(drawn)
    np.testing.assert_allclose(drawn, mirrored, atol=1e-12)
    other = PostureDraw(bittle, rng, None).draw(last)
    assert (other >= low).all() and (other <= high).all()
    assert np.isclose(other, mirror.reflect_joints(other)).all(axis=1).mean() < 0.4
    stand = np.isclose(drawn, bittle.standing_targets).all(axis=1).mean()
    assert stand == pytest.approx(0.2, abs=0.06)


def test_what_is_found_gets_the_robot_up_again(bittle, stepper, lying):
    found = explore_once(stepper, lying)
    assert 1 <= len(found) <= 3
    np.testing.assert_array_equal(
        found.postures[:, -1], np.tile(bittle.standing_targets, (len(found), 1))
    )
    start = np.repeat(lying, len(found), axis=0)
    motion = found.start(np.arange(len(found)), bittle.get_joints(start))
    engine = MujocoEngine(bittle, n_threads=1)
    settled = engine.settle(start, motion, time_limit=3.0)
    assert (settled.qpos[:, 2] > 0.9 * bittle.standing[2]).all()
    assert lying[0, 2] < 0.8 * bittle.standing[2]


def test_a_seed_finds_the_same_on_any_number_of_threads(bittle, stepper, lying):
    one = explore_once(stepper, lying)
    two = explore_once(Stepper(bittle, n_threads=2), lying)
    np.testing.assert_array_equal(one.postures, two.postures)
    np.testing.assert_array_equal(one.seconds, two.seconds)


def test_it_ends_after_the_given_number_of_motions(stepper, lying):
    calls = []
    found = explore_once(
        stepper,
        lying,
        most_motions=90,
        most_found=10**6,
        progress=lambda *each: calls.append(each),
    )
    assert calls == [(48, 90), (90, 90)]
    assert isinstance(len(found), int)
    assert len(explore_once(stepper, lying, most_motions=0)) == 0
