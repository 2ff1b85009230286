"""Pictures of some poses: line drawings, which need no OpenGL."""

import numpy as np
from gallery import STUDY, save

from kaccess import load_robot
from kaccess.report.figures import draw_poses, representatives
from kaccess.report.figures.style import figure_style, new_figure
from kaccess.report.rendering.sketch import sketch_poses

shown = representatives(STUDY.pose_array("contacts"), 6)
robot = load_robot(STUDY.settings["robot"])
images = sketch_poses(robot, STUDY.pose_array("qpos")[shown])
with figure_style():
    figure = new_figure(9.6, 1.6)
    axes = np.ravel(figure.subplots(1, len(shown)))
    draw_poses(axes, images, [f"pose {pose}" for pose in shown])
save(figure, "poses")
