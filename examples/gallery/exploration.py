"""Poses that starts reach within a time: the paper's Fig. 2."""

import numpy as np
from gallery import STUDY, save

from kaccess.report.figures import draw_exploration
from kaccess.report.figures.style import figure_style, make_figure
from kaccess.study.comparison import find_reach

limits = np.linspace(0.0, 3.0, 61)  # [s]
found = find_reach(STUDY, t_0=0.5)
shares = {name: reach.measure(limits) for name, reach in found.items()}
with figure_style():
    figure = make_figure()
    draw_exploration(figure.subplots(), shares, limits, t_0=0.5)
save(figure, "exploration")
