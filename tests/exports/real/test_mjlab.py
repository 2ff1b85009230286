"""mjlab's own Go1 task, on a CPU."""

import pytest

from tests.exports.real.common import find_start, load_export

pytestmark = pytest.mark.exports
pytest.importorskip("mjlab")

import torch
from mjlab.envs import ManagerBasedRlEnv
from mjlab.managers.event_manager import EventTermCfg
from mjlab.tasks.velocity.config.go1.env_cfgs import unitree_go1_flat_env_cfg


@pytest.fixture(scope="module")
def env():
    cfg = unitree_go1_flat_env_cfg()
    cfg.scene.num_envs = 4
    reset = load_export("mjlab").reset_to_starts
    cfg.events["starts"] = EventTermCfg(func=reset, mode="reset")
    return ManagerBasedRlEnv(cfg, device="cpu")


def list_starts(env):
    """Return the start that each robot is in."""
    robot, qpos = env.scene["robot"], torch.tensor(env.sim.data.qpos.numpy())
    qpos[:, :3] -= env.scene.env_origins
    return [find_start(robot.joint_names, each[:7], each[7:]) for each in qpos]


def test_all_robots_begin_in_starts(env):
    env.reset()
    assert len(set(list_starts(env))) > 1
    assert not env.sim.data.qvel.numpy().any()


def test_some_robots_are_reset(env):
    env.reset()
    before = list_starts(env)
    env.reset(env_ids=torch.tensor([2]))
    after = list_starts(env)
    assert [after[i] for i in (0, 1, 3)] == [before[i] for i in (0, 1, 3)]


def test_a_step_after_the_reset_works(env):
    env.reset()
    obs, *_ = env.step(torch.zeros(4, 12))
    assert torch.isfinite(obs["actor"]).all()
