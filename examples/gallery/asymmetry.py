"""The time there against the time back."""

from gallery import STUDY, save

from kaccess.report.figures import draw_asymmetry
from kaccess.report.figures.style import figure_style, new_figure

with figure_style():
    figure = new_figure(5.4, 4.4)
    draw_asymmetry(figure.subplots(), STUDY.times)
save(figure, "asymmetry")
