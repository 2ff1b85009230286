"""Coverage and redundancy of the regions of starts: the paper's Fig. 3."""

from gallery import STUDY, save

from kaccess.report.figures import draw_redundancy
from kaccess.report.figures.style import figure_style, make_figure
from kaccess.study.comparison import find_reach

found = find_reach(STUDY, t_0=0.5)
regions = {name: reach.regions for name, reach in found.items()}
with figure_style():
    figure = make_figure()
    draw_redundancy(figure.subplots(), regions)
save(figure, "redundancy")
