"""Values of `--cluster`: what is understood, and what is refused in one sentence."""

import builtins
import socket

import pytest

from kaccess import InputError
from kaccess.cli import main
from kaccess.config import EngineConfig
from kaccess.distribute import parse_address
from kaccess.distribute.connection import check_versions, import_ray
from kaccess.distribute.jobs import fit_to_workers
from kaccess.distribute.nodes import Needs, find_nodes


def refusal(capsys, *args):
    with pytest.raises(SystemExit) as exit_info:
        main([str(arg) for arg in args])
    assert exit_info.value.code == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1, said
    return said[0]


def test_addresses_are_understood():
    assert parse_address("auto").text == "auto"
    assert parse_address("local:3").n_cpus == 3
    there = parse_address("ray://head.example:10001")
    assert (there.host, there.port) == ("head.example", 10001)
    assert parse_address("ray://[::1]:10001").host == "::1"


@pytest.mark.parametrize(
    "text",
    [
        *("", "Auto", "local", "local:0", "local:-1", "local:x", "local:99999"),
        *("ray://", "ray://head", "ray://head:x", "ray://head:0", "ray://head:70000"),
        *("ray://:1", "head:10001", "http://head:1", "ray://a b:1"),
    ],
)
def test_other_values_are_refused(text, fresh, capsys):
    said = refusal(capsys, "access", fresh, f"--cluster={text}")
    assert "`--cluster` must be" in said and repr(text) in said


def find_free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.mark.ray
def test_address_where_nobody_listens_is_refused(fresh, capsys):
    pytest.importorskip("ray")
    text = f"ray://127.0.0.1:{find_free_port()}"
    said = refusal(capsys, "access", fresh, "--cluster", text)
    assert said.startswith(f"kaccess: There is no Ray cluster at {text}")


def test_missing_ray_gives_the_pip_line(fresh, capsys, monkeypatch):
    def refuse(name, *args, **kwargs):
        if name == "ray":
            raise ImportError("No module named 'ray'")
        return find(name, *args, **kwargs)

    find = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"pip install 'kaccess\[cluster\]'"):
        import_ray()
    assert "kaccess[cluster]" in refusal(capsys, "access", fresh, "--cluster=auto")


def test_other_versions_are_refused():
    here = {"kaccess": "2", "mujoco": "4"}
    check_versions("a", here, here)
    with pytest.raises(InputError, match=r"Node a .* has mujoco 3, this machine 4"):
        check_versions("a", {"kaccess": "2", "mujoco": "3"}, here)
    with pytest.raises(InputError, match=r"Node a .* cannot import kaccess .*==2"):
        check_versions("a", {"missing": "No module named 'kaccess'"}, here)


def test_a_worker_has_a_gpu_or_the_threads_of_its_engine():
    assert fit_to_workers(EngineConfig()) == (EngineConfig(threads=1), Needs(cpus=1))
    assert fit_to_workers(EngineConfig(threads=4))[1] == Needs(cpus=4)
    assert fit_to_workers(EngineConfig(engine="warp"))[1] == Needs(gpus=1)
    on_cpu = EngineConfig(engine="warp", device="cpu")
    assert fit_to_workers(on_cpu)[1] == Needs(cpus=1)
    with pytest.raises(InputError, match="gets a GPU of its own"):
        fit_to_workers(EngineConfig(engine="warp", device="cuda:1"))


def test_nodes_are_counted_by_what_they_offer():
    def listed(key, host, alive=True, **resources):
        return {
            "NodeID": key,
            "Alive": alive,
            "NodeManagerHostname": host,
            "Resources": resources,
        }

    nodes = find_nodes(
        [
            listed("aaaaaaaa", "one", CPU=8.0, GPU=2.0),
            listed("bbbbbbbb", "two", CPU=3.0),
            listed("cccccccc", "two", CPU=4.0),
            listed("dddddddd", "dead", alive=False, CPU=4.0),
        ]
    )
    assert [node.name for node in nodes.values()] == ["one", "two/bbbbbb", "two/cccccc"]
    assert [n.count_workers(Needs(gpus=1)) for n in nodes.values()] == [2, 0, 0]
    assert [n.count_workers(Needs(cpus=2)) for n in nodes.values()] == [4, 1, 2]
