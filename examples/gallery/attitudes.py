"""Roll, pitch and height of every pose."""

from gallery import STUDY, save

from kaccess.report.figures import draw_attitudes
from kaccess.report.figures.style import figure_style, make_figure

names = ("roll", "pitch", "height")
roll, pitch, height = (STUDY.arrays.read(f"poses/{name}") for name in names)
with figure_style():
    figure = make_figure()
    draw_attitudes(figure.subplots(), roll, pitch, height)
save(figure, "attitudes")
