"""Recorded motions: states, and outcomes in words."""

from dataclasses import replace

import numpy as np
import pytest

from kaccess.access import Outcome
from kaccess.config import AccessConfig, StillConfig
from kaccess.envs.conditions import Conditions
from kaccess.envs.tasks import make_task
from kaccess.evaluation.rollout import Recording, record
from kaccess.report.play.clip import (
    Clip,
    describe_outcome,
    record_move,
    record_policy,
)

CONFIG = AccessConfig()


def test_a_clip_gives_the_nearest_state(tiny):
    clip = Clip(tiny, np.arange(5) * 0.1, np.arange(5.0)[:, None], "")
    assert clip.length == pytest.approx(0.4)
    assert clip.at(0.14).item() == 1 and clip.at(0.16).item() == 2
    assert clip.at(np.array([-1.0, 0.31, 9.0])).ravel().tolist() == [0, 3, 4]


def test_a_move_has_the_states_of_the_engine(poses, engine):
    targets = poses.robot.get_joints(poses.qpos[[4]])
    for limit in (0.5, 3.0):
        config = replace(CONFIG, time_limit=limit)
        end = engine.settle(poses.qpos[[1]], targets, time_limit=limit)
        clip = record_move(
            poses, 1, 4, seconds=limit, config=config, still=StillConfig()
        )
        at_rest = np.isfinite(end.time[0])
        stop = end.time[0] + StillConfig().window if at_rest else limit
        np.testing.assert_array_equal(clip.at(stop), end.qpos[0])
        np.testing.assert_array_equal(clip.qpos[0], poses.qpos[1])
        assert clip.length == pytest.approx(limit)


def test_outcomes_in_words():
    words = [describe_outcome(outcome, 0.5, CONFIG) for outcome in Outcome]
    assert words[Outcome.REACHED] == "reached after 0.50 s"
    assert words[Outcome.RESTLESS] == "was not at rest within 3 s"
    assert len(set(words)) == len(Outcome)


def test_a_policy_is_recorded_under_conditions(tiny):
    def act(obs):
        return np.zeros((len(obs), 2))

    task, start = make_task("stand"), tiny.standing
    slope = Conditions(slope=8.0)
    clip = record_policy(task, tiny, act, start, seconds=0.4, conditions=slope)
    level = record(task, tiny, act, start[None], seconds=0.4)
    tilted = record(task, tiny, act, start[None], seconds=0.4, conditions=slope)
    np.testing.assert_array_equal(clip.qpos, tilted.qpos[:, 0])
    assert not np.array_equal(clip.qpos, level.qpos[:, 0])
    assert clip.robot.model.opt.gravity[0] != 0
    assert clip.length == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("success", "done_at"),
    [
        ([0, 0, 1, 1], 0.2),
        ([0, 1, 0, 1], 0.3),
        ([1, 1, 1, 1], 0.0),
        ([0, 1, 1, 0], None),
    ],
)
def test_success_counts_from_when_it_lasts(success, done_at):
    blank = np.zeros((4, 1, 2))
    done = np.array(success, bool)[:, None]
    times = np.array([0.0, 0.1, 0.2, 0.3])
    recording = Recording(times, blank, blank, blank, done, blank[0, 0])
    assert recording.done_at(0) == done_at
