"""Files of a study that travel: to a machine that trains, and back."""

from collections.abc import Mapping
from pathlib import Path

from kaccess.base.files import whole_file
from kaccess.study.study import Study

__all__ = ["pack_files", "pack_study", "unpack_files"]

# What learners need; the rest of a study is results.
_NEEDED = ("study.json", "study.zarr", "graph.npz", "starts", "skills", "tests")
_DRAFTS = (".part", ".partial")


def pack_study(study: Study) -> dict[str, bytes]:
    """Return the files of a study that a training reads, by their names."""
    return pack_files(study.path, _NEEDED)


def pack_files(folder: Path, names: tuple[str, ...]) -> dict[str, bytes]:
    """Return all files below some files and folders, by their names in `folder`.

    Locks and drafts stay behind.
    """
    found = []
    for name in names:
        path = folder / name
        found += [path] if path.is_file() else sorted(path.rglob("*"))
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in found
        if path.is_file() and not path.name.startswith(".") and not _is_draft(path)
    }


def _is_draft(path: Path) -> bool:
    return any(mark in path.name for mark in _DRAFTS)


def unpack_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files, each of them whole, checkpoints first: they hold all the others."""
    for name in sorted(files, key=lambda name: (not name.endswith(_CHECKPOINT), name)):
        with whole_file(folder / name) as draft:
            draft.write_bytes(files[name])


_CHECKPOINT = ".safetensors"
