"""Defaults that differ in warp."""

import copy
from dataclasses import asdict

import pytest

from kaccess.config import PpoConfig


def test_warp_has_defaults_of_its_own():
    here, there = PpoConfig().fit_to("mujoco"), PpoConfig().fit_to("warp")
    assert (here.robots, here.rollout_steps, here.minibatches) == (128, 32, 16)
    assert (there.robots, there.rollout_steps, there.minibatches) == (2048, 16, 4)
    assert (here.desired_kl, there.desired_kl) == (None, 0.01)
    assert {type(here.robots), type(there.robots)} == {int}
    assert PpoConfig().robots == 128


def test_what_a_user_sets_stays_even_if_it_is_the_other_default():
    mine = PpoConfig(robots=128, rollout_steps=32, desired_kl=0.02).fit_to("warp")
    assert (mine.robots, mine.rollout_steps, mine.desired_kl) == (128, 32, 0.02)
    assert mine.minibatches == 4


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy])
def test_copies_keep_both_defaults(make):
    assert make(PpoConfig()).fit_to("warp") == PpoConfig().fit_to("warp")
    assert asdict(PpoConfig())["robots"].warp == 2048
