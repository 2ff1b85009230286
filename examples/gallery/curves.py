"""Learning curves with bands of one standard deviation: the paper's Fig. 9."""

from gallery import FOLDER, save

from kaccess.envs.tasks import make_task
from kaccess.evaluation import load_curves
from kaccess.report.figures import draw_curves
from kaccess.report.figures.style import figure_style, make_figure

task = make_task("fall-recovery")
folder = FOLDER / "train" / task.name
found = load_curves(folder, episode_steps=task.episode_steps)
reward = {name: (each.episodes, each.scores["reward"]) for name, each in found.items()}
with figure_style():
    figure = make_figure(5.4, 4.0)
    draw_curves(figure.subplots(), reward, label="reward of a test episode")
save(figure, "curves")
