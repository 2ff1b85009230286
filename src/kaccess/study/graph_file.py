"""The file of a grown posture graph, `graph.npz`. It is replaced as a whole."""

import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kaccess.access import Commands, Landings, Nodes, PostureGraph
from kaccess.base.damage import explain_damage
from kaccess.base.npz_files import read_npz, write_npz
from kaccess.base.types import IntArray

__all__ = ["GRAPH_FILE", "mark_graph", "read_graph", "read_n_moves", "write_graph"]

GRAPH_FILE = "graph.npz"

_COMMANDS = ("postures", "posture_seconds")
_LANDINGS = ("node", "distance", "seconds", "states")
_LARGEST = 1e3  # [m, rad], positions of a robot; larger ones are damage
_LONGEST = 10  # [time limits of a move], time of the way to a posture
_MOST_MOVES = 100  # of a pose that stands up
_REMEDY = "Delete it; `kaccess grow` makes it again."


def mark_graph(study: Path) -> str:
    """Return a checksum of the grown graph of a study; empty if it has not grown."""
    path = study / GRAPH_FILE
    return f"{zlib.crc32(path.read_bytes()):08x}" if path.is_file() else ""


def write_graph(path: Path, graph: PostureGraph, n_moves: IntArray) -> None:
    """Write a posture graph, and in how many moves the study's poses stand up.

    Args:
        path: File to write.
        graph: Posture graph; its first poses are those of the study.
        n_moves: (n,) moves in which each pose of the study stood up; 0 if it did not.
    """
    landings, n = graph.landings, len(n_moves)
    assert landings.states is not None
    write_npz(
        path,
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
    parts = read_npz(path, _REMEDY)
    with explain_damage(path, _REMEDY):
        _check_shapes(parts, nodes)
        _check_sizes(parts, nodes.config.time_limit)
    return PostureGraph(
        nodes.add(parts["grown"]),
        Commands(*(parts[name] for name in _COMMANDS)),
        Landings(*(parts[name] for name in _LANDINGS)),
    )


def read_n_moves(path: Path, n_poses: int) -> IntArray:
    """Read in how many moves each pose of the study stood up, (n,)."""
    n_moves = read_npz(path, _REMEDY, "n_moves")["n_moves"]
    with explain_damage(path, _REMEDY):
        _require("n_moves", n_moves, (n_poses,))
        _require_between("n_moves", n_moves, 0, _MOST_MOVES)
    return n_moves


def _check_shapes(parts: Mapping[str, np.ndarray], nodes: Nodes) -> None:
    """Raise `ValueError` if arrays do not belong together, or to another study."""
    nq, nu = nodes.qpos.shape[1], nodes.robot.model.nu
    n = len(nodes) - 1 + len(parts["grown"])
    m, k = parts["posture_seconds"].shape
    shapes = {"grown": (len(parts["grown"]), nq), "postures": (m, k, nu)}
    shapes |= dict.fromkeys(("node", "distance", "seconds"), (n, m))
    for name, shape in (shapes | {"states": (n, m, nq)}).items():
        _require(name, parts[name], shape)
    for name in ("grown", "postures", "posture_seconds", "distance", "states"):
        if not np.isfinite(parts[name]).all():
            raise ValueError(f"`{name}` has numbers that are not finite")
    node = parts["node"]
    if not (
        np.issubdtype(node.dtype, np.integer) and 0 <= node.min() <= node.max() <= n
    ):
        raise ValueError(f"`node` must be integers from 0 to {n}")


def _check_sizes(parts: Mapping[str, np.ndarray], time_limit: float) -> None:
    """Raise `ValueError` if numbers are so large that following a plan never ends."""
    for name in ("grown", "postures", "states"):
        _require_between(name, parts[name], -_LARGEST, _LARGEST)
    _require_between(
        "posture_seconds", parts["posture_seconds"], 0, _LONGEST * time_limit
    )


def _require_between(name: str, array: np.ndarray, least: float, most: float) -> None:
    if array.size and not (least <= array.min() and array.max() <= most):
        raise ValueError(f"`{name}` must be numbers from {least:g} to {most:g}")


def _require(name: str, array: np.ndarray, shape: tuple[int, ...]) -> None:
    if array.shape != shape or not np.issubdtype(array.dtype, np.number):
        raise ValueError(
            f"`{name}` must be numbers of shape {shape}, got {array.dtype} of shape "
            f"{array.shape}"
        )
