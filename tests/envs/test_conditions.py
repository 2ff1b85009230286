"""Harder conditions: what each does to the physics, and what stays the same."""

import gymnasium
import mujoco
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from scipy.spatial.transform import Rotation

from kaccess import InitialStates, InputError, Robot, load_robot
from kaccess.envs import Conditions, FallRecovery, RobotEnv, RobotsBatch, RobotVectorEnv
from kaccess.envs import conditions as module
from kaccess.robots import ROBOTS
from tests.conftest import TINY

FAST = {"n_threads": 1}
G = 9.81
EACH = ["torque=0.6", "friction=0.3", "mass=1.5", "slope=10", "delay=0.04"]
ALL = "torque=0.7,friction=0.5,mass=1.3,slope=5,delay=0.08"


def hold(robot, qpos):
    """Return the action that holds the joints of a state."""
    low, high = robot.joint_range.T
    return (2 * robot.joints(qpos[None])[0] - low - high) / (high - low)


def changed_tiny(tmp_path, *changes):
    text = TINY.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "changed.xml"
    path.write_text(text)
    return load_robot(path)


# Words


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("", Conditions()),
        ("torque=0.6", Conditions(torque=0.6)),
        ("torque=0.6,delay=0.04", Conditions(delay=0.04, torque=0.6)),
        ("friction=0.3,mass=2,slope=10", Conditions(friction=0.3, mass=2, slope=10)),
        ("torque=0.1234567890123", Conditions(torque=0.1234567890123)),
        ("friction=1e-05", Conditions(friction=np.float64(1e-5))),
    ],
)
def test_conditions_are_written_and_read(text, conditions):
    assert conditions.text == text
    assert Conditions.parse(text) == conditions


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("nominal", ""),
        (" ", ""),
        ("torque=1,slope=0.0,delay=0", ""),
        ("delay=0.040, torque = .60", "torque=0.6,delay=0.04"),
        ("mass=2.0", "mass=2"),
    ],
)
def test_the_text_is_canonical(text, canonical):
    assert Conditions.parse(text).text == canonical


def test_conditions_are_given_in_three_ways():
    expected = Conditions(torque=0.5)
    assert Conditions.of("torque=0.5") == Conditions.of(expected) == expected
    assert Conditions.of(None) == Conditions.of("") == Conditions()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("torqe=0.6", r"Unknown condition 'torqe' .*Did you mean 'torque'\?"),
        ("gravity=3", "none of torque, friction, mass, slope, delay"),
        ("torque=0.6,", "Unknown condition ''"),
        ("torque", "`torque` must be a number, got ''"),
        ("friction=ice", "`friction` must be a number, got 'ice'"),
        ("mass=1.5,mass=2", "names 'mass' twice"),
        ("torque=0", "`torque` must be positive and below 1000, got 0"),
        ("friction=-0.1", "`friction` must be positive"),
        ("mass=nan", "`mass` must be positive"),
        ("slope=-5", r"`slope` must lie in \[0, 45\] deg, got -5"),
        ("slope=90", r"`slope` must lie in \[0, 45\] deg"),
        ("delay=-0.04", r"`delay` must lie in \[0, 1\] s, got -0.04"),
        ("delay=inf", r"`delay` must lie in \[0, 1\] s"),
    ],
)
def test_conditions_that_cannot_be_are_explained(text, reason):
    with pytest.raises(InputError, match=reason):
        Conditions.parse(text)


def test_a_delay_between_commands_is_explained():
    with pytest.raises(InputError, match=r"periods of 0.04 s, got 0.05 s"):
        RobotEnv(conditions="delay=0.05")
    assert Conditions(delay=0.05).n_late(20.0) == 1
    assert Conditions(delay=0.12).n_late(25.0) == 3


# Physics


def test_nominal_conditions_are_the_robot_itself(bittle):
    assert Conditions().applied_to(bittle) is bittle
    assert Conditions(delay=0.04).applied_to(bittle) is bittle


def test_conditions_leave_the_robot_of_the_study_alone(bittle):
    before = bittle.fingerprint
    changed = Conditions.parse(ALL).applied_to(bittle)
    assert Robot("bittle", bittle.model, 0.35).fingerprint == before
    assert changed.fingerprint != before
    assert changed.drop_height == bittle.drop_height
    np.testing.assert_array_equal(changed.model.geom_size, bittle.model.geom_size)


def test_torque_is_limited_to_its_share(bittle):
    """Legs that are told to swing push as hard as they can, and no harder."""
    most = []
    for text in ("", "torque=0.6"):
        env = RobotVectorEnv(1, FallRecovery(low_pass=0.0), conditions=text, **FAST)
        env.reset(seed=0)
        env.step(-np.ones((1, 8)))
        most.append(np.abs(env.episodes.robots.readings.torque).max())
    np.testing.assert_allclose(most, [0.29, 0.6 * 0.29])


def test_torque_that_joints_limit_is_scaled_too(tmp_path):
    robot = changed_tiny(
        tmp_path,
        ('forcerange="-2 2" ', ""),
        ('damping="0.05"', 'damping="0.05" actuatorfrcrange="-1 1"'),
    )
    changed = Conditions(torque=0.25).applied_to(robot)
    data = mujoco.MjData(changed.model)
    data.ctrl[:] = 2.0  # kp 2: it would push with 4 N m
    mujoco.mj_forward(changed.model, data)
    np.testing.assert_allclose(data.qfrc_actuator[6:], 0.25)


def test_torque_without_a_limit_is_explained(tmp_path):
    robot = changed_tiny(tmp_path, ('forcerange="-2 2" ', ""))
    with pytest.raises(InputError, match="actuator of joint 'left' has none"):
        Conditions(torque=0.5).applied_to(robot)


def test_the_mass_of_the_body_by_hand(tiny):
    """A box of 0.5 kg and two flippers of 0.05 kg, at rest on the floor."""
    model = Conditions(mass=3).applied_to(tiny).model
    base = model.body("base").id
    assert model.body_mass[base] == pytest.approx(1.5)
    a, b, c = 0.1, 0.06, 0.03
    inertia = 1.5 / 3 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    np.testing.assert_allclose(sorted(model.body_inertia[base]), sorted(inertia))
    np.testing.assert_allclose(model.body_mass[base + 1 :], 0.05)

    data = mujoco.MjData(model)
    data.qpos[:] = tiny.standing
    for _ in range(500):
        mujoco.mj_step(model, data)
    force, push = np.zeros(6), 0.0
    for contact in range(data.ncon):
        mujoco.mj_contactForce(model, data, contact, force)
        push += force[0]
    assert push == pytest.approx(1.6 * G, rel=1e-3)


def test_a_heavier_body_is_what_the_compiler_makes_of_one(bittle):
    spec = mujoco.MjSpec.from_file(str(ROBOTS["bittle"].mjcf))
    torso = spec.body("torso")
    torso.mass *= 1.5
    torso.fullinertia = 1.5 * torso.fullinertia
    expected, got = spec.compile(), Conditions(mass=1.5).applied_to(bittle).model
    for name in dir(expected):
        value = getattr(expected, name)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            np.testing.assert_allclose(
                getattr(got, name), value, rtol=1e-9, err_msg=name
            )
    assert got.stat.meaninertia == pytest.approx(expected.stat.meaninertia)


def test_what_is_welded_to_the_base_is_part_of_the_body(tmp_path):
    head = '<body><geom type="sphere" pos=".1 0 .02" size=".02" mass="0.1"/></body>'
    end = '<body name="left"'
    robot = changed_tiny(tmp_path, (end, head + end))
    masses = Conditions(mass=2).applied_to(robot).model.body_mass
    np.testing.assert_allclose(masses[1:], [1.0, 0.2, 0.05, 0.05])


def test_the_standing_height_is_that_of_the_robot_with_its_load(bittle):
    heavy = Conditions(mass=3)
    robots = RobotVectorEnv(1, conditions=heavy, **FAST).episodes.robots
    expected = RobotsBatch(heavy.applied_to(bittle), 1).readings.standing_height
    light = RobotsBatch(bittle, 1).readings.standing_height
    assert robots.readings.standing_height == expected < light - 0.001


def test_falling_on_a_slope_by_hand(bittle):
    """The ground rises along x: things fall towards -x, too."""
    env = RobotVectorEnv(1, conditions="slope=10", **FAST)
    qpos = bittle.standing.copy()
    qpos[2] = 5.0
    env.reset(options={"qpos": qpos})
    for _ in range(5):
        env.step(hold(bittle, qpos)[None])
    angle, time = np.radians(10), 0.2
    fall = -G * np.array([np.sin(angle), 0, np.cos(angle)])
    now = env.episodes.robots.readings
    np.testing.assert_allclose(now.velocity[0], fall * time, atol=1e-6)
    np.testing.assert_allclose(now.gravity[0], fall / G, atol=1e-9)


@pytest.mark.parametrize("slope", [14.0, 20.0])
def test_friction_holds_below_the_critical_angle_and_not_above(
    tiny, monkeypatch, slope
):
    """It is 16.7 degrees for 0.3; beyond, the box slides as a textbook's does."""
    conditions = Conditions(friction=0.3, slope=slope)
    angle = np.radians(slope)
    slides = np.tan(angle) > 0.3
    if slides:
        with pytest.raises(InputError, match=r"under friction=0.3,slope=20 cannot"):
            conditions.applied_to(tiny)
    monkeypatch.setattr(module, "_check_standing", lambda nominal, changed: None)
    model = conditions.applied_to(tiny).model
    data = mujoco.MjData(model)
    data.qpos[:] = tiny.standing
    for _ in range(250):  # a second
        mujoco.mj_step(model, data)
    pull = G * (np.sin(angle) - 0.3 * np.cos(angle))
    expected = -pull / 2 if slides else 0.0
    assert data.qpos[0] == pytest.approx(expected, abs=0.02)
    assert (data.qvel[0] < -0.5) == slides


def test_friction_of_explicit_pairs_is_set_too(tmp_path):
    robot = changed_tiny(
        tmp_path,
        ('<geom type="plane"', '<geom name="floor" type="plane"'),
        ('<geom type="box"', '<geom name="box" type="box"'),
        (
            "<actuator>",
            '<contact><pair geom1="floor" geom2="box"/></contact><actuator>',
        ),
    )
    model = Conditions(friction=0.2).applied_to(robot).model
    np.testing.assert_array_equal(model.pair_friction[:, :2], 0.2)
    np.testing.assert_array_equal(model.geom_friction[:, 0], 0.2)


@pytest.mark.parametrize("text", ["slope=30", "torque=0.02", "mass=40"])
def test_conditions_under_which_it_cannot_stand_are_explained(bittle, text):
    with pytest.raises(InputError, match=f"bittle under {text} cannot hold its stand"):
        RobotEnv(conditions=text)


@pytest.mark.parametrize(
    ("before", "now", "is_refused"),
    [
        ((0.1, 0), (0.085, 20), False),
        ((0.1, 0), (0.075, 0), True),  # it has given way
        ((0.1, 0), (0.1, 30), True),  # it has tipped over
        ((0.1, 0), None, True),  # it slides
        ((0.1, 90), (0.1, 90), False),  # it stands like that
        (None, None, False),  # it never stood
    ],
)
def test_what_it_means_to_hold_the_standing_pose(
    bittle, monkeypatch, before, now, is_refused
):
    def settle(robot):
        settled = before if robot is bittle else now
        if settled is None:
            return None
        angle = np.radians(settled[1])
        return settled[0], np.array([np.sin(angle), 0.0, np.cos(angle)])

    monkeypatch.setattr(module, "_settle_standing", settle)
    if is_refused:
        with pytest.raises(InputError, match="it slides, tips over or gives way"):
            Conditions(mass=2).applied_to(bittle)
    else:
        Conditions(mass=2).applied_to(bittle)


# On a slope


@pytest.mark.parametrize("slope", [10, 20])
def test_a_robot_that_stands_square_on_a_slope_stands_strictly(bittle, slope):
    n = 8
    env = RobotVectorEnv(n, conditions=Conditions(slope=slope), **FAST)
    env.reset(seed=0)
    for step in range(1, 26):
        *_, info = env.step(np.tile(hold(bittle, bittle.standing), (n, 1)))
        assert (info["success"] == (step >= 5)).all()


def test_what_is_seen_on_a_slope_is_true_gravity(bittle):
    """Heading uphill, to the left of it, downhill."""
    env = RobotVectorEnv(3, conditions="slope=10", **FAST)
    qpos = np.tile(bittle.standing, (3, 1))
    turn = Rotation.from_euler("z", [[0], [90], [180]], degrees=True)
    qpos[:, 3:7] = turn.as_quat(scalar_first=True)
    seen, _ = env.reset(options={"qpos": qpos})
    s, c = np.sin(np.radians(10)), np.cos(np.radians(10))
    np.testing.assert_allclose(
        seen[:, :3], [[-s, 0, -c], [0, s, -c], [s, 0, -c]], atol=1e-6
    )
    np.testing.assert_allclose(env.episodes.robots.readings.square, 1.0)
    np.testing.assert_array_equal(env.episodes.robots.qpos, qpos)  # given is given


def test_starts_on_a_slope_are_turned_and_nothing_else(bittle, nine):
    n = 200
    env = RobotVectorEnv(n, starts=nine, conditions="slope=10", **FAST)
    env.reset(seed=3)
    qpos, now = env.episodes.robots.qpos, env.episodes.robots.readings
    flat = RobotVectorEnv(n, starts=nine, **FAST)
    flat.reset(seed=3)
    plain, before = flat.episodes.robots.qpos, flat.episodes.robots.readings
    np.testing.assert_array_equal(
        qpos[:, [0, 1, 2, *range(7, 15)]], np.delete(plain, [3, 4, 5, 6], axis=1)
    )
    new, old = (Rotation.from_quat(q[:, 3:7], scalar_first=True) for q in (qpos, plain))
    turn = (new * old.inv()).as_rotvec()
    np.testing.assert_allclose(turn[:, :2], 0.0, atol=1e-7)
    heading = turn[:, 2] % (2 * np.pi)
    assert np.histogram(heading, 8, (0, 2 * np.pi))[0].min() > 10  # of 25
    rng = np.random.default_rng([3, 7])
    nine.sample(rng, 1)
    assert heading[7] == pytest.approx(rng.uniform(0, 2 * np.pi))
    np.testing.assert_allclose(now.distance, before.distance, atol=1e-9)
    np.testing.assert_allclose(now.height, before.height)


# Delay


def trajectory(env, moves, qpos):
    env.reset(options={"qpos": qpos})
    steps = [env.step(move) for move in moves]
    return [(seen, reward, info) for seen, reward, _, _, info in steps]


@pytest.mark.parametrize("n_late", [1, 3])
def test_late_commands_are_the_same_motion_some_steps_later(bittle, actions, n_late):
    """As if the robot had first been told to hold what it holds; bit for bit."""
    qpos, moves = np.array(bittle.keyframes["crouch"].qpos), actions(12, 1)[:, 0]
    late = trajectory(RobotEnv(conditions=Conditions(delay=0.04 * n_late)), moves, qpos)
    held = [hold(bittle, qpos)] * n_late
    plain = trajectory(RobotEnv(), [*held, *moves], qpos)
    for (seen, *rest), (expected, *others) in zip(
        late, plain[: len(late)], strict=True
    ):
        np.testing.assert_array_equal(seen[: len(expected)], expected)
        assert data_equivalence(rest, others, exact=True)
    prompt = trajectory(RobotEnv(), moves, qpos)
    assert not np.array_equal(late[1][0][:14], prompt[1][0])


def test_commands_on_their_way_are_seen(nine, actions):
    env = RobotVectorEnv(2, starts=nine, conditions="delay=0.08", **FAST)
    seen, _ = env.reset(seed=0)
    assert env.single_observation_space.shape == (14 + 2 * 8,)
    first, second, third = actions(3, 2)
    held = seen[:, 14:22]
    np.testing.assert_array_equal(seen[:, 22:], held)
    seen, *_ = env.step(first)
    np.testing.assert_array_equal(seen[:, 14:22], held)
    np.testing.assert_array_equal(seen[:, 22:], first.astype(np.float32))
    env.step(second)
    seen, *_ = env.step(third)
    expected = np.concatenate([second, third], axis=1).astype(np.float32)
    np.testing.assert_array_equal(seen[:, 14:], expected)


def test_until_the_first_command_arrives_targets_are_held(nine, actions):
    env = RobotVectorEnv(4, starts=nine, conditions="delay=0.08", **FAST)
    env.reset(seed=0)
    targets = [env.episodes.robots.readings.target.copy()]
    for action in actions(3, 4):
        env.step(action)
        targets.append(env.episodes.robots.readings.target.copy())
    np.testing.assert_allclose(targets[1], targets[0], atol=1e-12)
    np.testing.assert_allclose(targets[2], targets[0], atol=1e-12)
    assert np.abs(targets[3] - targets[2]).max() > 0.1


def test_a_new_episode_forgets_the_commands_of_the_last(nine, actions):
    """Of one robot, by a partial reset: the other's stay on their way."""
    env = RobotVectorEnv(2, starts=nine, conditions="delay=0.08", **FAST)
    env.reset(seed=0)
    for action in actions(4, 2):
        env.step(action)
    before = env.get_state()["queue"]
    env.reset(options={"reset_mask": np.array([False, True]), "qpos": nine.qpos[0]})
    after = env.get_state()["queue"]
    np.testing.assert_array_equal(after[0], before[0])
    np.testing.assert_array_equal(before[0], actions(4, 2)[2:, 0])
    np.testing.assert_allclose(after[1], [hold(env.robot, nine.qpos[0])] * 2)


def test_late_actions_that_cannot_be_are_explained_at_once():
    env = RobotVectorEnv(2, conditions="delay=0.04", **FAST)
    env.reset(seed=0)
    before = env.get_state()
    with pytest.raises(InputError, match=r"`actions` .* \(2, 8\), .* got \(1, 8\)"):
        env.step(np.zeros((1, 8)))
    with pytest.raises(InputError, match="`actions` must be finite"):
        env.step(np.full((2, 8), np.nan))
    assert data_equivalence(env.get_state(), before, exact=True)


# Environments


@pytest.mark.parametrize("nominal", ["", "nominal", "torque=1,delay=0", Conditions()])
def test_nominal_conditions_change_no_bit(nine, actions, nominal):
    for kind, n in ((RobotEnv, 1), (RobotVectorEnv, 3)):
        task = FallRecovery(episode_steps=6)
        args = {} if kind is RobotEnv else {"num_envs": n, **FAST}
        envs = [
            kind(task=task, starts=nine, conditions=each, **args)
            for each in (None, nominal)
        ]
        one, other = (env.reset(seed=5) for env in envs)
        assert data_equivalence(one, other, exact=True)
        for action in actions(8, n):
            one, other = (
                env.step(action[0] if kind is RobotEnv else action) for env in envs
            )
            assert data_equivalence(one, other, exact=True)
    states = [env.get_state() for env in envs]
    assert data_equivalence(*states, exact=True)
    assert set(states[0]) == {"physics", "steps", "memory", "streams"}


@pytest.mark.parametrize("text", [*EACH, ALL])
def test_one_robot_and_many_give_the_same_numbers(text, nine, actions):
    """Bit for bit, under every condition, across the ends of episodes."""
    n, task = 3, FallRecovery(episode_steps=5)
    vec = RobotVectorEnv(n, task, starts=nine, conditions=text, n_threads=2)
    one = SyncVectorEnv(
        [lambda: RobotEnv(task, starts=nine, conditions=text)] * n,
        autoreset_mode=AutoresetMode.SAME_STEP,
    )
    seeds = [11, 12, 13]
    got, expected = vec.reset(seed=seeds), one.reset(seed=seeds)
    assert data_equivalence(got, expected, exact=True)
    for action in actions(12, n).astype(np.float32):
        for got, expected in zip(vec.step(action), one.step(action), strict=True):
            assert data_equivalence(got, expected, exact=True)


@pytest.mark.parametrize("text", EACH)
def test_every_condition_makes_a_difference(text, nine, actions):
    seen = []
    for conditions in ("", text):
        env = RobotVectorEnv(3, starts=nine, conditions=conditions, **FAST)
        env.reset(seed=1)
        for action in actions(6, 3):
            last = env.step(action)[0]
        seen.append(last[:, :14])
    assert np.abs(seen[0] - seen[1]).max() > 1e-3


@pytest.mark.parametrize("text", ["delay=0.12", ALL])
def test_an_interrupted_run_equals_one_that_was_not(text, nine, actions):
    """Bit for bit, with commands on their way, across the ends of episodes."""

    def make():
        task = FallRecovery(episode_steps=7)
        return RobotVectorEnv(3, task, starts=nine, conditions=text, **FAST)

    whole, first, second = make(), make(), make()
    moves = actions(24, 3)
    whole.reset(seed=1)
    expected = [whole.step(action) for action in moves]
    first.reset(seed=1)
    for action in moves[:10]:
        first.step(action)
    state = first.get_state()
    first.step(moves[0])  # what comes after leaves the state alone
    second.set_state(state)
    for action, outcome in zip(moves[10:], expected[10:], strict=True):
        assert data_equivalence(second.step(action), outcome, exact=True)
    assert data_equivalence(second.get_state(), whole.get_state(), exact=True)


def test_a_state_of_other_conditions_is_explained(nine):
    prompt, late, later = (
        RobotVectorEnv(2, conditions=text, **FAST)
        for text in ("", "delay=0.04", "delay=0.08")
    )
    for env in (prompt, late, later):
        env.reset(seed=0)
    with pytest.raises(InputError, match="must hold memory, physics, queue, steps"):
        late.set_state(prompt.get_state())
    with pytest.raises(InputError, match="`queue` must have shape"):
        late.set_state(later.get_state())


def test_starts_belong_to_the_robot_of_the_study(bittle, nine):
    RobotEnv(starts=nine, conditions="mass=1.5").reset(seed=0)
    heavy = Conditions(mass=1.5).applied_to(bittle)
    other = InitialStates.uniform(nine.qpos, names=nine.names, model=heavy.fingerprint)
    with pytest.raises(InputError, match="belong to another robot than 'bittle'"):
        RobotEnv(starts=other, conditions="mass=1.5")


def test_gymnasium_makes_environments_under_conditions(nine):
    made = {"starts": nine, "conditions": ALL}
    env = gymnasium.make("kaccess/FallRecovery-v0", **made).unwrapped
    vec = gymnasium.make_vec("kaccess/FallRecovery-v0", num_envs=2, **made, **FAST)
    assert env.conditions == vec.conditions == Conditions.parse(ALL)
    check_env(env, skip_render_check=True)
