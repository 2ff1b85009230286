"""Coverage and redundancy of the regions of starts: the paper's Fig. 3."""

from gallery import STUDY, save

from kaccess.cluster.regions import measure_regions
from kaccess.report.figures import draw_redundancy
from kaccess.report.figures.style import figure_style, make_figure
from kaccess.study.comparison import find_start_times

found = find_start_times(STUDY)
regions = {name: measure_regions(times, 0.5) for name, times in found.items()}
with figure_style():
    figure = make_figure()
    draw_redundancy(figure.subplots(), regions)
save(figure, "redundancy")
