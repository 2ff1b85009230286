"""Tables in CSV files."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from kaccess.base.damage import explain_damage
from kaccess.base.files import whole_file

__all__ = ["read_csv", "write_csv"]


def write_csv(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    """Write rows, each with its cells by column; the first row names the columns."""
    with whole_file(path) as draft, draft.open("w", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read_csv(path: Path, remedy: str, *, grows: bool = False) -> list[dict[str, str]]:
    """Return the rows of a table, each with its cells by column.

    Args:
        path: The file.
        remedy: A sentence that says what to do if the file is damaged.
        grows: Whether a process adds rows to it. The last one is then left out if it
            has no end: it is being written, or its process was killed.

    Raises:
        InputError: If the file cannot be read, or a row has too few or too many cells.
    """
    with explain_damage(path, remedy), path.open(newline="") as file:
        text = file.read()
        if grows:
            text = text[: text.rfind("\n") + 1]
        rows = csv.reader(io.StringIO(text, newline=""))
        head = next(rows, [] if grows else None)
        if head is None:
            raise ValueError("it is empty")
        return [_join(head, row, number) for number, row in enumerate(rows, start=2)]


def _join(head: Sequence[str], row: Sequence[str], line: int) -> dict[str, str]:
    if len(row) != len(head):
        raise ValueError(f"line {line} has {len(row)} cells, not {len(head)}")
    return dict(zip(head, row, strict=True))
