"""Numbers that are right for Bittle, scaled to robots of other sizes."""

import copy
import dataclasses
import pickle
from pathlib import Path

import numpy as np
import pytest

from kaccess import AccessConfig, RobotConfig, load_robot
from kaccess.config import TASKS, ForBittle, SampleConfig, Scale, StillConfig
from kaccess.config.learning import PlayConfig, SkillConfig
from kaccess.config.scale import round_to_digits
from kaccess.envs.tasks import make_task
from tests.conftest import TINY

# Four times as long and twice as heavy, with a quarter of the joints and half the feet.
LARGE = Scale(length=4.0, mass=2.0, n_joints=2, n_feet=2)
CONFIGS = StillConfig(), SampleConfig(), AccessConfig(), SkillConfig(), PlayConfig()


def list_numbers(value):
    """Yield the numbers for Bittle inside a value."""
    if isinstance(value, ForBittle):
        yield value
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from list_numbers(getattr(value, field.name))
    elif isinstance(value, tuple):
        for each in value:
            yield from list_numbers(each)


@pytest.mark.parametrize(
    ("unit", "factor"),
    [
        ("m", 4.0),
        ("s", 2.0),  # by the square root of the length
        ("m/s", 2.0),
        ("rad/s", 0.5),
        ("1/m^2", 1 / 16),
        ("s^2/rad^2", 4.0),
        ("rad over joints", 0.5),  # a norm over a quarter of the joints
        ("1/rad^2 over joints", 4.0),
        ("s^2/rad^2 over joints", 16.0),
        ("1/(N m)^2 over joints", 4 / 64),  # torques are 8 times as large
        ("1/m^2 over feet", 2 / 16),
        ("1 per foot", 2.0),
    ],
)
def test_each_unit_scales_by_its_own_factor(unit, factor):
    fitted = LARGE.fit(ForBittle(10.0, unit))
    assert fitted == 10 * factor
    assert type(fitted) is float
    assert Scale().fit(ForBittle(10.0, unit)) == 10.0


def test_numbers_that_a_user_sets_stay():
    fitted = LARGE.fit(AccessConfig(time_limit=3.0))  # as by default, but set
    expected = AccessConfig(time_limit=3.0, joint_tol=0.25, height_tol=0.04)
    assert fitted == expected


def test_tasks_keep_what_a_user_sets(tiny):
    default = make_task("fall-recovery", tiny)
    mine = dataclasses.replace(
        make_task("fall-recovery"),
        control_rate=50.0,
        standing=default.standing._replace(height_tol=0.01),
    ).fit_to(tiny)
    assert (mine.control_rate, mine.standing.height_tol) == (50.0, 0.01)
    assert default.standing.height_tol == 0.0134  # 1.34 times as long as Bittle
    assert mine.reward == default.reward
    assert type(mine.reward) is type(make_task("fall-recovery").reward)


def test_settings_are_scaled_once():
    for config in CONFIGS:
        once = LARGE.fit(config)
        assert not list(list_numbers(once))
        assert LARGE.fit(once) == once != config


@pytest.mark.parametrize("robot", ["bittle", "bittle-real"])
def test_for_bittle_nothing_changes(robot):
    robot = load_robot(robot)
    assert robot.scale == robot.rough_scale == Scale()
    for config in CONFIGS:
        assert robot.scale.fit(config) == config
    for name in TASKS:
        assert make_task(name, robot) == make_task(name)


def test_every_number_of_a_task_can_be_scaled(tiny):
    for name in TASKS:
        task = make_task(name)
        assert list(list_numbers(task))
        assert not list(list_numbers(task.fit_to(tiny)))


@pytest.mark.parametrize(
    ("timestep", "rate"), [(0.002, 25.0), (0.003, 1000 / 39), (0.05, 20.0)]
)
def test_the_control_rate_divides_that_of_the_physics(tmp_path, timestep, rate):
    path = tmp_path / "robot.xml"
    path.write_text(TINY.read_text().replace('"0.004"', f'"{timestep}"'))
    robot = load_robot(path, stance=load_robot(TINY).stance)
    task = make_task("fall-recovery", robot)
    assert task.control_rate == pytest.approx(rate)
    ratio = 1 / (task.control_rate * timestep)
    assert ratio == pytest.approx(round(ratio))


def test_the_scale_is_that_of_the_standing_robot():
    """Of the centre of mass, over Bittle's height, 78.5 mm, and mass, 273.5 g."""
    robot = load_robot(Path(__file__).parent / "models" / "frozen.xml")
    # A box of 0.6 kg, whose centre is at 82 mm, and four legs of 0.04 kg, at 37 mm.
    height = (0.6 * 0.082 + 0.16 * 0.037) / 0.76
    assert robot.scale.length == pytest.approx(height / 0.0785, abs=0.005)
    assert robot.scale.mass == pytest.approx(0.76 / 0.2735, abs=0.005)
    assert (robot.scale.n_joints, robot.scale.n_feet) == (4, 4)


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda number: pickle.loads(pickle.dumps(number))],
)
def test_a_copy_has_the_same_unit(duplicate):
    again = duplicate(ForBittle(0.01, "m"))
    assert (type(again), again, again.unit) == (ForBittle, 0.01, "m")
    config = duplicate(StillConfig())
    assert LARGE.fit(config) == LARGE.fit(StillConfig()) != config


def test_scaled_numbers_have_three_digits():
    values = [0.0, 0.0123456, -2345.6, 9.996]
    np.testing.assert_array_equal(
        [round_to_digits(value) for value in values], [0.0, 0.0123, -2350.0, 10.0]
    )


def test_a_larger_robot_has_more_time_in_a_test_unless_it_is_given(bittle):
    assert bittle.test_seconds == 3.0
    tiny = load_robot(TINY)
    assert tiny.test_seconds == tiny.scale.fit(ForBittle(3.0, "s")) != 3.0
    given = load_robot(TINY, RobotConfig(test_time=7.0))
    assert given.test_seconds == 7.0
    assert given.fingerprint != tiny.fingerprint  # scores cannot be compared
