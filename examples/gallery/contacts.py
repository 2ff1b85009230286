"""What touches the ground."""

from collections import Counter

import numpy as np
from gallery import STUDY, save

from kaccess.report.figures import draw_contacts
from kaccess.report.figures.style import figure_style, new_figure

parts = np.array(STUDY.parts)
cases = Counter(" + ".join(parts[row]) for row in STUDY.pose_array("contacts"))
with figure_style():
    figure = new_figure()
    draw_contacts(figure.subplots(), cases.most_common())
save(figure, "contacts")
