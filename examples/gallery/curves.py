"""Learning curves with bands of one standard deviation: the paper's Fig. 9."""

from gallery import FOLDER, save

from kaccess.evaluation.curves import load_curves
from kaccess.report.figures import draw_curves
from kaccess.report.figures.style import figure_style, new_figure

found = load_curves(FOLDER / "train" / "fall-recovery")
reward = {name: (each.episodes, each.figures["reward"]) for name, each in found.items()}
with figure_style():
    figure = new_figure(5.4, 4.0)
    draw_curves(figure.subplots(), reward, label="reward of a test episode")
save(figure, "curves")
