"""Inter-cluster accessibility as a chord diagram: the paper's Fig. 7."""

import numpy as np
from gallery import CLUSTERS, save

from kaccess.report.figures import draw_chord
from kaccess.report.figures.style import figure_style, make_figure

top = CLUSTERS.by_size[:20]
with figure_style():
    figure = make_figure(5.4, 5.4)
    names = [str(cluster) for cluster in top]
    inter = CLUSTERS.quality.inter[np.ix_(top, top)]
    draw_chord(figure.subplots(), inter, names=names)
save(figure, "chord")
