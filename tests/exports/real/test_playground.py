"""Go1's get-up task of MuJoCo Playground, with MJX on a CPU."""

import numpy as np
import pytest

from tests.exports.real.common import find_start, load_export, load_guide

pytestmark = pytest.mark.exports
pytest.importorskip("mujoco_playground")

import jax
import jax.numpy as jnp
from mujoco_playground._src.locomotion.go1.getup import Getup

N = 8


@pytest.fixture(scope="module")
def env():
    made = load_export("playground").from_starts(Getup)
    return made(config_overrides={"impl": "jax"})


@pytest.fixture(scope="module")
def reset(env):
    return jax.jit(jax.vmap(env.reset))


def list_starts(env, qpos):
    joints = [env.mj_model.joint(i).name for i in range(1, env.mj_model.njnt)]
    return [find_start(joints, each[:7], each[7:]) for each in np.asarray(qpos)]


def test_every_episode_begins_in_a_start(env, reset):
    state = reset(jax.random.split(jax.random.PRNGKey(0), N))
    assert len(set(list_starts(env, state.data.qpos))) > 2


def test_the_guide_works_with_jax():
    file = load_guide("playground")
    rng = np.random.default_rng(0)
    gravity, joints = rng.normal(size=(N, 3)), rng.normal(size=(N, 12))
    gravity /= np.linalg.norm(gravity, axis=1, keepdims=True)
    wanted = file.Guide().choose(gravity, joints)
    choose = jax.jit(file.Guide(xp=jnp).choose)
    move = choose(jnp.asarray(gravity), jnp.asarray(joints))
    np.testing.assert_array_equal(move.command, wanted.command)
    np.testing.assert_allclose(move.targets, wanted.targets, atol=1e-5)
