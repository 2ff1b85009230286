"""ManiSkill on a CPU, with a robot that has Go1's joints and plain shapes."""

import pytest

from tests.exports.real.common import find_start, load_export

pytestmark = pytest.mark.exports
pytest.importorskip("mani_skill")

import gymnasium
import mani_skill.envs  # noqa: F401  # it registers environments
import numpy as np
from mani_skill.agents.base_agent import BaseAgent
from mani_skill.agents.controllers import PDJointPosControllerConfig
from mani_skill.agents.registration import register_agent

LEGS, PARTS = ("FR", "FL", "RR", "RL"), ("hip", "thigh", "calf")
LINK = """
  <link name="{name}">
    <inertial>
      <mass value="0.5"/>
      <inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/>
    </inertial>
    <collision><geometry><box size=".05 .05 .05"/></geometry></collision>
  </link>
"""
JOINT = """
  <joint name="{name}_joint" type="revolute">
    <parent link="{parent}"/><child link="{name}"/><axis xyz="0 1 0"/>
    <origin xyz="0 0 -.2"/>
    <limit lower="-3" upper="3" effort="20" velocity="20"/>
  </joint>
"""


def write_urdf(path):
    parts = [LINK.format(name="trunk")]
    for leg in LEGS:
        parent = "trunk"
        for part in PARTS:
            name = f"{leg}_{part}"
            parts.append(LINK.format(name=name))
            parts.append(JOINT.format(name=name, parent=parent))
            parent = name
    path.write_text(f'<robot name="go1">{"".join(parts)}</robot>')


@pytest.fixture(scope="module")
def env(tmp_path_factory):
    path = tmp_path_factory.mktemp("robot") / "go1.urdf"
    write_urdf(path)

    @register_agent()
    class Go1(BaseAgent):
        uid = "plain_go1"
        urdf_path = str(path)
        fix_root_link = False

        @property
        def _controller_configs(self):
            names = [f"{leg}_{part}_joint" for leg in LEGS for part in PARTS]
            controller = PDJointPosControllerConfig(names, -1, 1, 20.0, 1.0)
            return {"pd_joint_pos": controller}

    plain = gymnasium.make(
        "Empty-v1",
        robot_uids="plain_go1",
        obs_mode="state_dict",
        sim_backend="physx_cpu",
        render_backend="none",
    )
    return load_export("maniskill").FromStarts(plain)


def test_every_episode_begins_in_a_start(env):
    seen = set()
    for _ in range(12):
        env.reset()
        robot = env.unwrapped.agent.robot
        joints = [joint.name for joint in robot.active_joints]
        root = np.concatenate([robot.pose.p[0], robot.pose.q[0]])
        seen.add(find_start(joints, root, robot.get_qpos()[0]))
        assert not robot.get_qvel().any()
    assert len(seen) > 2


def test_a_step_after_the_reset_works(env):
    env.reset()
    env.step(env.action_space.sample())
