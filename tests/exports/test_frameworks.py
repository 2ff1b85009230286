"""Files that travel in their frameworks, or in stubs with the documented signatures.

`tests/exports/real` tests them with the real packages.
"""

import sys
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest

from tests.conftest import TINY
from tests.exports.loading import load_file

ORIGINS = np.array([[0.0, 0, 0], [5, 0, 0], [0, 5, 0], [5, 5, 0.5]])


def find_start(arrays, qpos):
    """Return the number of the start that a state is; an error if it is none."""
    distance = np.abs(arrays["qpos"] - qpos).max(axis=1)
    assert distance.min() < 1e-6
    return int(distance.argmin())


# Gymnasium


@pytest.fixture
def ant(folders):
    """Return Gymnasium's ant, with the body of the tiny robot."""
    pytest.importorskip("imageio", reason="environments of Gymnasium import it")
    file = load_file(folders["gymnasium"] / "kaccess_gymnasium.py")
    env = gymnasium.make("Ant-v5", xml_file=str(TINY), healthy_z_range=(0.0, 1.0))
    return file.FromStarts(env)


def test_gymnasium_begins_episodes_in_starts(ant, arrays):
    seen = set()
    for seed in range(12):
        obs, info = ant.reset(seed=seed)
        assert find_start(arrays, ant.unwrapped.data.qpos) == info["start"]
        np.testing.assert_array_equal(obs, ant.unwrapped._get_obs())
        seen.add(info["start"])
    assert len(seen) > 2
    ant.step(ant.action_space.sample())


def test_gymnasium_draws_with_the_seed_of_the_environment(ant):
    drawn = [[ant.reset(seed=7)[1]["start"]] for _ in range(2)]
    for draws in drawn:
        ant.reset(seed=7)
        draws += [ant.reset()[1]["start"] for _ in range(8)]
    assert drawn[0] == drawn[1] and len(set(drawn[0])) > 1


def test_gymnasium_refuses_another_robot(folders):
    pytest.importorskip("imageio", reason="environments of Gymnasium import it")
    file = load_file(folders["gymnasium"] / "kaccess_gymnasium.py")
    with pytest.raises(ValueError, match="must have the same joints"):
        file.FromStarts(gymnasium.make("Ant-v5"))


# MuJoCo Playground, with stubs of JAX and of a `Getup`


class Getup:
    """What the files use of a robot's `Getup`: 60 % dropped, the others standing."""

    def __init__(self, config=None, config_overrides=None):
        import mujoco

        defaults = {"drop_from_height_prob": 0.6, "settle_time": 0.5, "Kp": 35.0}
        self.config = {**defaults, **(config or {}), **(config_overrides or {})}
        self.mj_model = mujoco.MjModel.from_xml_path(str(TINY))


@pytest.fixture
def jax(monkeypatch):
    """Put a module in the place of JAX; its keys are NumPy's generators."""
    if "jax" in sys.modules:
        pytest.skip("JAX is here: the real packages test this")
    random = SimpleNamespace(choice=lambda key, n, p: key.choice(n, p=p))
    stub = SimpleNamespace(numpy=np, random=random, Array=np.ndarray)
    monkeypatch.setitem(sys.modules, "jax", stub)
    monkeypatch.setitem(sys.modules, "jax.numpy", np)


def test_playground_draws_starts_and_nothing_else(jax, folders, arrays):
    file = load_file(folders["playground"] / "kaccess_playground.py")
    env = file.from_starts(Getup)(config_overrides={"Kp": 20.0})
    assert env.config == {"drop_from_height_prob": 1.0, "settle_time": 0.0, "Kp": 20.0}
    rng = np.random.default_rng(0)
    drawn = {find_start(arrays, env._get_random_qpos(rng)) for _ in range(30)}
    assert drawn == {0, 1, 2, 3}


# mjlab, Isaac Lab and ManiSkill


class Robot:
    """Keeps what is written to it, by the name of the method."""

    joint_names = ("right", "left")

    def __init__(self, *methods):
        self.written = {}
        for method in methods:
            setattr(self, method, self._make_writer(method))

    def _make_writer(self, method):
        def write(*values, env_ids, **named):
            assert env_ids.tolist() == [1, 3]
            self.written[method] = [*values, *named.values()]
            self.written.setdefault("names", {})[method] = [*named]

        return write


def make_env(torch, robot):
    origins = torch.tensor(ORIGINS, dtype=torch.float32)

    class Scene(dict):
        env_origins = origins

    return SimpleNamespace(scene=Scene(robot=robot), num_envs=4, device="cpu")


def check_written(arrays, pose, positions, *velocities):
    """Check that robots 1 and 3 are in starts; joints are in the robot's order."""
    pose, positions = np.asarray(pose, float), np.asarray(positions, float)
    pose[:, :3] -= ORIGINS[[1, 3]]
    qpos = np.concatenate([pose, positions[:, ::-1]], axis=1)
    for state in qpos:
        find_start(arrays, state)
    assert not any(np.any(np.asarray(each)) for each in velocities)


MJLAB = (
    "write_root_link_pose_to_sim",
    "write_root_link_velocity_to_sim",
    "write_joint_state_to_sim",
)
ISAAC_2 = ("write_root_pose_to_sim", *MJLAB[1:])
ISAAC_3 = {
    "write_root_pose_to_sim_index": ["root_pose"],
    "write_root_link_velocity_to_sim_index": ["root_velocity"],
    "write_joint_position_to_sim_index": ["position"],
    "write_joint_velocity_to_sim_index": ["velocity"],
}


@pytest.mark.parametrize(("name", "methods"), [("mjlab", MJLAB), ("isaaclab", ISAAC_2)])
def test_some_robots_are_put_into_starts(folders, arrays, name, methods):
    torch = pytest.importorskip("torch")
    robot = Robot(*methods)
    file = load_file(folders[name] / f"kaccess_{name}.py")
    file.reset_to_starts(make_env(torch, robot), torch.tensor([1, 3]))
    (pose,), (velocity,), joints = (robot.written[method] for method in methods)
    check_written(arrays, pose, joints[0], velocity, joints[1])


def test_isaac_lab_3_has_other_quaternions_and_names(folders, arrays):
    torch = pytest.importorskip("torch")
    robot = Robot(*ISAAC_3)
    file = load_file(folders["isaaclab"] / "kaccess_isaaclab.py")
    file.reset_to_starts(make_env(torch, robot), torch.tensor([1, 3]))
    assert robot.written.pop("names") == ISAAC_3
    pose, velocity, positions, velocities = (each[0] for each in robot.written.values())
    pose = pose[:, [0, 1, 2, 6, 3, 4, 5]]  # back to w-x-y-z
    check_written(arrays, pose, positions, velocity, velocities)


def test_mjlab_refuses_another_robot(folders):
    torch = pytest.importorskip("torch")
    file = load_file(folders["mjlab"] / "kaccess_mjlab.py")
    robot = SimpleNamespace(joint_names=("left", "tail"))
    with pytest.raises(ValueError, match=r"only the robot has \['tail'\]"):
        file.reset_to_starts(make_env(torch, robot), torch.tensor([0]))


def test_agile_finds_fallen_states(folders, arrays, tmp_path):
    torch = pytest.importorskip("torch")
    file = load_file(folders["isaaclab"] / "kaccess_isaaclab.py")
    path = tmp_path / "fallen.pt"
    file.save_for_agile(path, ["right", "left"], n=50)
    content = torch.load(path, weights_only=True)
    assert content["num_joints"] == 2 and content["num_terrain_levels"] == 1
    level = {
        name: np.asarray(each) for name, each in content["states_by_level"][0].items()
    }
    widths = {name: each.shape[1:] for name, each in level.items()}
    assert widths == {
        "root_pos_rel": (3,),
        "root_quat": (4,),
        "root_lin_vel": (3,),
        "root_ang_vel": (3,),
        "joint_pos": (2,),
        "joint_vel": (2,),
        "terrain_type": (),
    }
    parts = level["root_pos_rel"], level["root_quat"], level["joint_pos"][:, ::-1]
    drawn = {find_start(arrays, state) for state in np.concatenate(parts, axis=1)}
    assert drawn == {0, 1, 2, 3}


class ManiSkillEnv(gymnasium.Env):
    """What the files use of a `BaseEnv`, with a robot and a ball."""

    def __init__(self, torch):
        joints = [SimpleNamespace(name=name) for name in Robot.joint_names]
        robot = SimpleNamespace(name="tiny", active_joints=joints)
        self.agent = SimpleNamespace(robot=robot)
        self.num_envs, self.device = 4, torch.device("cpu")
        self.balls = torch.arange(4.0)[:, None] * torch.ones(13)

    def get_state_dict(self):
        robots = self.balls.new_zeros(4, 17)
        return {"actors": {"ball": self.balls}, "articulations": {"tiny": robots}}

    def reset(self, *, seed=None, options=None):
        self.given = options
        return None, {}


def test_maniskill_is_given_states_of_the_robot_and_of_all_else(folders, arrays):
    torch = pytest.importorskip("torch")
    file = load_file(folders["maniskill"] / "kaccess_maniskill.py")
    env = ManiSkillEnv(torch)
    file.FromStarts(env).reset(options={"env_idx": torch.tensor([1, 3]), "mine": 1})
    assert env.given["mine"] == 1 and env.given["env_idx"].tolist() == [1, 3]
    states = env.given["reset_to_env_states"]["env_states"]
    assert states["actors"]["ball"][:, 0].tolist() == [1.0, 3.0]
    rows = np.asarray(states["articulations"]["tiny"])
    assert rows.shape == (2, 17) and not rows[:, 7:13].any()
    for row in rows:
        find_start(arrays, row[[*range(7), 14, 13]])
