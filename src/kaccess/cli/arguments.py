"""Arguments that need more than their types to be understood or checked."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro
from tyro.conf import OmitArgPrefixes, Positional

from kaccess.base.errors import InputError
from kaccess.config import (
    DEFAULT_TASK,
    EngineConfig,
    FrameworkName,
    Port,
    RobotConfig,
    TaskName,
    check_left_out,
    check_number,
)

__all__ = [
    "ClusterOf",
    "DeviceName",
    "Engine",
    "ExportOptions",
    "Model",
    "RobotName",
    "StudyFolder",
    "Threads",
    "check_showing",
    "parse_rows",
]

RobotName = Annotated[Positional[str], tyro.conf.arg(metavar="ROBOT")]
StudyFolder = Annotated[Positional[Path], tyro.conf.arg(metavar="STUDY")]
Threads = Annotated[int, tyro.conf.arg(name="threads")]
Engine = OmitArgPrefixes[EngineConfig]
ClusterOf = Annotated[str | None, tyro.conf.arg(metavar="auto|ray://HOST:PORT|local:N")]
Model = OmitArgPrefixes[RobotConfig]
DeviceName = Literal["auto", "cpu", "cuda"]


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """A policy to export, with --run and --onnx; or starts, with --for and --out."""

    run: str | None = None
    """Name of the learner whose policy is written, such as ka/seed-0."""
    onnx: Path | None = None
    """File of the policy to write."""
    trained_under: str = ""
    """Conditions of its training, as in evaluate."""
    best: bool = False
    """Write the learner's best policy, as in evaluate."""
    framework: Annotated[FrameworkName | None, tyro.conf.arg(name="for")] = None
    """Framework that starts and routes are written for, as an .npz and Python files."""
    starts: str = "ka"
    """Starts to write, as in train: ka, rnd, ka+rnd:0.2, ..."""
    out: Path | None = None
    """Folder to write them to."""
    task: TaskName = DEFAULT_TASK
    """Task that the learner trained on, or that the starts are for."""

    def __post_init__(self) -> None:
        if self.framework is None:
            check_left_out(self, ("starts", "out"), "without `--for`")
            needed = {"--run": self.run, "--onnx": self.onnx}
        else:
            unused = ("run", "onnx", "trained_under", "best")
            check_left_out(self, unused, "with `--for`")
            needed = {"--out": self.out}
        if missing := [name for name, value in needed.items() if value is None]:
            raise InputError(
                f"`{missing[0]}` is missing. Give --run LEARNER --onnx FILE to export "
                "a policy, or --for FRAMEWORK --out FOLDER to export starts."
            )


def parse_rows(text: str) -> range:
    """Return the rows that START:STOP names."""
    start, _, stop = text.partition(":")
    if not (start.isdecimal() and stop.isdecimal()):
        raise InputError(
            f"`--only-rows` must be START:STOP, such as 0:500, got {text!r}."
        )
    return range(int(start), int(stop))


def check_showing(viewer: bool, video: Path | None, port: int | None) -> None:
    """Raise `InputError` for options of `play` that contradict one another."""
    if viewer and video is not None:
        raise InputError("`--video` has no effect with `--viewer`. Give one of them.")
    if port is not None and not viewer:
        raise InputError("`--port` has no effect without `--viewer`. Leave it out.")
    check_number(Port, port=port or 0)
