"""Number of poses that each pose reaches, and of poses that reach it."""

from gallery import STUDY, save

from kaccess.report.figures import draw_reach
from kaccess.report.figures.style import figure_style, make_figure

with figure_style():
    figure = make_figure()
    draw_reach(figure.subplots(), STUDY.times)
save(figure, "reach")
