"""Writes the starts of a study for another framework: arrays, and a Python file.

The Python files are in `files/`. They are copied as they are and load the arrays from
the file beside them, so nothing is filled in.
"""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import get_args

from kaccess.base.files import whole_file
from kaccess.base.npz_files import write_npz
from kaccess.config import DEFAULT_TASK, FrameworkName, TaskName
from kaccess.config.checks import check_choice
from kaccess.exports.arrays import describe_routes, describe_source, describe_states
from kaccess.exports.keyframes import format_keyframes
from kaccess.starts import InitialStates
from kaccess.study import Study, StudyLike
from kaccess.study.starts import find_starts

__all__ = ["ARRAYS_FILE", "KEYFRAMES_FILE", "Exported", "export_starts"]

ARRAYS_FILE, KEYFRAMES_FILE = "kaccess_starts.npz", "kaccess_keyframes.xml"
_GUIDE_FILE = "kaccess_guide.py"


@dataclass(frozen=True)
class Exported:
    """What was written.

    Args:
        folder: Folder of the files.
        names: Names of the files.
        n_starts: Number of starts.
        lacks_guide: Why there is no guide; empty if there is one.
    """

    folder: Path
    names: tuple[str, ...]
    n_starts: int
    lacks_guide: str


def export_starts(
    study: StudyLike,
    framework: FrameworkName,
    out: Path,
    *,
    starts: str = "ka",
    task: TaskName = DEFAULT_TASK,
) -> Exported:
    """Write the starts of a study for another framework, and the guide if it has one.

    Args:
        study: Study or its folder.
        framework: Framework that uses them; it need not be installed.
        out: Folder to write to.
        starts: Name of the starts, or a mixture such as `ka+rnd:0.2`.
        task: States that this task cannot start from are left out.
    """
    from kaccess.envs.tasks import make_task

    check_choice(framework=(framework, get_args(FrameworkName)))
    study = Study.open(study)
    states = find_starts(study, starts, make_task(task, study.robot))
    lacks_guide = _explain_lacking_guide(study)
    _write_arrays(study, states, starts, out, with_routes=not lacks_guide)
    names = [f"kaccess_{framework}.py"] + [_GUIDE_FILE] * (not lacks_guide)
    for name in names:
        _copy(name, out)
    if framework == "mjcf":
        _write(out / KEYFRAMES_FILE, format_keyframes(states.qpos))
        names.append(KEYFRAMES_FILE)
    return Exported(out, (ARRAYS_FILE, *names), len(states), lacks_guide)


def _explain_lacking_guide(study: Study) -> str:
    """Return why a study has no guide to export; empty if it has one."""
    if study.plan is None:
        path = study.path
        return f"{path} does not know yet where moves end (`kaccess access {path}`)"
    if not study.has_routes:
        return f"in {study.path} no chain of moves leads to standing"
    return ""


def _write_arrays(
    study: Study, states: InitialStates, starts: str, out: Path, *, with_routes: bool
) -> None:
    arrays = describe_states(study.robot, states) | describe_source(study, starts)
    if with_routes:
        assert study.plan is not None
        arrays |= describe_routes(study.robot, states, study.plan)
    write_npz(out / ARRAYS_FILE, **arrays)


def _copy(name: str, out: Path) -> None:
    """Copy one of the files that travel."""
    _write(out / name, (files("kaccess.exports.files") / name).read_text("utf-8"))


def _write(path: Path, text: str) -> None:
    with whole_file(path) as draft:
        draft.write_text(text, "utf-8")
