"""Parts on the ground, by number of poses."""

from collections import Counter

import numpy as np
from gallery import STUDY, save

from kaccess.report.figures import draw_contacts
from kaccess.report.figures.style import figure_style, make_figure

parts = np.array(STUDY.arrays.parts)
cases = Counter(" + ".join(parts[row]) for row in STUDY.contacts)
with figure_style():
    figure = make_figure()
    draw_contacts(figure.subplots(), cases.most_common())
save(figure, "contacts")
