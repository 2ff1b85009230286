"""NumPy arrays in one .npz file, which is never half-written."""

from pathlib import Path
from zipfile import is_zipfile

import numpy as np

from kaccess.base.damage import explain_damage
from kaccess.base.files import whole_file

__all__ = ["read_npz", "write_npz"]


def write_npz(path: Path, **arrays: np.ndarray) -> None:
    """Write arrays by name; the file replaces an earlier one."""
    with whole_file(path) as draft, draft.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]  # names of arrays


def read_npz(path: Path, remedy: str, *names: str) -> dict[str, np.ndarray]:
    """Return the arrays of a file by name, or some of them.

    Args:
        path: The file.
        remedy: A sentence that says what to do if the file is damaged.
        names: Arrays to read; by default all.

    Raises:
        InputError: If the file cannot be read, or an array is missing.
    """
    with explain_damage(path, remedy), path.open("rb") as content:
        if not is_zipfile(content):
            raise ValueError("it is not a whole .npz file")
        content.seek(0)
        with np.load(content, allow_pickle=False) as file:
            if lacking := set(names) - set(file.files):
                raise ValueError(f"it has no `{min(lacking)}`")
            return {name: file[name] for name in names or file.files}
