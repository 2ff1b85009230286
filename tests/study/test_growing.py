"""Growth and searches in a study: what is stored, and what a second run does."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from kaccess import InputError, Study, pipeline
from kaccess.access import growth
from kaccess.config import EngineConfig, GetUpConfig, GrowConfig, SkillConfig
from kaccess.engines import make_replayer
from kaccess.evaluation import plan_test
from kaccess.study import growing

SMALL = GrowConfig(tests=4, added=2, most=24, patience=9)
SEARCH = GetUpConfig(skills=1, explored=48, candidates=8, rounds=1)
UP = SkillConfig(task="fall-recovery")


@pytest.fixture(autouse=True)
def few_springboards(monkeypatch):
    monkeypatch.setattr(growth, "_N_POSTURES", 16)


@pytest.fixture
def seeds(monkeypatch):
    """List the seeds of the fresh poses."""
    seen, draw = [], growing.draw_poses

    def spy(robot, config, **kwargs):
        seen.append(config.seed)
        return draw(robot, config, **kwargs)

    monkeypatch.setattr(growing, "draw_poses", spy)
    return seen


@pytest.fixture
def answer(monkeypatch):
    """Return a function that sets how many robots stand up in each round."""

    def set_answers(*ups):
        rounds = iter(ups)
        monkeypatch.setattr(
            plan_test,
            "make_plan_test",
            lambda *_, **__: lambda plan, qpos: np.arange(len(qpos)) < next(rounds),
        )

    return set_answers


def read_rounds(path):
    return json.loads((path / "growth.json").read_text())["rounds"]


def test_the_best_graph_is_stored_and_all_rounds_are_told(study, answer):
    answer(0, 2, 1, 4)
    grown = pipeline.grow(study, SMALL)
    assert [each.n_in_time for each in grown.rounds] == [0, 2, 1, 4]
    assert grown.seconds == Study(study).test_seconds and grown.share == 0.99
    assert read_rounds(study) == [vars(each) for each in grown.rounds]
    sizes = [each.n_poses for each in grown.rounds]
    assert sizes[0] == 12 and len(Study(study).graph.nodes) - 1 == sizes[3] > 12
    assert json.loads((study / "growth.json").read_text())["settings"]["tests"] == 4


def test_a_worse_graph_is_not_stored(study, answer):
    answer(0, 2, 1, 1)
    grown = pipeline.grow(study, GrowConfig(tests=4, added=2, patience=2))
    opened = Study(study)
    assert len(opened.graph.nodes) - 1 == grown.rounds[1].n_poses
    assert len(grown.rounds) == 4


def test_moves_of_the_study_are_those_of_the_stored_graph(study):
    opened = Study(study)
    pipeline.grow(opened, replace(SMALL, most=15))
    engine = make_replayer("mujoco", opened.robot, opened.still)
    replay = growing.replay_plan(
        opened.plan, opened.poses.qpos, opened.access_config, engine=engine
    )
    np.testing.assert_array_equal(opened.n_moves, replay.n_moves)
    assert opened.n_moves.shape == (12,)


def test_a_second_run_goes_on_with_fresh_poses(study, answer, seeds):
    answer(1, 4)
    first = pipeline.grow(study, SMALL)
    assert seeds == [0, 1]
    answer(2, 3, 4)
    second = pipeline.grow(study, SMALL)
    assert seeds == [0, 1, 2, 3, 4]  # none of those from which it has grown
    assert second.rounds[0].n_poses == first.rounds[-1].n_poses
    assert read_rounds(study) == [vars(e) for e in (*first.rounds, *second.rounds)]


def test_threads_do_not_change_growth(study):
    graphs = []
    for threads in (1, 2):
        (study / "graph.npz").unlink(missing_ok=True)
        (study / "growth.json").unlink(missing_ok=True)
        few = replace(SMALL, most=16)
        pipeline.grow(study, few, engine=EngineConfig(threads=threads))
        graphs.append(Study(study).graph)
    one, two = graphs
    np.testing.assert_array_equal(one.nodes.qpos, two.nodes.qpos)
    np.testing.assert_array_equal(one.landings.states, two.landings.states)


def test_an_interrupted_growth_keeps_the_rounds_before(study, answer, monkeypatch):
    extend, calls = growth.extend_graph, []

    def interrupt(*args, **kwargs):
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return extend(*args, **kwargs)

    monkeypatch.setattr(growth, "extend_graph", interrupt)
    answer(1, 2, 3)
    with pytest.raises(KeyboardInterrupt):
        pipeline.grow(study, SMALL)
    stored = Study(study).graph
    assert len(stored.nodes) - 1 > 12
    assert [each["n_in_time"] for each in read_rounds(study)] == [1, 2]
    answer(4)
    again = pipeline.grow(study, SMALL)
    assert again.rounds[0].n_poses == len(stored.nodes) - 1
    assert len(read_rounds(study)) == 3


def test_a_search_stores_its_skills_and_growth_goes_on_with_them(study, answer):
    found = pipeline.search(study, UP, SEARCH)
    assert len(found.found) == 1
    searched = Study(study).graph
    assert searched.commands.is_skill.sum() == 3
    answer(0, 4)
    pipeline.grow(study, SMALL)
    grown = Study(study).graph
    np.testing.assert_array_equal(
        grown.commands.is_skill[: len(searched.commands) - 1],
        searched.commands.is_skill[:-1],
    )
    assert len(grown.nodes) > len(searched.nodes)
    n_poses, n_commands = len(grown.nodes) - 1, len(grown.commands)
    assert n_commands == n_poses + 1 + 3  # standing, and three skills
    assert grown.landings.node.shape == (n_poses, n_commands)


def remove_landings(path):
    shutil.rmtree(path / "study.zarr" / "landings")


def remove_states(path):
    for name in ("states", "states_standing"):
        shutil.rmtree(path / "study.zarr" / "landings" / name)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (remove_landings, "has no graph that can grow: its robot does not stand, or"),
        (remove_states, "has too many poses to grow: the states in which moves end"),
    ],
)
def test_a_study_without_what_growth_needs_is_refused(study, harm, message):
    harm(study)
    with pytest.raises(InputError, match=message):
        pipeline.grow(study, SMALL)
    with pytest.raises(InputError, match=message):
        pipeline.search(study, UP, SEARCH)
    assert not (study / "graph.npz").exists()


@pytest.mark.parametrize("replayed", [True, False])
@pytest.mark.parametrize(("share", "needed"), [(0.5, True), (1.0, False)])
def test_skills_are_needed_where_few_poses_stand_up(
    study, monkeypatch, share, needed, replayed
):
    """By replays, though no chain of landings may lead there; else by chains."""
    opened = Study(study)
    n = opened.n_poses
    up = (np.arange(n) < share * n).astype(int)
    chains = np.zeros(n, int) if replayed else up
    monkeypatch.setattr(opened.plan, "n_moves", chains)
    monkeypatch.setattr(Study, "n_moves", up if replayed else None)
    assert opened.has_routes
    assert growing.needs_skills(opened) is needed


def test_skills_are_searched_for_once(study):
    pipeline.search(study, UP, SEARCH)
    assert not growing.needs_skills(Study(study))
