"""Inter-cluster accessibility as a chord diagram: the paper's Fig. 7."""

import numpy as np
from gallery import STUDY, clustering, save

from kaccess import accessibility
from kaccess.cluster.quality import assess
from kaccess.report.figures import draw_chord
from kaccess.report.figures.style import figure_style, new_figure

found = clustering()
access = accessibility(STUDY.times)
quality = assess(access, found["centroids"], found["labels"])
top = np.argsort(-quality.sizes, kind="stable")[:20]
with figure_style():
    figure = new_figure(5.4, 5.4)
    names = [str(cluster) for cluster in top]
    draw_chord(figure.subplots(), quality.inter[np.ix_(top, top)], names=names)
save(figure, "chord")
