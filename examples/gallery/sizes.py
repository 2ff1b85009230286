"""Poses in each cluster, the largest first: the paper's Fig. 6."""

import numpy as np
from gallery import clustering, save

from kaccess.report.figures import draw_sizes
from kaccess.report.figures.style import figure_style, new_figure

with figure_style():
    figure = new_figure()
    draw_sizes(figure.subplots(), np.bincount(clustering()["labels"]))
save(figure, "sizes")
