"""The file of a grown posture graph, `graph.npz`. It is replaced as a whole."""

import zipfile
from pathlib import Path

import numpy as np

from kaccess.access import Commands, Landings, Nodes, PostureGraph
from kaccess.base.errors import InputError
from kaccess.base.files import whole_file
from kaccess.base.types import IntArray

__all__ = ["read_graph", "read_n_moves", "write_graph"]

_COMMANDS = ("postures", "posture_seconds")
_LANDINGS = ("node", "distance", "seconds", "states")
# What NumPy raises for a file that is cut, empty, or something else.
_ERRORS = (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile)


def write_graph(path: Path, graph: PostureGraph, n_moves: IntArray) -> None:
    """Write a posture graph, and in how many moves the study's poses stand up.

    Args:
        path: File to write.
        graph: Posture graph; its first poses are those of the study.
        n_moves: (n,) moves in which each pose of the study stood up; 0 if it did not.
    """
    landings, n = graph.landings, len(n_moves)
    assert landings.states is not None
    with whole_file(path) as draft:
        np.savez(
            draft,
            grown=graph.nodes.qpos[n:-1],
            postures=graph.commands.postures,
            posture_seconds=graph.commands.seconds,
            node=landings.node,
            distance=landings.distance,
            seconds=landings.seconds,
            states=landings.states,
            n_moves=n_moves,
        )


def read_graph(path: Path, nodes: Nodes) -> PostureGraph:
    """Read a posture graph; `nodes` are the poses of the study, and standing."""
    parts = _read(path, "grown", *_COMMANDS, *_LANDINGS)
    graph = PostureGraph(
        nodes.add(parts["grown"]),
        Commands(*(parts[name] for name in _COMMANDS)),
        Landings(*(parts[name] for name in _LANDINGS)),
    )
    expected, found = (len(graph.nodes) - 1, len(graph.commands)), parts["node"].shape
    if found != expected:
        raise _make_error(path, f"it has {found} landings, not {expected}")
    return graph


def read_n_moves(path: Path) -> IntArray:
    """Read in how many moves each pose of the study stood up, (n,)."""
    return _read(path, "n_moves")["n_moves"]


def _read(path: Path, *names: str) -> dict[str, np.ndarray]:
    try:
        with path.open("rb") as stream, np.load(stream) as file:
            return {name: file[name] for name in names}
    except _ERRORS as error:
        raise _make_error(path, str(error)) from error


def _make_error(path: Path, reason: str) -> InputError:
    return InputError(
        f"{path} is damaged: {reason}. Delete it; `kaccess grow` makes it again."
    )
