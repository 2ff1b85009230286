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
    """Curves in a folder for each learner, by step of the learner.

    Args:
        folders: One for each learner.
        step: Where the run goes on; what was noted after that is dropped.
        tensorboard: Whether to write for TensorBoard too, if it is installed.
    """

    def __init__(
        self, folders: Sequence[Path], *, step: int = 0, tensorboard: bool = True
    ) -> None:
        self._folders = list(folders)
        for folder in self._folders:
            folder.mkdir(parents=True, exist_ok=True)
            for path in folder.glob("*.csv"):
                _drop_after(path, step)
        self._writers = _writers(self._folders, step) if tensorboard else []

    def note(
        self, kind: str, learner: int, step: int, figures: Mapping[str, float]
    ) -> None:
        """Add a row to `<kind>.csv` of a learner."""
        path = self._folders[learner] / f"{kind}.csv"
        new = not path.exists()
        with path.open("a", newline="") as file:
            rows = csv.writer(file, lineterminator="\n")
            if new:
                rows.writerow(["step", *figures])
            rows.writerow([step, *(_text(value) for value in figures.values())])
        if self._writers:
            for name, value in figures.items():
                self._writers[learner].add_scalar(f"{kind}/{name}", value, step)

    def flush(self) -> None:
        """See to it that all is on disk."""
        for writer in self._writers:
            writer.flush()

    def close(self) -> None:
        """Close the files."""
        for writer in self._writers:
            writer.close()


def _text(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.9g}"


def _drop_after(path: Path, step: int) -> None:
    """Keep the heading and the rows up to a step; a half-written row goes too."""
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


def _writers(folders: Sequence[Path], step: int) -> list[Any]:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        logger.info("TensorBoard is not installed; curves go to CSV files only.")
        return []
    purge = step + 1 if step else None
    return [SummaryWriter(str(folder), purge_step=purge) for folder in folders]
