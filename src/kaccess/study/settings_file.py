"""The file of a study's settings, `study.json`."""

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from kaccess.base.damage import check_content, explain_damage
from kaccess.base.errors import InputError
from kaccess.base.json_files import read_json
from kaccess.study.schemas import SETTINGS

__all__ = [
    "find_study",
    "FORMAT",
    "SETTINGS_FILE",
    "explain_settings",
    "is_study",
    "read_settings",
]

SETTINGS_FILE = "study.json"
FORMAT = 1
_REMEDY = "Put back a copy of it, or start a new study."


def is_study(path: Path) -> bool:
    """Return whether a folder is a study."""
    try:
        str(path).encode()  # not every library takes names that are not UTF-8
        (path / SETTINGS_FILE).stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except UnicodeEncodeError as error:
        raise InputError(
            f"{path} cannot be used: its name is not valid UTF-8. Rename the folder."
        ) from error
    except (OSError, ValueError) as error:  # such as a loop of links
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"{path} cannot be opened: {reason}. Give another folder."
        ) from error
    return (path / SETTINGS_FILE).is_file()


def find_study(path: Path) -> bool:
    """Return whether a study is there; raise `InputError` if none can be made."""
    if is_study(path):
        return True
    if path.resolve() == Path.cwd():
        raise InputError(
            "`study` must be a new folder, got the current one. Name a folder in it."
        )
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise InputError(
            f"{path} exists and is not a study (it has no {SETTINGS_FILE}). "
            "Give a new folder."
        )
    above = next(parent for parent in path.resolve().parents if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise InputError(
            f"{path} cannot be created: {above} cannot be written to. Give another "
            "folder."
        )
    return False


def read_settings(path: Path) -> dict[str, Any]:
    """Return the settings of the study in a folder.

    Raises:
        InputError: If it is not a study that this version can read.
    """
    if not is_study(path):
        raise InputError(
            f"{path} is not a study (it has no {SETTINGS_FILE}). "
            f"Make one with `kaccess sample ROBOT {path}`."
        )
    file = path / SETTINGS_FILE
    settings = read_json(file, _REMEDY)
    if settings.get("format") != FORMAT:
        raise InputError(
            f"{file} is not a study that this version can read. Start a new study, or "
            "use the version of kaccess that made it."
        )
    with explain_settings(path):
        check_content(settings, SETTINGS)
    return settings


def explain_settings(path: Path) -> AbstractContextManager[None]:
    """Return a block in which the settings of a study are to blame for errors."""
    return explain_damage(path / SETTINGS_FILE, _REMEDY)
