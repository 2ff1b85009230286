"""Make the pictures of the docs.

python docs/make_figures.py                  # Bittle's keyframes
python docs/make_figures.py runs/bittle      # and the overview of a study
"""

import shutil
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from kaccess.report.headless import prefer_egl_without_screen

prefer_egl_without_screen()

from kaccess import load_robot, views
from kaccess.report.figures import draw_poses
from kaccess.report.render import render_poses

DOCS = Path(__file__).parent


def bittle() -> None:
    robot = load_robot("bittle")
    keys = [robot.model.key(key) for key in range(robot.model.nkey)]
    images = render_poses(
        robot, np.array([key.qpos for key in keys]), width=400, height=400
    )
    figure = Figure(figsize=(14, 2.0), layout="constrained")
    axes = np.ravel(figure.subplots(1, len(keys)))
    draw_poses(axes, images)
    for ax, key in zip(axes, keys, strict=True):
        ax.set_title(key.name)
    figure.savefig(DOCS / "bittle.png", dpi=110)


if __name__ == "__main__":
    bittle()
    for study in sys.argv[1:]:
        shutil.copy(views.picture(Path(study)), DOCS / "overview.png")
