"""Tables as plain text, compared with tables written by hand."""

from kaccess.base.tables import format_table


def test_first_column_is_left_aligned_and_others_right_aligned():
    text = format_table(("name", "n"), [("a", "1"), ("longer", "1000")])
    assert text.splitlines() == [
        "name       n",
        "a          1",
        "longer  1000",
    ]


def test_a_table_without_rows_is_its_head():
    assert format_table(("name", "value"), []) == "name  value"


def test_cells_are_not_read_as_markup():
    text = format_table(("range", "x"), [("[0, 1]", "[bold]")])
    assert text.splitlines()[1] == "[0, 1]  [bold]"


def test_long_rows_are_not_wrapped():
    long = "x" * 500
    assert format_table(("name", "text"), [("a", long)]).splitlines()[1].endswith(long)
