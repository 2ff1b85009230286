"""Moves that arrive, over the Euclidean distance of the poses: the paper's Fig. 1."""

import numpy as np
from gallery import STUDY, save

from kaccess.cluster.k_means import make_features
from kaccess.report.figures import draw_metric
from kaccess.report.figures.style import figure_style, make_figure

features = make_features(STUDY.poses.gravity, STUDY.poses.joints)
first, second = np.nonzero(~np.eye(len(features), dtype=bool))
distances = np.linalg.norm(features[first] - features[second], axis=1)
with figure_style():
    figure = make_figure()
    draw_metric(figure.subplots(), distances, STUDY.times[first, second], t_0=0.5)
save(figure, "metric")
