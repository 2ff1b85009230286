"""Curves of each learner: CSV files that survive interruption, and TensorBoard.

A checkpoint holds a mark of each CSV file. So a run resumes with the rows that it had,
and a digit that has changed since is noticed.
"""

import csv
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kaccess.base.damage import explain_damage
from kaccess.base.files import whole_file
from kaccess.base.marks import mark_file, read_marked
from kaccess.base.tensors import REMEDY

__all__ = ["Journal", "Marks"]

Marks = Mapping[str, Sequence[int]]
"""Marks of CSV files, by their paths in the folder of the run."""

logger = logging.getLogger(__name__)


class Journal:
    """Curves of each learner over its steps, in a folder of its own.

    Args:
        path: Folder of the run.
        names: Learner names; each has a folder in it.
        step: Step at which the run resumes; later rows are removed.
        marks: Marks of the curves at that step; None if they are not known.
        tensorboard: Whether to write for TensorBoard too, if it is installed.
    """

    def __init__(
        self,
        path: Path,
        names: Sequence[str],
        *,
        step: int = 0,
        marks: Marks | None = None,
        tensorboard: bool = True,
    ) -> None:
        self._path, self._folders = path, [path / name for name in names]
        for folder in self._folders:
            folder.mkdir(parents=True, exist_ok=True)
        if marks is None:
            for file in self._list_files():
                _remove_after(file, step)
        else:
            self._cut(marks)
        self._writers = _open_writers(self._folders, step) if tensorboard else []

    def add_row(
        self, curve: str, learner: int, step: int, values: Mapping[str, float]
    ) -> None:
        """Add a row to `<curve>.csv` of a learner."""
        path = self._folders[learner] / f"{curve}.csv"
        with path.open("a", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            if not file.tell():
                rows.writerow(["step", *values])
            rows.writerow([step, *(_format(value) for value in values.values())])
        if self._writers:
            for name, value in values.items():
                self._writers[learner].add_scalar(f"{curve}/{name}", value, step)

    def get_marks(self) -> Marks:
        """Return the marks of all curves."""
        files = self._list_files()
        return {
            file.relative_to(self._path).as_posix(): mark_file(file) for file in files
        }

    def _cut(self, marks: Marks) -> None:
        """Cut curves to what they were when they were marked."""
        marked = {self._path / name: mark for name, mark in marks.items()}
        files = set(self._list_files())
        for file in files - marked.keys():
            file.unlink()
        for file, mark in marked.items():
            with explain_damage(file, REMEDY):
                content = read_marked(file, mark)
            if file in files and len(content) < file.stat().st_size:
                with whole_file(file) as draft:
                    draft.write_bytes(content)

    def _list_files(self) -> list[Path]:
        return [file for each in self._folders for file in sorted(each.glob("*.csv"))]

    def close(self) -> None:
        """Close the files."""
        for writer in self._writers:
            writer.close()


def _format(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.9g}"


def _remove_after(path: Path, step: int) -> None:
    """Remove the rows after a step, and a half-written row.

    Raises:
        InputError: If the file is damaged.
    """
    with explain_damage(path, REMEDY):
        lines = path.read_text().splitlines(keepends=True)
        whole = [line for line in lines if line.endswith("\n")]
        _check_rows(whole)
        kept = whole[:1] + [line for line in whole[1:] if _read_step(line) <= step]
    if kept == lines:
        return
    if len(kept) < 2:
        path.unlink()
        return
    with whole_file(path) as draft:
        draft.write_text("".join(kept))


def _check_rows(lines: Sequence[str]) -> None:
    """Raise `ValueError` if a row is not one number for each name in the head."""
    head, *rows = csv.reader(lines) if lines else [[]]
    if lines and head[:1] != ["step"]:
        raise ValueError("its first column is not `step`")
    for number, row in enumerate(rows, start=2):
        if len(row) != len(head):
            raise ValueError(f"line {number} has {len(row)} cells, not {len(head)}")
        [float(cell) for cell in row]


def _read_step(line: str) -> int:
    return int(line.split(",")[0])


def _open_writers(folders: Sequence[Path], step: int) -> list[Any]:
    """Return the TensorBoard writer of each folder; none if it is not installed.

    Events after the step, which a killed run may have left, are not shown.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        logger.info("TensorBoard is not installed; curves go to CSV files only.")
        return []
    return [SummaryWriter(str(folder), purge_step=step + 1) for folder in folders]
