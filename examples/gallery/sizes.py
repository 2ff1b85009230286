"""Poses in each cluster, the largest first: the paper's Fig. 6."""

from gallery import CLUSTERS, save

from kaccess.report.figures import draw_sizes
from kaccess.report.figures.style import figure_style, make_figure

with figure_style():
    figure = make_figure()
    draw_sizes(figure.subplots(), CLUSTERS.quality.sizes)
save(figure, "sizes")
