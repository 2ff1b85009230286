"""Index and coverage over the number of clusters."""

import numpy as np
from gallery import CLUSTERS, save

from kaccess.report.figures import draw_over_k
from kaccess.report.figures.style import figure_style, make_figure

curve = {name: np.array(each) for name, each in (CLUSTERS.curve or {}).items()}
k, chosen = curve["k"], len(CLUSTERS.centroids)
with figure_style():
    figure = make_figure(6.4, 4.4)
    above, below = figure.subplots(2, 1, sharex=True)
    draw_over_k(above, k, curve["index"], chosen=chosen, label="index")
    coverage = 100 * curve["coverage"]
    draw_over_k(below, k, coverage, chosen=chosen, label="coverage [%]")
    below.set_xlabel("number of clusters k")
save(figure, "choice_of_k")
