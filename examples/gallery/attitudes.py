"""How the body lies in each pose."""

from gallery import STUDY, save

from kaccess.report.figures import draw_attitudes
from kaccess.report.figures.style import figure_style, new_figure

roll, pitch, height = map(STUDY.pose_array, ("roll", "pitch", "height"))
with figure_style():
    figure = new_figure()
    draw_attitudes(figure.subplots(), roll, pitch, height)
save(figure, "attitudes")
