"""How accessible each pose is from each other, ordered by cluster."""

import numpy as np
from gallery import STUDY, clustering, save

from kaccess.report.figures import draw_access
from kaccess.report.figures.style import figure_style, new_figure

with figure_style():
    figure = new_figure(5.4, 4.4)
    order = np.argsort(clustering()["labels"], kind="stable")
    draw_access(figure.subplots(), STUDY.times, order=order, ordered_by="cluster")
save(figure, "access_matrix")
