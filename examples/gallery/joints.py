"""Joint positions and torques of a recovery: the paper's Fig. 8 (c)."""

import numpy as np
from gallery import FOLDER, save

from kaccess.report.figures import draw_joints
from kaccess.report.figures.style import figure_style, make_figure

motion = np.load(FOLDER / "recovery.npz")
seconds, names = motion["seconds"], motion["names"].tolist()
with figure_style():
    figure = make_figure(10.0, 4.0)
    left, right = figure.subplots(1, 2)
    degrees = np.degrees(motion["joints"])
    draw_joints(left, seconds, degrees, names=names, label="position [deg]")
    draw_joints(right, seconds, motion["torque"], names=names, label="torque [N m]")
save(figure, "joints")
