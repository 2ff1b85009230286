"""The file of a grown graph: written whole, read again, or named as damaged."""

import numpy as np
import pytest

from kaccess import InputError, Study
from kaccess.access.growth import extend_graph
from kaccess.cli import main
from kaccess.engines import make_engine

N = 12  # poses of the study


@pytest.fixture
def grown(study):
    """Return a study with a graph of two more poses."""
    opened = Study(study)
    assert opened.plan.n_nodes == N + 1
    engine = make_engine("mujoco", opened.robot, opened.still)
    graph = extend_graph(opened.graph, opened.poses.qpos[:2], engine=engine)
    opened.write_graph(graph, np.arange(N))
    return opened, graph


def test_a_graph_is_read_as_it_was_written(grown):
    opened, graph = grown
    for study in (opened, Study(opened.path)):
        again = study.graph
        np.testing.assert_array_equal(again.nodes.qpos, graph.nodes.qpos)
        for part in ("postures", "seconds"):
            one, other = (getattr(each.commands, part) for each in (again, graph))
            np.testing.assert_array_equal(one, other)
        for part in ("node", "distance", "seconds", "states"):
            one, other = (getattr(each.landings, part) for each in (again, graph))
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype
        np.testing.assert_array_equal(study.n_moves, np.arange(N))
        assert study.plan.n_nodes == N + 3


def test_the_arrays_of_the_study_stay(grown, clustered):
    study, before = grown[0], Study(clustered)
    np.testing.assert_array_equal(study.times, before.times)
    np.testing.assert_array_equal(study.poses.qpos, before.poses.qpos)
    assert study.n_poses == N and len(study.nodes) == N + 1
    (study.path / "graph.npz").unlink()
    again = Study(study.path)  # as before it grew
    assert len(again.graph.nodes) == N + 1
    np.testing.assert_array_equal(again.n_moves, before.n_moves)


def test_a_graph_that_is_not_written_whole_leaves_the_old_one(grown, monkeypatch):
    study, graph = grown
    before = (study.path / "graph.npz").read_bytes()

    def fill_disk(file, **_):
        file.write(b"half of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", fill_disk)
    with pytest.raises(OSError, match="No space left"):
        study.write_graph(graph, np.zeros(N, int))
    assert (study.path / "graph.npz").read_bytes() == before
    assert not list(study.path.glob("*.part*")) + list(study.path.glob(".*.part*"))


def cut(path):
    path.write_bytes(path.read_bytes()[:-200])


def save_array(path):
    with path.open("wb") as file:
        np.save(file, np.zeros(3))


def drop_part(path):
    with np.load(path) as file:
        parts = {name: file[name] for name in file.files if name != "grown"}
    np.savez(path, **parts)


def drop_rows(path):
    with np.load(path) as file:
        parts = {name: file[name] for name in file.files}
    np.savez(path, **parts | {"node": parts["node"][:-3]})


@pytest.mark.parametrize(
    "harm",
    [
        pytest.param(lambda path: path.write_bytes(b""), id="empty"),
        pytest.param(lambda path: path.write_text("hello"), id="text"),
        cut,
        save_array,
        drop_part,
        drop_rows,
    ],
)
def test_a_damaged_graph_is_named(grown, harm, capsys):
    path = grown[0].path
    harm(path / "graph.npz")
    with pytest.raises(InputError, match=r"graph.npz is damaged: .*Delete it; `kacc"):
        _ = Study(path).graph
    with pytest.raises(SystemExit, match="2"):
        main(["grow", str(path)])
    error = capsys.readouterr().err.strip().splitlines()
    assert len(error) == 1 and "graph.npz is damaged" in error[0]
