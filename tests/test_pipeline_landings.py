"""Where moves end: stored by `access`, replayed, and followed by the guide."""

import shutil
from dataclasses import replace

import numpy as np

from kaccess import AccessConfig, Study, pipeline
from kaccess.engines.mujoco import MujocoEngine
from kaccess.envs.tasks import make_task
from kaccess.guide import FastestRoutes, Guide


def test_where_moves_end_is_stored_and_replayed_once(tiny_study, monkeypatch):
    study = pipeline.access(tiny_study, AccessConfig())
    landings, n_moves = study.arrays.read_landings(), study.n_moves
    assert landings.node.shape == (24, 25)
    assert study.plan is not None and n_moves.shape == (24,)
    assert (n_moves[study.plan.n_moves == 0] == 0).all()
    monkeypatch.setattr(MujocoEngine, "settle", None)  # nothing is simulated again
    again = pipeline.access(tiny_study, AccessConfig())
    np.testing.assert_array_equal(again.n_moves, n_moves)


def test_a_study_without_landings_takes_the_fastest_routes(tiny_study):
    study = pipeline.access(tiny_study, AccessConfig())
    shutil.rmtree(tiny_study / "study.zarr" / "landings")
    old = Study(tiny_study)
    assert old.plan is None and old.n_moves is None
    guide = Guide.of(old, 2, task=make_task("fall-recovery"))
    assert isinstance(guide._plan, FastestRoutes)
    np.testing.assert_array_equal(
        pipeline.access(tiny_study, AccessConfig()).times, study.times
    )


def test_the_guide_commands_what_the_plan_says(tiny_study):
    study = pipeline.access(tiny_study, AccessConfig())
    poses, n = study.poses, len(study.poses)
    command, seconds, _ = study.plan.choose(poses.gravity, poses.joints)
    task = replace(make_task("fall-recovery"), low_pass=0.0)
    guide = Guide.of(study, n, task=task)
    obs = np.concatenate([poses.gravity, np.zeros((n, 3)), poses.joints], axis=1)
    actions = guide.act(obs, np.ones(n, bool))
    targets = np.concatenate([poses.joints, study.robot.standing_targets[None]])
    expected = np.clip(study.robot.to_actions(targets[command]), -1, 1)
    np.testing.assert_allclose(actions, expected)
    state = guide.get_state()
    margin = 0.1 * np.sqrt(study.robot.scale.length)
    np.testing.assert_allclose(
        state["steps_left"], np.ceil((seconds + margin) * 25), atol=1
    )
