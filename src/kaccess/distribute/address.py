"""The value of `--cluster`: which machines do the work."""

import re
from dataclasses import dataclass

from kaccess.base.errors import InputError

__all__ = ["Address", "parse_address"]

_MOST_CPUS = 4096


@dataclass(frozen=True)
class Address:
    """Where a cluster is.

    Args:
        text: As the user gave it: `auto`, `ray://HOST:PORT` or `local:N`.
        host: Host to connect to; empty if none was named.
        port: Port of that host; 0 if none was named.
        n_cpus: CPUs of a cluster to start on this machine; 0 for one that is running.
    """

    text: str
    host: str = ""
    port: int = 0
    n_cpus: int = 0


def parse_address(text: str) -> Address:
    """Return the address that a text names; raise `InputError` for any other text."""
    if text == "auto":
        return Address(text)
    if found := re.fullmatch(r"local:(\d{1,6})", text):
        n_cpus = int(found[1])
        if 1 <= n_cpus <= _MOST_CPUS:
            return Address(text, n_cpus=n_cpus)
    if found := re.fullmatch(r"ray://(\[[^\[\]/]+\]|[^\[\]/:@\s]+):(\d{1,5})", text):
        port = int(found[2])
        if 1 <= port < 2**16:
            return Address(text, host=found[1].strip("[]"), port=port)
    raise InputError(
        "`--cluster` must be auto (the Ray cluster that this machine belongs to), "
        "ray://HOST:PORT (such as ray://head:10001), or local:N (N CPUs of this "
        f"machine), got {text!r}."
    )
