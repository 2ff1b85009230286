"""A stored study and a function to save figures, for all scripts of the gallery."""

import sys
from pathlib import Path

from matplotlib.figure import Figure

from kaccess import Study
from kaccess.report.figures.style import save_figure

FOLDER = Path(__file__).parent / "study"
STUDY = Study(FOLDER)
CLUSTERS = STUDY.clusterings["kaccess"]


def save(figure: Figure, name: str) -> None:
    """Write a figure as PNG to the folder in the first argument, or to this one."""
    path = Path(sys.argv[1] if len(sys.argv) > 1 else ".") / f"{name}.png"
    save_figure(figure, path)
    print(path)
