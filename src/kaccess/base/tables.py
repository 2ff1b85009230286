"""Tables as plain text."""

import io
from collections.abc import Iterable, Sequence

__all__ = ["format_table"]


def format_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as text: first column left-aligned, the others right-aligned.

    Args:
        head: Column names.
        rows: Cells of each row.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    for number, name in enumerate(head):
        justify = "right" if number else "left"
        table.add_column(Text(name), justify=justify, no_wrap=True)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    page = io.StringIO()
    Console(file=page, width=10_000, color_system=None).print(table)
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines())
