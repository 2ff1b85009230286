"""Skills: encoding, search, storage and errors."""

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from kaccess import AccessConfig, InputError, SampleConfig, Study, pipeline
from kaccess.cli import main
from kaccess.config import SkillConfig
from kaccess.envs import RobotVectorEnv
from kaccess.envs.task import Task
from kaccess.envs.tasks import make_task
from kaccess.guide.guide import Guide
from kaccess.guide.skill import Skill, _Encoding, find_skill, search_skill
from kaccess.robots import find_mirror
from tests.conftest import TINY


@dataclass(frozen=True, kw_only=True)
class Dip(Task):
    """Bring the base down by a fifth of its height, and up again."""

    name: ClassVar[str] = "dip"
    terms: ClassVar[tuple[str, ...]] = ("down", "up")
    memory: ClassVar[tuple[str, ...]] = ("lowest", "done")

    def judge(self, now, rows, memory, terms):
        share = now.height / now.standing_height - 1.0
        lowest = np.minimum(memory[:, 0], share)
        back = (lowest < -0.2) & (share > -0.05)
        terms[rows, 0] = (memory[:, 0] - lowest)[rows]
        terms[rows, 1] = (5.0 * (back & (memory[:, 1] == 0)))[rows]
        memory[rows, 0] = lowest[rows]
        memory[rows, 1] = np.maximum(memory[:, 1], back)[rows]

    def has_succeeded(self, memory):
        done = memory[:, 1] > 0
        return done, done


CONFIG = SkillConfig(candidates=24, rounds=8, postures=1, seconds=1.2)


@pytest.fixture(scope="module")
def dip(bittle):
    return search_skill(bittle, Dip(), CONFIG, n_threads=1)


def play(robot, actions):
    env = RobotVectorEnv(1, Dip(), robot=robot)
    env.reset(seed=5)
    for action in actions:
        *_, info = env.step(action[None])
    return info


def test_a_found_skill_does_the_task_from_standing(dip, bittle):
    assert dip.success > 0.5 and dip.reward > 5.0
    assert play(bittle, dip.actions)["success"].all()
    stand = bittle.to_actions(bittle.get_joints(bittle.standing[None]))
    assert not play(bittle, np.repeat(stand, 30, axis=0))["success"].any()


def test_a_skill_ends_in_the_standing_pose_and_is_symmetric(dip, bittle):
    stand = bittle.to_actions(bittle.get_joints(bittle.standing[None]))[0]
    np.testing.assert_allclose(dip.actions[-1], stand)
    mirrored = find_mirror(bittle).reflect_joints(dip.actions)
    np.testing.assert_allclose(dip.actions, mirrored, atol=1e-12)
    assert dip.actions.shape == (30, bittle.model.nu)


def test_a_seed_finds_the_same_skill_on_any_number_of_threads(dip, bittle):
    again = search_skill(bittle, Dip(), CONFIG, n_threads=2)
    np.testing.assert_array_equal(again.actions, dip.actions)
    assert (again.success, again.reward) == (dip.success, dip.reward)


def test_a_point_encodes_postures_and_hold_times(bittle):
    encoding = _Encoding(bittle, Dip(), SkillConfig(postures=2, seconds=0.4))
    nu = bittle.model.nu
    point = np.concatenate([np.full(nu, 0.5), np.full(nu, -9.0), [0.12, 0.09]])
    stand = bittle.to_actions(bittle.get_joints(bittle.standing[None]))[0]
    actions = encoding.decode(np.stack([point, encoding.centre]))
    np.testing.assert_allclose(actions[0, :3], 0.5)  # 0.12 s at 25 Hz
    np.testing.assert_allclose(actions[0, 3:5], -1.0)  # cut
    np.testing.assert_allclose(actions[0, 5:], np.tile(stand, (5, 1)))
    np.testing.assert_allclose(actions[1], np.tile(stand, (10, 1)))


def test_skills_of_asymmetric_robots_are_not_made_symmetric(bittle, monkeypatch):
    def refuse(_):
        raise InputError("not its own mirror image")

    monkeypatch.setattr("kaccess.guide.skill.find_mirror", refuse)
    encoding = _Encoding(bittle, Dip(), SkillConfig(postures=1, seconds=0.2))
    posture = np.linspace(-1, 1, bittle.model.nu)
    actions = encoding.decode(np.append(posture, 0.2)[None])
    np.testing.assert_array_equal(actions[0], np.tile(posture, (5, 1)))


def test_progress_counts_rounds(bittle):
    seen = []
    config = SkillConfig(candidates=4, rounds=2, postures=1, seconds=0.04)
    with pytest.raises(InputError, match="No skill was found"):
        search_skill(
            bittle, Dip(), config, progress=lambda *counts: seen.append(counts)
        )
    assert seen == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"candidates": 1}, "`candidates` must be at least 2"),
        ({"rounds": 0}, "`rounds` must be at least 1"),
        ({"postures": 0}, "`postures` must be at least 1"),
        ({"noise": 1.5}, "`noise` must be at most 1"),
        ({"seconds": 0.0}, "`seconds` must be positive"),
        ({"seed": -1}, "`seed` must not be negative"),
    ],
)
def test_refuses_settings_that_cannot_work(settings, message):
    with pytest.raises(InputError, match=message):
        SkillConfig(**settings)


@pytest.mark.parametrize("seconds", [0.01, 7.0])
def test_refuses_times_that_do_not_fit_an_episode_twice(bittle, seconds):
    with pytest.raises(InputError, match="1 to 149 control steps"):
        search_skill(bittle, Dip(), SkillConfig(seconds=seconds))


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study"
    pipeline.sample(str(TINY), path, SampleConfig(n=4))
    pipeline.access(path, AccessConfig())
    return path


def found(monkeypatch, nu):
    """Make the search return a skill at once."""
    skill = Skill(np.full((3, nu), 0.25), 0.5, 7.0)
    monkeypatch.setattr("kaccess.guide.skill.search_skill", lambda *_, **__: skill)
    return skill


def test_a_study_stores_a_skill_and_its_guide_performs_it(
    study, tiny, monkeypatch, capsys
):
    skill, task = found(monkeypatch, tiny.model.nu), make_task("backflip")
    with pytest.raises(InputError, match="Run `kaccess search"):
        find_skill(Study(study), task)
    main(["search", str(study), "--rounds", "3"])
    assert "a skill of 3 steps that succeeds in 50%" in capsys.readouterr().out
    monkeypatch.setattr("kaccess.guide.skill.search_skill", None)  # not twice
    main(["search", str(study), "--rounds", "3"])
    stored = find_skill(Study(study), task)
    np.testing.assert_array_equal(stored.actions, skill.actions)
    assert (stored.success, stored.reward) == (0.5, 7.0)
    content = json.loads((study / "skills" / "backflip.json").read_text())
    assert content["settings"]["rounds"] == 3
    guide = Guide.of(Study(study), 1, task=task)
    stand = np.concatenate(
        [[0, 0, -1, 0, 0, 0], tiny.get_joints(tiny.standing[None])[0]]
    )
    action = guide.act(stand[None], np.array([True]))
    np.testing.assert_array_equal(action[0], skill.actions[0])


@pytest.mark.parametrize("task", ["stand", "fall-recovery"])
def test_skills_of_standing_tasks_join_the_posture_graph(study, task, capsys):
    before = Study(study).graph
    quick = ("--get-up.skills", "1", "--get-up.candidates", "8", "--get-up.rounds", "1")
    quick += ("--get-up.explored", "48")
    main(["search", str(study), "--task", task, *quick])
    out = capsys.readouterr().out
    assert "trapped poses." in out and "ends with a rating of" in out
    after = Study(study).graph
    assert after.commands.is_skill.sum() == 3
    assert len(after.nodes) >= len(before.nodes)
    assert not (study / "skills").exists()


def test_nothing_is_searched_for_where_no_pose_is_trapped(study, monkeypatch, capsys):
    monkeypatch.setattr("kaccess.access.skills.find_trap", lambda *_: (None, []))
    main(["search", str(study), "--task", "stand"])
    assert "Nothing to search for: a good chain of moves" in capsys.readouterr().out
    assert not (study / "graph.npz").exists()
