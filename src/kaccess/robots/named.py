"""Files found by a name: robots of public collections, and the meshes of a URDF.

`menagerie:unitree_go1` is a folder of MuJoCo Menagerie, and `description:go1_mj` a
module of the package `robot_descriptions`, which downloads both with git.
"""

import logging
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from types import ModuleType

import mujoco
import numpy as np

from kaccess.base.errors import InputError

__all__ = [
    "MESHES",
    "find_mesh",
    "find_named",
    "is_named",
    "list_models",
    "list_some",
    "load_mesh",
]

logger = logging.getLogger(__name__)

MESHES = (".stl", ".obj", ".msh")  # suffixes that MuJoCo reads

_MENAGERIE = "menagerie:"
_DESCRIPTION = "description:"
_ANY_OF_MENAGERIE = "go1_mj_description"  # any description whose repository it is
_MODELS = (".xml", ".mjcf", ".urdf")
_MOST_LISTED = 5
_LFS_STUB = b"version https://git-lfs"


def is_named(source: str) -> bool:
    """Return whether a robot is given by a name of a collection, not by a path."""
    return source.startswith((_MENAGERIE, _DESCRIPTION))


def find_named(source: str, robots_path: Path | None = None) -> Path:
    """Return the model file of a robot of a collection.

    Args:
        source: `menagerie:FOLDER`, `menagerie:FOLDER/FILE` or `description:MODULE`.
        robots_path: Folder that has the robot folders; then nothing is downloaded.

    Raises:
        InputError: If there is no such robot, or it cannot be downloaded.
        ImportError: If `robot_descriptions` is needed and not installed.
    """
    if source.startswith(_MENAGERIE):
        name = source.removeprefix(_MENAGERIE)
        collection = _fetch_menagerie() if robots_path is None else robots_path
        return _find_in_collection(name, Path(collection).expanduser())
    if robots_path is not None:
        raise InputError(
            f"{source!r} is downloaded, but with `--robots-path` nothing is: give a "
            "path, or `menagerie:NAME`, or leave `--robots-path` out."
        )
    return _find_description(source.removeprefix(_DESCRIPTION))


def list_some(names: Iterable[str]) -> str:
    """Return the first names, and how many more there are."""
    names = list(names)
    more = len(names) - _MOST_LISTED
    listed = ", ".join(names[:_MOST_LISTED])
    return f"{listed} and {more} more" if more > 0 else listed


def list_models(folder: Path) -> list[str]:
    """Return the names of the files in a folder that may be robots."""
    files = sorted(folder.iterdir())
    return [file.name for file in files if file.suffix.lower() in _MODELS]


# MuJoCo Menagerie


def _find_in_collection(name: str, collection: Path) -> Path:
    """Return a file of a robot folder: the scene, if no file is named."""
    robot, _, file = name.partition("/")
    folder = collection / robot
    if not robot or not folder.is_dir():
        raise InputError(_explain_folder(robot, collection))
    names = list_models(folder)
    only = names if len(names) == 1 else []
    defaults = ("scene.xml", *only, f"{robot}.xml")
    for choice in (file, f"{file}.xml") if file else defaults:
        if choice in names:
            return folder / choice
    raise InputError(
        f"{folder} has no {file or 'scene.xml'}: choose one of its files with "
        f"`menagerie:{robot}/FILE`, from {', '.join(names) or 'none'}."
    )


def _explain_folder(robot: str, collection: Path) -> str:
    if not collection.is_dir():
        return (
            f"The folder {collection} does not exist: `--robots-path` must be a local "
            "checkout of MuJoCo Menagerie, or a folder that has robot folders."
        )
    folders = sorted(folder.name for folder in collection.glob("*/"))
    known = [name for name in folders if any((collection / name).glob("*.[xu]*"))]
    return f"{collection} has no robot {robot!r}: {_suggest(robot, known)}"


def _suggest(name: str, known: list[str]) -> str:
    """Return the known names that are most like a name, else some of them."""
    parts = [other for other in known if name and name.lower() in other.lower()]
    close = get_close_matches(name, known, n=_MOST_LISTED)
    similar = list(dict.fromkeys([*parts, *close]))
    if similar:
        return f"did you mean {list_some(similar)}?"
    return f"it has {list_some(known) or 'none'}."


def _fetch_menagerie() -> Path:
    module = _import_description(_ANY_OF_MENAGERIE, "MuJoCo Menagerie")
    return Path(module.REPOSITORY_PATH)


# The package robot_descriptions


def _find_description(name: str) -> Path:
    _require_package()
    known = sorted(import_module("robot_descriptions").DESCRIPTIONS)
    matches = [name, f"{name}_description", f"{name}_mj_description"]
    found = [match for match in matches if match in known]
    if len(found) != 1 and name not in known:
        raise InputError(f"`description:{name}`: {_explain_names(name, found, known)}")
    module = _import_description(found[0], found[0])
    for kind in ("MJCF_PATH", "URDF_PATH"):
        if hasattr(module, kind):
            return Path(getattr(module, kind))
    raise InputError(
        f"`description:{name}` has neither an MJCF nor a URDF file, so it must be "
        f"expanded first with xacro: {getattr(module, 'XACRO_PATH', 'no file')}."
    )


def _explain_names(name: str, found: list[str], known: list[str]) -> str:
    if found:
        return f"choose {' or '.join(found)}."
    short = [other.removesuffix("_description") for other in known]
    return f"robot_descriptions has no such robot; {_suggest(name, short)}"


def _require_package() -> None:
    if find_spec("robot_descriptions") is None:
        raise ImportError(
            "Robots by name need robot_descriptions, which is not installed. Run "
            "`pip install 'kaccess[robots]'`, or let `--robots-path` point to a local "
            "checkout of MuJoCo Menagerie."
        )


def _import_description(module: str, what: str) -> ModuleType:
    """Import a description, which downloads its files if they are not in the cache."""
    _require_package()
    logger.info("Fetching %s with git, unless it is in the cache", what)
    try:
        with _silence_download():
            return import_module(f"robot_descriptions.{module}")
    except Exception as error:  # git, network or disk: robot_descriptions wraps none
        raise InputError(
            f"{what} could not be downloaded: {_shorten(error)}. Without network, let "
            "`--robots-path` point to a local checkout, and write `menagerie:NAME`."
        ) from error


def _shorten(error: Exception) -> str:
    """Return the line of an error that names the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    fatal = [line for line in lines if "fatal:" in line]
    cause = (fatal or lines or [type(error).__name__])[0]
    return cause.removeprefix("stderr:").strip(" '.")


@contextmanager
def _silence_download() -> Iterator[None]:
    """Hide progress bars, and let git fail instead of asking for a password."""
    before = os.environ.get("GIT_TERMINAL_PROMPT")
    os.environ["GIT_TERMINAL_PROMPT"] = "0"
    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            yield
    finally:
        if before is None:
            del os.environ["GIT_TERMINAL_PROMPT"]
        else:
            os.environ["GIT_TERMINAL_PROMPT"] = before


# The meshes of a URDF


def find_mesh(uri: str, folder: Path) -> Path | None:
    """Return the file of a mesh, if possible in a format that MuJoCo reads."""
    path = re.sub(r"^\w+://", "", uri.replace("\\", "/"))
    if Path(path).is_absolute() and _is_mesh(Path(path)):
        return _find_twin(Path(path))
    parts = [part for part in path.split("/") if part]
    for start in range(len(parts)):  # with the name of the package first
        for base in _list_bases(folder):
            file = base.joinpath(*parts[start:])
            for suffix in (file.suffix, *MESHES):
                if _is_mesh(file.with_suffix(suffix)):
                    return _find_twin(file.with_suffix(suffix))
    return None


def _list_bases(folder: Path) -> list[Path]:
    """Return the folders in which a mesh or its package may be, nearest first."""
    above = [folder, *folder.parents]
    ros = os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)
    ament = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    return [
        *above,
        *(base / "share" for base in above),
        *(base for path in ros if path for base in (Path(path), Path(path).parent)),
        *(Path(path) / "share" for path in ament if path),
    ]


def _is_mesh(file: Path) -> bool:
    """Return whether a file exists and is not the stub of Git LFS."""
    if not file.is_file():
        return False
    with file.open("rb") as content:
        return content.read(len(_LFS_STUB)) != _LFS_STUB


def _find_twin(file: Path) -> Path:
    """Return the same mesh in a format that MuJoCo reads, or the file itself."""
    if file.suffix.lower() in MESHES:
        return file
    for folder in (file.parent, *sorted(file.parent.parent.glob("*/"))):
        for suffix in (".stl", ".obj", ".STL", ".OBJ"):
            if _is_mesh(twin := folder / f"{file.stem}{suffix}"):
                return twin
    return file


def load_mesh(mesh: mujoco.MjsMesh, file: Path) -> None:
    """Point a mesh to its file, or load text STL, which MuJoCo does not read."""
    mesh.file = str(file)
    content = file.read_bytes() if file.suffix.lower() == ".stl" else b""
    if not content.startswith(b"solid") or b"vertex" not in content:
        return
    found = re.findall(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)", content)
    points, faces = np.unique(np.array(found, float), axis=0, return_inverse=True)
    mesh.file, mesh.content_type = "", ""
    mesh.uservert, mesh.userface = points.ravel(), faces.ravel()
