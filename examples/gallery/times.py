"""Times of the moves that reach their goal."""

from gallery import STUDY, save

from kaccess.report.figures import draw_times
from kaccess.report.figures.style import figure_style, make_figure

with figure_style():
    figure = make_figure()
    draw_times(figure.subplots(), STUDY.times)
save(figure, "times")
