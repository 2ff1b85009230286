"""What the scripts of the gallery share: a stored study, and where figures go."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from kaccess import Study
from kaccess.report.figures.style import save_figure

FOLDER = Path(__file__).parent / "study"
STUDY = Study(FOLDER)


def clustering(method: str = "kaccess") -> dict[str, Any]:
    """Return a stored clustering: `centroids`, `labels`, `curve`, ..."""
    content = json.loads((FOLDER / "clusters" / f"{method}.json").read_text())
    return {
        name: np.array(value) if isinstance(value, list) else value
        for name, value in content.items()
    }


def save(figure: Figure, name: str) -> None:
    """Write a figure as PNG, to the folder that was asked for or to this one."""
    path = Path(sys.argv[1] if len(sys.argv) > 1 else ".") / f"{name}.png"
    save_figure(figure, path)
    print(path)
