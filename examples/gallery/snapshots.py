"""Snapshots of a recovery, rendered if possible: the paper's Fig. 8 (a)."""

import numpy as np
from gallery import FOLDER, STUDY, save

from kaccess.report.rendering.headless import prefer_egl_without_screen

prefer_egl_without_screen()

from kaccess import load_robot
from kaccess.report.figures import draw_poses
from kaccess.report.figures.style import figure_style, make_figure
from kaccess.report.rendering.album import Album

motion = np.load(FOLDER / "recovery.npz")
steps = np.linspace(0, 50, 8).astype(int)
album = Album(load_robot(STUDY.settings["robot"]), None)
images = album.get_pictures(motion["qpos"][steps].astype(float), width=240, height=180)
with figure_style():
    figure = make_figure(12.0, 1.5)
    axes = np.ravel(figure.subplots(1, len(steps)))
    titles = [f"{motion['seconds'][step]:.2f} s" for step in steps]
    draw_poses(axes, images, titles)
save(figure, "snapshots")
