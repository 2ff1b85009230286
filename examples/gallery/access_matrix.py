"""Accessibility from each pose to each other pose, ordered by cluster."""

import numpy as np
from gallery import CLUSTERS, STUDY, save

from kaccess.report.figures import draw_access
from kaccess.report.figures.style import figure_style, make_figure

with figure_style():
    figure = make_figure(5.4, 4.4)
    order = np.argsort(CLUSTERS.labels, kind="stable")
    draw_access(figure.subplots(), STUDY.times, order=order, ordered_by="cluster")
save(figure, "access_matrix")
