"""The guide that travels says what the guide of kaccess says."""

import mujoco
import numpy as np
import pytest

from kaccess.access import Attempts, Commands, Landings, Plan
from tests.exports.loading import load_file

N = 60


@pytest.fixture(scope="module")
def guide_file(folders):
    return load_file(folders["mjcf"] / "kaccess_guide.py")


@pytest.fixture(scope="module")
def postures(small_study):
    """Return postures of poses, near poses, of standing, and anywhere."""
    rng = np.random.default_rng(0)
    poses, robot = small_study.poses, small_study.robot
    gravity = rng.normal(size=(N, 3))
    gravity /= np.linalg.norm(gravity, axis=1, keepdims=True)
    joints = rng.uniform(*robot.joint_range.T, (N, robot.model.nu))
    gravity[:12], joints[:12] = poses.gravity, poses.joints
    gravity[12:24] = poses.gravity
    joints[12:24] = poses.joints + 0.1 * rng.normal(size=poses.joints.shape)
    gravity[24], joints[24] = [0.0, 0.0, -1.0], robot.standing_targets
    return gravity, joints


def list_tried(tried, convert=np.asarray):
    """Return attempts as the file that travels takes them."""
    places = range(tried.commands.shape[1])
    past = [(tried.postures[:, i], tried.commands[:, i]) for i in places]
    return [tuple(map(convert, (p[:, :3], p[:, 3:], c))) for p, c in past]


def check_agreement(guide, plan, postures, convert):
    """Compare four decisions in a row, with memory of those before."""
    gravity, joints = postures
    tried = Attempts.none(N, joints.shape[1])
    chosen = set()
    for _ in range(4):
        command, seconds, nearest = plan.choose(gravity, joints, tried)
        move = guide.choose(
            convert(gravity), convert(joints), list_tried(tried, convert)
        )
        np.testing.assert_array_equal(move.command, command)
        np.testing.assert_array_equal(move.targets, plan.commands.postures[command])
        np.testing.assert_array_equal(move.seconds, plan.commands.seconds[command])
        np.testing.assert_allclose(move.wait, seconds, atol=1e-12)
        stands = (nearest == plan.n_nodes - 1) & (command == len(plan.commands) - 1)
        np.testing.assert_array_equal(move.stands, stands)
        tried.add(np.arange(N), gravity, joints, command)
        chosen |= set(command.tolist())
    assert len(chosen) > 5 and stands[24]  # the test sees different decisions


def test_it_agrees_with_the_plan(guide_file, small_study, postures):
    check_agreement(guide_file.Guide(), small_study.plan, postures, np.asarray)


def test_it_agrees_with_the_plan_in_torch(guide_file, small_study, postures):
    torch = pytest.importorskip("torch")
    guide = guide_file.Guide(xp=torch, device="cpu")
    check_agreement(guide, small_study.plan, postures, torch.from_numpy)


def test_it_agrees_with_a_plan_that_has_skills(
    guide_file, small_study, postures, tmp_path
):
    """The last commands go through two postures, and take time."""
    plan = small_study.plan
    n, m = len(plan.nodes) - 1, len(plan.commands)
    skills = Commands(np.repeat(plan.commands.postures[:2], 2, axis=1), np.ones((2, 2)))
    rng = np.random.default_rng(1)
    landings = Landings(
        rng.integers(0, n + 1, (n, m + 2)),
        rng.uniform(0, 2, (n, m + 2)),
        rng.uniform(0.2, 1.0, (n, m + 2)),
    )
    commands = plan.commands[:-1] + skills + plan.commands[-1:]
    richer = Plan(plan.nodes, commands, landings, horizon=3.0)
    names = np.array(small_study.robot.joint_names)
    path = tmp_path / "tables.npz"
    np.savez(path, target_names=names, **richer.list_tables())
    check_agreement(guide_file.Guide(path), richer, postures, np.asarray)


def test_it_knows_the_order_of_the_joints(guide_file, small_study):
    assert guide_file.Guide().joint_names == small_study.robot.joint_names


def test_a_file_without_routes_is_an_error(guide_file, tmp_path):
    path = tmp_path / "starts.npz"
    np.savez(path, qpos=np.zeros((1, 9)))
    with pytest.raises(ValueError, match="has no guide: its study has no routes"):
        guide_file.Guide(path)


def stand_up(guide, model, qpos, n_moves):
    """Return whether a robot stands after some moves, in plain MuJoCo."""
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    tried = []
    for _ in range(n_moves):
        mujoco.mj_forward(model, data)
        gravity = -data.xmat[1].reshape(3, 3)[2][None]
        joints = data.qpos[None, 7:].copy()
        move = guide.choose(gravity, joints, tried)
        if move.stands[0]:
            return True
        tried.append((gravity, joints, move.command))
        ways = np.concatenate([joints, move.targets[0]])
        times = np.concatenate([[0.0], move.seconds[0].cumsum()])
        times += 1e-9 * np.arange(len(times))  # targets that jump
        began = data.time
        while data.time - began < move.wait[0] + 0.5:
            for i in range(model.nu):
                data.ctrl[i] = np.interp(data.time - began, times, ways[:, i])
            mujoco.mj_step(model, data)
    return False


def test_robots_that_follow_it_stand_up_in_plain_mujoco(guide_file, small_study):
    """Those at least that stood up when kaccess followed its own guide."""
    guide, model = guide_file.Guide(), small_study.robot.model
    poses = small_study.poses.qpos[small_study.n_moves > 0]
    assert len(poses) >= 3
    assert all(stand_up(guide, model, each, 8) for each in poses)
