"""Every number of every config is checked, by the type of its field."""

from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, get_args, get_origin

import numpy as np
import pytest

from kaccess import InputError, config
from kaccess.config import Port, SampleConfig, Seed, check_left_out, check_number
from kaccess.config.checks import Kind, Poses, Share, check_fields

CONFIGS = [
    each
    for name, each in vars(config).items()
    if is_dataclass(each) and (name.endswith("Config") or name == "Preset")
]
NEEDED = {"Preset": {"poses": 2}}  # fields without defaults


def find_numbers(hint):
    """Return the type of the numbers that a field of this type holds, or None."""
    if hint in (int, float):
        return hint
    parts = get_args(hint)
    if get_origin(hint) is Annotated:
        return parts[0] if isinstance(parts[1], Kind) else None
    return next(filter(None, map(find_numbers, parts)), None)


NUMBERS = [
    pytest.param(each, field, id=f"{each.__name__}.{field.name}")
    for each in CONFIGS
    for field in fields(each)
    if find_numbers(field.type)
]
WRONG = [np.nan, np.inf, -np.inf, 10**400, -(10**400), "5", True, np.float32("nan")]


def make(kind, field, value):
    """Make a config with one value; all values of a tuple are that one."""
    if isinstance(field.default, tuple):
        value = (value,)
    if field.name == "transition":
        value = (value, value)
    return kind(**NEEDED.get(kind.__name__, {}) | {field.name: value})


def test_all_configs_are_found():
    assert len(CONFIGS) == 20
    assert len(NUMBERS) > 60


@pytest.mark.parametrize(("kind", "field"), NUMBERS)
def test_a_field_takes_only_ordinary_numbers(kind, field):
    for value in WRONG:
        with pytest.raises(InputError, match=rf"^`{field.name}` must "):
            make(kind, field, value)
    if find_numbers(field.type) is int:
        with pytest.raises(InputError, match=rf"^`{field.name}` must be a whole"):
            make(kind, field, 2.5)


@pytest.mark.parametrize("kind", CONFIGS)
def test_choices_are_checked(kind):
    for field in fields(kind):
        if "Literal" in str(field.type):
            with pytest.raises(InputError, match=rf"`{field.name}` must be one of \w+"):
                kind(**NEEDED.get(kind.__name__, {}) | {field.name: "foo"})


def test_numbers_of_numpy_count():
    assert SampleConfig(n=np.int64(4), drop_height=np.float32(0.5)).n == 4


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (Seed, -1, "`x` must not be negative, got -1"),
        (Port, 65_536, "`x` must be at most 65,535, got 65536"),
        (Poses, 0, "`x` must be at least 1, got 0"),
        (Share, 1.5, "`x` must be at most 1, got 1.5"),
        (Annotated[float, Kind(0, 1, above=True)], 0.0, "`x` must be positive, got 0"),
        (Annotated[float, Kind(0, 1, below=True)], 1, "`x` must be below 1, got 1"),
        (Annotated[float, Kind(2, 3, above=True)], 2, "`x` must be above 2, got 2"),
        (float, 1e300, "`x` must be at most 1,000,000, got 1e"),
        (tuple[int, int], (1, 2, 3), "`x` must be 2 values in a tuple"),
        (tuple[int, ...], 3, "`x` must be several values in a tuple, got 3"),
        (float | None, np.nan, "`x` must be a finite number, got nan"),
    ],
)
def test_the_error_says_what_was_expected(kind, value, message):
    with pytest.raises(InputError) as error:
        check_number(kind, x=value)
    assert str(error.value).startswith(message)


def test_numbers_within_bounds_pass():
    check_number(Seed, x=0, y=2**40)
    check_number(Share, x=0, y=1.0)
    check_number(float | None, x=None)


@dataclass
class _Example:
    a: int = 1
    b: str = ""


def test_settings_without_effect_are_refused():
    check_fields(_Example())
    check_left_out(_Example(b="x"), ("a",), "here")
    with pytest.raises(
        InputError, match=r"^`a` has no effect here\. Leave it out \(got 2\)"
    ):
        check_left_out(_Example(a=2), ("a",), "here")
