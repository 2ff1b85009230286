"""Arguments that several commands have in common."""

from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import Positional

__all__ = ["RobotName", "StudyPath", "Threads"]

RobotName = Annotated[Positional[str], tyro.conf.arg(metavar="ROBOT")]
StudyPath = Annotated[Positional[Path], tyro.conf.arg(metavar="STUDY")]
Threads = Annotated[int, tyro.conf.arg(name="threads")]
