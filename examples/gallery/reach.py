"""How many others each pose reaches, and from how many it is reached."""

from gallery import STUDY, save

from kaccess.report.figures import draw_reach
from kaccess.report.figures.style import figure_style, new_figure

with figure_style():
    figure = new_figure()
    draw_reach(figure.subplots(), STUDY.times)
save(figure, "reach")
