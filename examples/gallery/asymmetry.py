"""Time from pose i to j against the time from j to i."""

from gallery import STUDY, save

from kaccess.report.figures import draw_asymmetry
from kaccess.report.figures.style import figure_style, make_figure

with figure_style():
    figure = make_figure(5.4, 4.4)
    draw_asymmetry(figure.subplots(), STUDY.times)
save(figure, "asymmetry")
