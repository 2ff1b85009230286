"""Connecting to a Ray cluster, with one sentence for everything that can go wrong."""

import logging
import os
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from kaccess.base.errors import InputError
from kaccess.distribute.address import Address, parse_address
from kaccess.distribute.nodes import Needs, Node, find_nodes
from kaccess.distribute.remote import describe_versions

__all__ = ["Cluster", "connect", "import_ray"]

_REACH_SECONDS = 5.0  # to connect to a port
_PROBE_SECONDS = 60.0  # for a node to start a process and import the package
_QUIET = {
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # or Ray warns of its next version
    "RAY_DEDUP_LOGS": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
}


def import_ray() -> Any:  # noqa: ANN401  # a module
    """Return Ray; raise `ImportError` with what to install if it is missing."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise ImportError(
            "`--cluster` needs Ray, which is not installed. Run `pip install "
            "'kaccess[cluster]'`, or leave `--cluster` out."
        ) from error
    return ray


class Cluster:
    """A Ray cluster that this process is connected to."""

    def __init__(self) -> None:
        self.ray = import_ray()

    def find_nodes(self) -> dict[str, Node]:
        """Return the nodes that are alive, by key."""
        return find_nodes(self.ray.nodes())

    def count_workers(self, needs: Needs) -> int:
        """Return how many workers have room on all nodes together."""
        return sum(node.count_workers(needs) for node in self.find_nodes().values())

    def require_room(self, needs: Needs) -> None:
        """Raise `InputError` if no node has room for a worker."""
        nodes = self.find_nodes().values()
        if not any(node.count_workers(needs) for node in nodes):
            has = ", ".join(f"{n.name}: {n.cpus} CPUs, {n.gpus} GPUs" for n in nodes)
            raise InputError(
                f"No machine of the cluster has room for a worker, which needs {needs} "
                f"({has}). Choose another `--engine` or fewer `--threads`."
            )

    def require_same_versions(self) -> None:
        """Raise `InputError` if a node lacks the package, or has another version."""
        asked = {
            self._ask(node): node for node in self.find_nodes().values() if node.cpus
        }
        ready, _ = self.ray.wait(
            list(asked), num_returns=len(asked), timeout=_PROBE_SECONDS
        )
        here = describe_versions()
        for ref in ready:
            node = asked[ref]
            with suppress(self.ray.exceptions.RaySystemError):  # it has just died
                check_versions(node.name, self.ray.get(ref), here)

    def _ask(self, node: Node) -> Any:  # noqa: ANN401  # an object reference
        """Ask a node for its versions."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        where = NodeAffinitySchedulingStrategy(node.key, soft=False)
        ask = self.ray.remote(num_cpus=0, max_retries=0)(make_probe())
        return ask.options(scheduling_strategy=where).remote()


def make_probe() -> Any:  # noqa: ANN401  # a function
    """Return a function for a node that may lack the package.

    Ray sends a nested function itself, not its name, so that it runs there anyway.
    """

    def probe() -> dict[str, str]:
        try:
            from kaccess.distribute.remote import describe_versions as describe
        except ImportError as error:
            return {"missing": str(error)}
        return dict(describe())

    return probe


def check_versions(name: str, there: dict[str, str], here: dict[str, str]) -> None:
    """Raise `InputError` if a node lacks the package, or has another version."""
    if "missing" in there:
        raise InputError(
            f"Node {name} of the cluster cannot import kaccess ({there['missing']}). "
            f"Run `pip install 'kaccess[cluster]=={here['kaccess']}'` there."
        )
    for package, version in here.items():
        if there[package] != version:
            raise InputError(
                f"Node {name} of the cluster has {package} {there[package]}, this "
                f"machine {version}. Install the same version everywhere, or results "
                "would not be those of one machine."
            )


@contextmanager
def connect(text: str) -> Iterator[Cluster]:
    """Connect to a cluster within this block, or start one on this machine.

    A connection that this process has already is used, and kept.

    Args:
        text: `auto`, `ray://HOST:PORT` or `local:N`.

    Raises:
        InputError: If the text names no cluster, or the cluster cannot be used.
        ImportError: If Ray is not installed.
    """
    address = parse_address(text)
    cluster = Cluster()
    if cluster.ray.is_initialized():
        yield cluster
        return
    _require_reachable(address)
    try:
        _start(cluster.ray, address)
        cluster.require_same_versions()
        yield cluster
    finally:
        cluster.ray.shutdown()


def _require_reachable(address: Address) -> None:
    """Raise `InputError` if nothing listens at an address; Ray would wait for long."""
    if not address.host:
        return
    try:
        there = (address.host, address.port)
        socket.create_connection(there, timeout=_REACH_SECONDS).close()
    except OSError as error:
        reason = error.strerror or error
        raise InputError(
            f"There is no Ray cluster at {address.text} ({reason}). Check host and "
            "port; `ray start --head` prints them (the port of clients is 10001)."
        ) from error


def _start(ray: Any, address: Address) -> None:  # noqa: ANN401  # a module
    """Connect to a cluster, or start one; nothing that its processes say is shown."""
    options: dict[str, Any] = {"address": address.text, "log_to_driver": False}
    if not address.host:  # the server of clients refuses it
        options["logging_level"] = logging.ERROR
    if address.n_cpus:
        options |= {"address": "local", "num_cpus": address.n_cpus}
        options |= {"include_dashboard": False}
    logging.getLogger("ray.client_builder").setLevel(logging.ERROR)
    _silence()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ray.init(**options)
    except (ConnectionError, RuntimeError, OSError, ValueError) as error:
        raise InputError(_explain(address, error)) from error


def _silence() -> None:
    """Keep Ray from printing pages of its logs when a node dies; it has no option."""
    from ray._private import worker

    if hasattr(worker, "print_to_stdstream"):
        worker.print_to_stdstream = lambda *_, **__: None


def _explain(address: Address, error: Exception) -> str:
    """Return a sentence on why a cluster cannot be used."""
    if address.text == "auto":
        return (
            "There is no Ray cluster on this machine. Run `ray start --head` here and "
            "`ray start --address=...` on the others, or give --cluster local:N."
        )
    lines = str(error).split("\n") if str(error).strip() else [type(error).__name__]
    reason = next(line.strip() for line in lines if line.strip()).rstrip(".:")
    if address.n_cpus:
        return f"Ray cannot start on this machine: {reason}."
    return (
        f"{address.text} does not answer as a Ray cluster should: {reason}. If it "
        "wants a token, set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN as on its machines."
    )
