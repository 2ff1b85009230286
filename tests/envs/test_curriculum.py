"""Curricula along routes: where they start, how they move, that they can be resumed."""

import numpy as np
import pytest

from kaccess import InputError
from kaccess.envs import RobotEnv, RobotVectorEnv
from kaccess.envs.curriculum import AlongRoutes, RollIn, RouteStates
from kaccess.starts import InitialStates

N_ROUTES, LENGTH = 3, 12  # routes of 13 states each


def make_states(robot, n):
    """Return n states that are told apart by their x."""
    qpos = np.repeat(robot.standing[None], n, axis=0)
    qpos[:, 0] = np.arange(n)
    return qpos


def make_routes(robot):
    qpos = make_states(robot, N_ROUTES * (LENGTH + 1))
    elapsed = np.tile(np.arange(LENGTH + 1), N_ROUTES)
    qvel = np.zeros((len(qpos), robot.model.nv))
    qvel[:, 0] = 0.01 * elapsed
    targets = np.repeat(robot.standing_targets[None], len(qpos), axis=0)
    return RouteStates(qpos, qvel, targets, elapsed, LENGTH - elapsed)


def make_rest(robot):
    qpos = make_states(robot, 2)
    qpos[:, 0] -= 10
    return InitialStates.uniform(qpos, names=("a", "b"), model=robot.fingerprint)


@pytest.fixture
def along(tiny):
    return AlongRoutes(make_rest(tiny), make_routes(tiny))


@pytest.fixture
def rollin(tiny):
    return RollIn(make_rest(tiny), make_routes(tiny))


def act_randomly(env, n_steps):
    """Return what random actions lead to."""
    rng = np.random.default_rng(1)
    actions = rng.uniform(-1, 1, (n_steps, *env.action_space.shape))
    return np.array([env.step(each)[0] for each in actions])


def draw_many(curriculum, n=2000):
    rng = np.random.default_rng(0)
    return np.array([curriculum.draw(rng) for _ in range(n)])


def test_starts_are_almost_standing_at_first(along):
    drawn = draw_many(along)
    at_rest = drawn == -1
    assert at_rest.mean() == pytest.approx(0.2, abs=0.03)
    remaining = along._routes.remaining[drawn[~at_rest]]
    assert (remaining <= 1).mean() > 0.75


def test_starts_move_outwards_with_success(along):
    """What succeeds is drawn less often, and what comes before it more often."""
    along.success[:4] = 1.0
    share, weights = along.find_shares()
    assert share == pytest.approx(0.2)
    assert weights.argmax() == 4
    np.testing.assert_allclose(np.delete(weights, 4), 0.02)
    along.success[:4] = 0.5
    np.testing.assert_allclose(along.find_shares()[1][:5], [0.52, *[0.27] * 3, 0.52])


def test_in_the_end_all_starts_are_at_rest(along):
    for _ in range(400):
        along.record(-1, True)
    assert (draw_many(along) == -1).mean() > 0.99


def test_success_is_that_of_the_bin_of_the_start(along):
    first = int(np.flatnonzero(along._routes.remaining == 0)[0])
    along.record(first, True)
    assert along.success[0] == pytest.approx(1 / 50)
    assert (along.success[1:] == 0).all()


def test_roll_in_gets_shorter_with_success_until_nothing_is_left(rollin):
    assert rollin.longest == LENGTH
    elapsed = rollin._routes.elapsed[draw_many(rollin)]
    assert elapsed.max() == LENGTH
    for _ in range(100):
        rollin.record(0, False)
    assert rollin.longest == LENGTH
    n_before = 0
    while rollin.longest == LENGTH:
        rollin.record(0, True)
        n_before += 1
    assert n_before == pytest.approx(np.log(0.2) / np.log(1 - 1 / 50), abs=1)
    assert rollin.longest == pytest.approx(LENGTH * 19 / 20)
    for _ in range(2000):
        rollin.record(0, True)
    assert rollin.longest == 0
    assert (draw_many(rollin) == -1).all()


def test_robots_start_in_the_states_drawn_and_move(tiny, rollin):
    env = RobotVectorEnv(8, robot=tiny, starts=rollin)
    env.reset(seed=0)
    drawn, robots = env.get_state()["drawn"], env.episodes.robots
    for row, index in enumerate(drawn):
        expected = rollin.get(int(index), np.random.default_rng(0))
        if index >= 0:
            np.testing.assert_array_equal(robots.qpos[row], expected.qpos[0])
            np.testing.assert_array_equal(robots.qvel[row], expected.qvel[0])
        else:
            assert robots.qpos[row, 0] in (-10, -9)
            assert (robots.qvel[row] == 0).all()
    assert (drawn >= 0).any() and (robots.qvel[:, 0] > 0).any()


def test_an_environment_continues_with_the_state_of_its_curriculum(tiny, along):
    def make(curriculum):
        rest = make_rest(tiny)
        starts = [curriculum, curriculum, rest]
        return RobotVectorEnv(3, robot=tiny, starts=starts, max_episode_steps=4)

    env = make(along)
    env.reset(seed=0)
    act_randomly(env, 10)
    state = env.get_state()
    assert state["curriculum 0"].any() or env.get_state()["drawn"].any()
    expected = act_randomly(env, 10)
    other = AlongRoutes(make_rest(tiny), make_routes(tiny))
    again = make(other)
    again.reset(seed=5)
    again.set_state(state)
    for name, array in again.get_state().items():
        np.testing.assert_array_equal(array, state[name], err_msg=name)
    np.testing.assert_array_equal(act_randomly(again, 10), expected)
    np.testing.assert_array_equal(other.success, along.success)


def test_velocities_can_be_given(tiny):
    qvel = np.full(tiny.model.nv, 0.02)
    options = {"qpos": tiny.standing, "qvel": qvel}
    many, one = RobotVectorEnv(2, robot=tiny), RobotEnv(robot=tiny)
    seen, _ = many.reset(options=options)
    alone, _ = one.reset(options=options)
    np.testing.assert_array_equal(many.episodes.robots.qvel, [qvel, qvel])
    np.testing.assert_array_equal(seen[0], alone)
    np.testing.assert_allclose(seen[0, 3:6], 0.02)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"qvel": [0.0]}, "`qvel` belongs to `qpos`"),
        ({"qpos": None, "qvel": [1.0]}, r"`qvel` must be finite, of shape"),
        ({"qpos": None, "qvel": "nan"}, r"`qvel` must be finite, of shape"),
    ],
)
def test_invalid_velocities_are_refused(tiny, options, problem):
    options = dict(options)
    if "qpos" in options:
        options["qpos"] = tiny.standing
    if options["qvel"] == "nan":
        options["qvel"] = np.full(tiny.model.nv, np.nan)
    with pytest.raises(InputError, match=problem):
        RobotVectorEnv(2, robot=tiny).reset(options=options)


def test_starts_of_another_robot_are_refused(bittle, along):
    with pytest.raises(InputError, match="belong to another robot"):
        RobotVectorEnv(2, robot=bittle, starts=along)
