"""How long each stage of a study has taken, in its `timings.json`."""

import inspect
import logging
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from kaccess.base.errors import InputError
from kaccess.base.json_files import read_json, write_json
from kaccess.study.lock import lock_folder
from kaccess.study.schemas import TIMES
from kaccess.study.settings_file import is_study
from kaccess.study.study import Study

__all__ = ["add_time", "read_times", "timed"]

logger = logging.getLogger(__name__)

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

_FILE = "timings.json"
_SHORTEST = 0.1  # [s]; a stage that took less had nothing left to do


def read_times(path: Path) -> dict[str, float]:
    """Return the seconds that each stage of a study has taken, by its name."""
    return read_json(path / _FILE, "Delete it; no result depends on it.", TIMES)


def add_time(path: Path, stage: str, seconds: float) -> None:
    """Add to the time that a stage of a study has taken.

    Args:
        path: Folder of the study; without a study, nothing is stored.
        stage: Name of the stage.
        seconds: Duration; stages that had nothing left to do are not counted.
    """
    if seconds < _SHORTEST or not is_study(path):
        return
    with lock_folder(path):
        known = read_times(path)
        total = round(known.get(stage, 0.0) + seconds, 1)
        write_json(path / _FILE, known | {stage: total})


def _try_to_add(path: Path, stage: str, seconds: float) -> None:
    """Add the time of a stage; a folder that cannot be written to is no error."""
    try:
        add_time(path, stage, seconds)
    except (InputError, OSError) as error:  # the file is damaged, or cannot be written
        logger.warning("The time of %s is not stored: %s.", stage, error)


def timed(stage: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Decorate a stage so that its duration is stored, even if it is interrupted.

    A stage that refuses its input changes nothing. The stage has a parameter `study`: a
    study or its folder.
    """
    signature = inspect.signature(stage)

    @wraps(stage)
    def run(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        begun, refused = time.monotonic(), False
        try:
            return stage(*args, **kwargs)
        except InputError:
            refused = True
            raise
        finally:
            study = signature.bind(*args, **kwargs).arguments["study"]
            path = study.path if isinstance(study, Study) else Path(study)
            if not refused:
                _try_to_add(path, stage.__name__, time.monotonic() - begun)

    return run
