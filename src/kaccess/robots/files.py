"""Robots from files: MJCF and URDF, given by a path or by a name of a collection.

The result is a spec of MuJoCo as the file describes it. Nothing is added to it, except
what makes it readable; `notes` says what.
"""

import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import mujoco
import numpy as np

from kaccess.base.errors import InputError
from kaccess.robots.named import find_named, is_named, list_models, list_some
from kaccess.robots.urdf import read_urdf

__all__ = ["ModelFile", "compile_model", "read_model"]

_SHORTEST_STEP, _LONGEST_STEP = 1e-6, 0.1  # [s], of the physics
_FINITE = (  # arrays of a model that must hold finite numbers
    *("qpos0", "key_qpos", "body_pos", "body_quat", "body_mass", "body_inertia"),
    *("geom_pos", "geom_quat", "geom_size", "geom_friction", "jnt_range"),
    *("dof_damping", "dof_armature", "actuator_gainprm", "actuator_biasprm"),
)
_NAMELESS = ("", "mujoco model", "mujoco_model", "scene", "robot", "model", "main")
_SCENE_FILE = re.compile(r"(scene|robot|model|main)([_-].*)?", re.IGNORECASE)
_SCENE_WORD = re.compile(r"[ _-]*scene$", re.IGNORECASE)


@dataclass(frozen=True)
class ModelFile:
    """A robot as its file describes it."""

    name: str
    """What the robot is called, such as `unitree_go1`; safe in titles and paths."""
    path: Path
    """Absolute path of the file."""
    spec: mujoco.MjSpec
    """Model, not compiled."""
    notes: tuple[str, ...] = ()
    """One sentence for each change that was needed to read the file."""


def read_model(
    source: str | Path, robots_path: Path | None = None, *, known: Iterable[str] = ()
) -> ModelFile:
    """Read a robot from an MJCF or URDF file.

    Args:
        source: Path of the file, or a name: `menagerie:FOLDER`, `menagerie:FOLDER/FILE`
            or `description:MODULE`.
        robots_path: Local folder of robot folders, such as a checkout of MuJoCo
            Menagerie. With it, nothing is downloaded.
        known: Other names that the caller accepts, for the message if there is no file.

    Raises:
        InputError: If the file cannot be used; one sentence says why, and what to do.
        ImportError: If the name needs `robot_descriptions`, which is not installed.
    """
    if is_named(str(source)):
        path = find_named(str(source), robots_path).absolute()
    else:
        path = Path(source).expanduser().absolute()
    _check_path(path, str(source), known)
    root = _find_root_tag(path)
    with _explain_errors(path):
        if root == "robot":
            spec, notes = read_urdf(path)
        elif root == "mujoco":
            spec, notes = mujoco.MjSpec.from_file(str(path)), ()
        else:
            raise _refuse_root(path, root)
        _check_files(spec, path)
    return ModelFile(_choose_name(spec.modelname, path), path, spec, notes)


def compile_model(file: ModelFile) -> mujoco.MjModel:
    """Compile a robot's spec.

    Raises:
        InputError: If MuJoCo refuses it; one sentence says why.
    """
    with _explain_errors(file.path):
        model = file.spec.compile()
    _check_numbers(model, file.path)
    return model


def _check_numbers(model: mujoco.MjModel, path: Path) -> None:
    """Refuse numbers with which nothing can be simulated; MuJoCo takes them."""
    step = float(model.opt.timestep)
    if not _SHORTEST_STEP <= step <= _LONGEST_STEP:
        raise InputError(
            f"`timestep` in {path} must be from {_SHORTEST_STEP:g} to "
            f"{_LONGEST_STEP:g} s, got {step:g}. Set it in <option>."
        )
    arrays = {name: getattr(model, name) for name in _FINITE}
    for name, values in (arrays | {"gravity": model.opt.gravity}).items():
        if not np.isfinite(values).all():
            raise InputError(
                f"{path} has numbers that are not finite, in `{name}`. Correct them."
            )


@contextmanager
def _explain_errors(path: Path) -> Iterator[None]:
    """Turn MuJoCo's errors into one sentence, and hide its warnings."""
    previous = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda message: None)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    except (ValueError, mujoco.FatalError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        if path.suffix.lower() == ".urdf":  # lines of the rewritten file
            reason = re.sub(r",? line \d+", "", reason)
        raise InputError(f"MuJoCo cannot use {path}: {reason}.") from error
    finally:
        mujoco.set_mju_user_warning(previous)


# Which file, of which kind


def _check_path(path: Path, source: str, known: Iterable[str]) -> None:
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"MuJoCo cannot read {path}: its name is not valid UTF-8. Rename it."
        ) from error
    if path.is_file():
        return
    if path.is_dir():
        inside = list_models(path)
        choices = f"choose one of {list_some(inside)}" if inside else "it has no robot"
        raise InputError(f"{path} is a folder, not a robot file: {choices}.")
    names = [*known, "menagerie:NAME", "description:NAME"]
    raise InputError(
        f"Unknown robot {source!r}: {path} does not exist; give the path of an MJCF or "
        f"URDF file, or one of {', '.join(names)}.{_suggest_file(path, known)}"
    )


def _suggest_file(path: Path, known: Iterable[str]) -> str:
    near = list_models(path.parent) if path.parent.is_dir() else []
    close = get_close_matches(path.name, [*known, *near], n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def _find_root_tag(path: Path) -> str:
    """Return the name of the first XML element, empty if there is none."""
    try:
        text = path.read_text("utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    text = re.sub(r"<!--.*?-->|<\?.*?\?>|<!DOCTYPE.*?>", "", text, flags=re.DOTALL)
    found = re.match(r"\ufeff?\s*<([\w:.-]+)", text)
    return found.group(1) if found else ""


def _refuse_root(path: Path, root: str) -> InputError:
    if not root:
        return InputError(
            f"{path} is not XML: give an MJCF file, whose first element is <mujoco>, "
            "or a URDF file, whose first element is <robot>."
        )
    return InputError(
        f"{path} is neither MJCF nor URDF: its first element is <{root}>, not "
        "<mujoco> or <robot>."
    )


def _check_files(spec: mujoco.MjSpec, path: Path) -> None:
    """Refuse a model whose meshes, height fields or textures are missing."""
    missing = [file for file in _list_files(spec, path) if not file.is_file()]
    if not missing or _opens_all(spec):
        return
    count = "A file" if len(missing) == 1 else f"{len(missing)} files"
    raise InputError(
        f"{count} that {path} needs cannot be found, first {missing[0]}: download the "
        "robot's folder with all its meshes."
    )


def _list_files(spec: mujoco.MjSpec, path: Path) -> Iterator[Path]:
    """Yield where the model's files should be, unless a model inside it has others."""
    folder = path.parent
    meshes = [*spec.meshes, *spec.hfields]
    for part in [*meshes, *spec.textures]:
        file = Path(part.file)
        if file.is_absolute() and file.is_relative_to(folder) and not file.is_file():
            file = file.relative_to(folder)  # MuJoCo's last try, without `meshdir`
        inner = spec.meshdir if part in meshes else spec.texturedir
        if part.file:
            yield folder / inner / file


def _opens_all(spec: mujoco.MjSpec) -> bool:
    try:
        spec.copy().compile()
    except ValueError as error:
        return "opening file" not in str(error)
    return True


# Names


def _choose_name(model: str, path: Path) -> str:
    """Return the model's name, else that of its file or folder, safe for paths."""
    name = _SCENE_WORD.sub("", model.strip()).strip()
    if name.lower() in _NAMELESS:
        is_scene = _SCENE_FILE.fullmatch(path.stem)
        name = path.parent.name if is_scene else path.stem
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("_") or "robot"
