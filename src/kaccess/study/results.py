"""JSON files of results, such as `clusters/kaccess.json`, by folder."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kaccess.base.damage import Schema, explain_damage
from kaccess.base.json_files import read_json
from kaccess.study.schemas import CLUSTERING, SKILL, TEST

__all__ = ["RESULTS", "explain_result", "read_results"]


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
    paths = sorted((study / folder).glob("*.json"))
    remedy, schema = _get_remedy(study, folder), RESULTS[folder].schema
    return {path.stem: read_json(path, remedy, schema) for path in paths}


def explain_result(study: Path, folder: str, name: str) -> AbstractContextManager[None]:
    """Return a block in which a file of results is to blame for errors."""
    path = study / folder / f"{name}.json"
    return explain_damage(path, _get_remedy(study, folder))


def _get_remedy(study: Path, folder: str) -> str:
    command = f"kaccess {RESULTS[folder].command} {study}"
    return f"Delete it; `{command}` makes it again."
