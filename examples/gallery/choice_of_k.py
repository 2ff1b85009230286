"""The index over the number of clusters, and coverage beside it."""

import numpy as np
from gallery import clustering, save

from kaccess.report.figures import draw_over_k
from kaccess.report.figures.style import figure_style, new_figure

found = clustering()
curve = {name: np.array(values) for name, values in found["curve"].items()}
with figure_style():
    figure = new_figure(6.4, 4.4)
    above, below = figure.subplots(2, 1, sharex=True)
    draw_over_k(above, curve["k"], curve["index"], chosen=found["k"], label="index")
    coverage = 100 * curve["coverage"]
    draw_over_k(below, curve["k"], coverage, chosen=found["k"], label="coverage [%]")
    below.set_xlabel("number of clusters k")
save(figure, "choice_of_k")
