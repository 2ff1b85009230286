"""JSON files of results, such as `clusters/kaccess.json`, by folder."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kaccess.base.damage import Schema, explain_damage
from kaccess.base.json_files import read_json
from kaccess.study.schemas import CLUSTERING, SKILL, TEST

__all__ = ["RESULTS", "explain_result", "read_result", "read_results"]


@dataclass(frozen=True)
class _Kind:
    """A kind of results.

    Args:
        command: Command that writes them.
        schema: What each file must hold.
    """

    command: str
    schema: Schema


RESULTS = {
    "clusters": _Kind("cluster", CLUSTERING),
    "evaluation": _Kind("evaluate", TEST),
    "skills": _Kind("search", SKILL),
}
"""Kinds of results, by folder."""


def read_results(study: Path, folder: str) -> dict[str, dict[str, Any]]:
    """Return the contents of the files in a folder of a study, by their stems."""
    paths = sorted((study / folder).glob("[!.]*.json"))  # no drafts
    return {path.stem: read_result(path) for path in paths}


def read_result(path: Path) -> dict[str, Any]:
    """Return the content of a file of results."""
    return read_json(path, _get_remedy(path), RESULTS[path.parent.name].schema)


def explain_result(path: Path) -> AbstractContextManager[None]:
    """Return a block in which a file of results is to blame for errors."""
    return explain_damage(path, _get_remedy(path))


def _get_remedy(path: Path) -> str:
    command = f"kaccess {RESULTS[path.parent.name].command} {path.parents[1]}"
    return f"Delete it; `{command}` makes it again."
