"""Rewards and readings on tensors against the compiled loops, robot by robot."""

import subprocess
import sys

import mujoco
import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from kaccess import InputError, load_robot
from kaccess.envs import Backflip, FallRecovery, GetUp, Stand, kernels
from kaccess.envs.ground import find_shapes
from kaccess.envs.physics import Fields
from kaccess.envs.readings import JointAddresses, make_readings, update_readings
from kaccess.envs.tasks import make_task
from kaccess.gpu.on_tensors import ALL, make_tensor_judge, on_tensors
from kaccess.gpu.readings import TensorFields, TensorReader
from tests.conftest import TINY
from tests.envs.test_ground import FLYING, SCENE, SHAPES, SLOPE

N = 40
COMMON = {"standing_height": 0.2, "time_step": 0.04}


def draw_fields(robot, seed=0):
    """Return fields of robots in random states above and in the floor."""
    model, rng = robot.model, np.random.default_rng(seed)
    data = mujoco.MjData(model)
    rows = []
    for _ in range(N):
        data.qpos[:] = rng.normal(size=model.nq)
        data.qpos[2] = abs(rng.normal(scale=robot.standing[2]))
        data.qpos[3:7] /= np.linalg.norm(data.qpos[3:7])
        data.qvel[:] = rng.normal(size=model.nv)
        mujoco.mj_kinematics(model, data)
        rows.append([data.qpos, data.qvel, data.geom_xpos, data.geom_xmat])
        rows[-1] = [np.array(each) for each in rows[-1]]
    qpos, qvel, position, rotation = (
        np.stack(each) for each in zip(*rows, strict=True)
    )
    ctrl, force = rng.normal(size=(2, N, model.nu))
    return Fields(qpos, qvel, ctrl, force, position, rotation)


def read_both(robot, seed=0):
    """Return the readings of the compiled loop, and those on tensors."""
    fields, shapes = draw_fields(robot, seed), find_shapes(robot)
    last = np.random.default_rng(seed + 1).normal(size=(N, 4))
    last[:8] = fields.qpos[:8, 3:7]  # no rotation
    last[8:16] = -fields.qpos[8:16, 3:7]  # none either
    last /= np.linalg.norm(last, axis=1, keepdims=True)
    velocity = robot.model.jnt_dofadr[robot.model.actuator_trnid[:, 0]]
    joints = JointAddresses(robot.joint_adr.astype(int), velocity.astype(int))
    options = COMMON | {"standing_joints": np.linspace(-1, 1, robot.model.nu)}
    loop = make_readings(N, robot.model.nu, shapes.n_feet, **options)
    down = np.tile(shapes.down, (N, 1))
    update_readings(loop, np.arange(N), fields, last, joints, shapes, down)
    like = torch.zeros(1, dtype=torch.float64)
    reader = TensorReader(shapes, joints, **options, like=like)
    tensors = TensorFields(*(torch.from_numpy(each) for each in fields))
    shape = (N, robot.model.ngeom, 3, 3)
    tensors = tensors._replace(geom_xmat=tensors.geom_xmat.reshape(shape))
    return loop, reader.read(tensors, torch.from_numpy(last))


@pytest.fixture(params=["bittle", "tiny"])
def robot(request):
    return load_robot({"bittle": "bittle", "tiny": TINY}[request.param])


def check_equal(loop, tensors):
    for name, expected in loop._asdict().items():
        found = np.asarray(getattr(tensors, name))
        np.testing.assert_allclose(found, expected, atol=1e-12, err_msg=name)


def test_readings_equal_those_of_the_loop(robot):
    loop, tensors = read_both(robot)
    check_equal(loop, tensors)
    assert 0 < loop.body_touches.sum() < N  # the comparison means something


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_measured_as_in_the_loop(shape, tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text(SCENE.format(shape=SHAPES[shape], ground=SLOPE))
    robot = load_robot(path, stance=FLYING)
    fields, shapes = draw_fields(robot), find_shapes(robot)
    joints = JointAddresses(robot.joint_adr.astype(int), np.array([6, 7]))
    like = torch.zeros(1, dtype=torch.float64)
    options = COMMON | {"standing_joints": np.zeros(2)}
    reader = TensorReader(shapes, joints, **options, like=like)
    tensors = TensorFields(*(torch.from_numpy(each) for each in fields))
    shaped = tensors.geom_xmat.reshape(N, -1, 3, 3)
    found = reader.measure_clearances(tensors._replace(geom_xmat=shaped))
    loop = make_readings(N, 2, shapes.n_feet, **options)
    down, still = np.tile(shapes.down, (N, 1)), fields.qpos[:, 3:7]
    update_readings(loop, np.arange(N), fields, still, joints, shapes, down)
    np.testing.assert_allclose(found.amin(1), loop.distance, atol=1e-12)


@pytest.mark.parametrize("name", ["fall-recovery", "get-up", "stand"])
def test_rewards_and_success_equal_those_of_the_loop(robot, name):
    task = make_task(name, robot)
    judge = on_tensors(type(task).judge)
    memory, terms = np.zeros((N, len(task.memory))), np.zeros((N, len(task.terms)))
    memory_2, terms_2 = (torch.zeros(each.shape).double() for each in (memory, terms))
    for seed in range(3):
        loop, tensors = read_both(robot, seed)
        # Some robots stand, so that steps are counted.
        loop.height[::3] = loop.standing_height
        loop.gravity[::3] = 0.0, 0.0, -1.0
        loop.floor_cosine[::3] = 1.0
        loop.body_touches[::3] = False
        changed = ("height", "gravity", "floor_cosine", "body_touches")
        tensors = tensors._replace(
            **{name: torch.from_numpy(getattr(loop, name)) for name in changed}
        )
        task.judge(loop, np.arange(N), memory, terms)
        judge(task, tensors, ALL, memory_2, terms_2)
        np.testing.assert_allclose(terms_2, terms, atol=1e-12)
        np.testing.assert_array_equal(memory_2, memory)
    assert memory.max() == 3 and memory.min() == 0
    for mine, other in zip(
        task.has_succeeded(memory_2), task.has_succeeded(memory), strict=True
    ):
        np.testing.assert_array_equal(mine, other)


class Sums(Stand):
    """A copy of an older reward: on tensors it would sum over all robots."""

    def judge(self, now, rows, memory, terms):
        for i in rows:
            terms[i, 0] = now.foot_touches[i].sum()
            terms[i, 1] = terms[i, 2] = 0.0


class Calls(Stand):
    """It calls the reward of its base class, which is compiled."""

    def judge(self, now, rows, memory, terms):
        super().judge(now, rows, memory, terms)


class ByModule(Stand):
    """It calls a compiled function by the name of its module."""

    def judge(self, now, rows, memory, terms):
        for i in rows:
            terms[i, 0] = kernels.square(now.height[i])
            terms[i, 1] = terms[i, 2] = 0.0


@pytest.mark.parametrize("kind", [Backflip, Sums, Calls, ByModule])
def test_a_task_that_differs_on_tensors_is_refused(kind):
    with pytest.raises(InputError, match="cannot be computed on tensors"):
        make_tensor_judge(kind(), nu=8, n_feet=4)


@pytest.mark.parametrize("kind", [FallRecovery, GetUp, Stand])
def test_tasks_that_are_equal_on_tensors_are_taken(kind):
    for nu in (2, 12, 17):
        make_tensor_judge(kind(), nu=nu, n_feet=3)


def test_ppo_does_not_need_warp():
    script = (
        "import sys\n"
        "sys.modules['mujoco_warp'] = sys.modules['warp'] = None\n"
        "import kaccess.ppo\n"
        "try: kaccess.gpu.TensorRobots\n"
        "except ImportError as error: assert 'pip install' in str(error), error\n"
        "else: raise AssertionError\n"
    )
    pytest.importorskip("rsl_rl")
    subprocess.run([sys.executable, "-c", script], check=True)
