"""Engines made from a name or from settings, and settings that are refused."""

import pytest

from kaccess import EngineConfig, InputError, make_engine
from kaccess.engines import as_engine
from kaccess.engines.mujoco import MujocoEngine


@pytest.mark.parametrize("engine", ["mujoco", EngineConfig(engine="mujoco", threads=1)])
def test_a_name_or_settings_make_an_engine(tiny, engine):
    assert isinstance(make_engine(engine, tiny), MujocoEngine)
    assert isinstance(as_engine(engine, tiny), MujocoEngine)


def test_threads_of_the_settings_reach_the_engine(tiny):
    one, three = (
        make_engine(EngineConfig(engine="mujoco", threads=threads), tiny)
        for threads in (1, 3)
    )
    assert three.batch_size == 3 * one.batch_size


def test_an_engine_is_returned_as_it_is(tiny):
    engine = make_engine("mujoco", tiny)
    assert as_engine(engine, tiny) is engine


@pytest.mark.parametrize("name", ["foo", "MuJoCo", ""])
def test_an_unknown_engine_is_an_error(tiny, name):
    message = f"`engine` must be one of mujoco, warp, bullet, got '{name}'"
    with pytest.raises(InputError, match=message):
        make_engine(name, tiny)
    with pytest.raises(InputError, match=message):
        as_engine(name, tiny)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"threads": -1}, "`threads` must not be negative, got -1"),
        ({"device": "cuda:0"}, "`device` is for the engine 'warp', not for 'mujoco'"),
        ({"engine": "bullet", "device": "cpu"}, "'warp', not for 'bullet'"),
        ({"solver_iterations": 50}, "is for the engine 'bullet', not for 'mujoco'"),
    ],
)
def test_settings_that_do_not_fit_the_engine_are_an_error(tiny, settings, message):
    with pytest.raises(InputError, match=message):
        make_engine(EngineConfig(**settings), tiny)
