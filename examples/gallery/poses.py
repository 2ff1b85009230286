"""Pictures of some poses: line drawings, which need no OpenGL."""

import numpy as np
from gallery import STUDY, save

from kaccess import load_robot
from kaccess.report.figures import draw_poses, pick_representatives
from kaccess.report.figures.style import figure_style, make_figure
from kaccess.report.rendering.sketch import sketch_poses

shown = pick_representatives(STUDY.contacts, 6)
robot = load_robot(STUDY.settings["robot"])
images = sketch_poses(robot, STUDY.arrays.read("poses/qpos")[shown])
with figure_style():
    figure = make_figure(9.6, 1.6)
    axes = np.ravel(figure.subplots(1, len(shown)))
    draw_poses(axes, images, [f"pose {pose}" for pose in shown])
save(figure, "poses")
