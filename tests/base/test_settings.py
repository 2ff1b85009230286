"""Nested settings: flattened, and compared."""

import pytest

from kaccess.base.settings import describe_changes, flatten


def test_nested_names_are_joined_by_dots():
    nested = {"seed": 0, "sac": {"lr": 0.1, "net": {"layers": [64, 64]}}}
    assert flatten(nested) == {"seed": 0, "sac.lr": 0.1, "sac.net.layers": [64, 64]}


def test_equal_settings_have_no_changes():
    assert describe_changes({"a": {"b": 1}}, {"a": {"b": 1}}) == ""


def test_settings_that_are_not_given_count_only_if_complete():
    stored, given = {"a": 1, "b": 2}, {"a": 1}
    assert describe_changes(stored, given) == ""
    text = "b was 2 and is now None"
    assert describe_changes(stored, given, complete=True) == text


@pytest.mark.parametrize(
    ("stored", "given", "text"),
    [
        ({"a": {"b": 1}}, {"a": {"b": 2}}, "a.b was 1 and is now 2"),
        ({}, {"a": "x"}, "a was None and is now 'x'"),
        (
            {"a": 1, "b": 2},
            {"a": 3, "b": 4},
            "a was 1 and is now 3; b was 2 and is now 4",
        ),
        ({"h": 0}, {"h": "f" * 64}, "h was 0 and is now 'ffffffffffff...'"),
    ],
)
def test_changes_name_the_stored_and_the_given_value(stored, given, text):
    assert describe_changes(stored, given) == text
