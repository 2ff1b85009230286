"""Curves of each learner: CSV files that survive interruption, and TensorBoard."""

import csv
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kaccess.base.files import whole_file

__all__ = ["Journal"]

logger = logging.getLogger(__name__)


class Journal:
    """Curves of each learner over its steps, in a folder of its own.

    Args:
        folders: Folder of each learner.
        step: Step at which the run resumes; later rows are removed.
        tensorboard: Whether to write for TensorBoard too, if it is installed.
    """

    def __init__(
        self, folders: Sequence[Path], *, step: int = 0, tensorboard: bool = True
    ) -> None:
        self._folders = list(folders)
        for folder in self._folders:
            folder.mkdir(parents=True, exist_ok=True)
            for path in folder.glob("*.csv"):
                _remove_after(path, step)
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

    def close(self) -> None:
        """Close the files."""
        for writer in self._writers:
            writer.close()


def _format(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.9g}"


def _remove_after(path: Path, step: int) -> None:
    """Remove the rows after a step, and a half-written row."""
    lines = path.read_text().splitlines(keepends=True)
    kept = [
        line
        for i, line in enumerate(lines)
        if line.endswith("\n") and (i == 0 or int(line.split(",")[0]) <= step)
    ]
    if kept == lines:
        return
    if len(kept) < 2:
        path.unlink()
        return
    with whole_file(path) as draft:
        draft.write_text("".join(kept))


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
