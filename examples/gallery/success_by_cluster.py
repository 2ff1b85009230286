"""Success by kind of starts and cluster of the test pose."""

import numpy as np
from gallery import STUDY, save

from kaccess.report.figures import draw_success
from kaccess.report.figures.style import figure_style, make_figure
from kaccess.report.page.scores import score_starts

(test,) = STUDY.tests().values()
scores = score_starts(test["policies"])
clusters = sorted({name for score in scores for name in score.clusters})
counts = np.array([[score.clusters[name] for name in clusters] for score in scores])
success = counts[..., 0] / counts[..., 1]
with figure_style():
    figure = make_figure(7.2, 3.2)
    starts = [score.starts for score in scores]
    draw_success(figure.subplots(), success, starts=starts, groups=clusters)
save(figure, "success_by_cluster")
