"""Make the pictures of the docs.

python docs/make_figures.py                # Bittle, and its shipped policies
python docs/make_figures.py runs/bittle    # also those of a study of 1000 poses
"""

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from kaccess.report.rendering.headless import prefer_egl_without_screen

prefer_egl_without_screen()

from kaccess import Study, load_robot, pipeline
from kaccess.config import PlayConfig, TaskName
from kaccess.envs.tasks import make_task
from kaccess.evaluation.curves import Curves, load_curves, merge_curves
from kaccess.report.figures import (
    draw_access,
    draw_curves,
    draw_over_k,
    draw_poses,
    draw_sizes,
)
from kaccess.report.figures.style import figure_style, save_figure
from kaccess.report.rendering.render import render_poses
from kaccess.starts import GUIDED

DOCS = Path(__file__).parent
RESULTS = DOCS.parent / "results" / "paper"
FPS = 25  # frames per second: one for each control step


def draw_keyframes() -> None:
    """Draw Bittle in each of its keyframes."""
    robot = load_robot("bittle")
    keys = [robot.model.key(key) for key in range(robot.model.nkey)]
    images = render_poses(
        robot, np.array([key.qpos for key in keys]), width=400, height=400
    )
    figure = Figure(figsize=(14, 2.0), layout="constrained")
    axes = np.ravel(figure.subplots(1, len(keys)))
    draw_poses(axes, images, [key.name for key in keys])
    figure.savefig(DOCS / "bittle.png", dpi=110)


def animate(name: str, task: TaskName, poses: Sequence[int], seconds: float) -> None:
    """Write motions of a shipped policy from several poses, side by side."""
    strips = []
    for pose in poses:
        config = PlayConfig(task=task, poses=20, pose=pose, seconds=seconds)
        clip = pipeline.play("bittle", config).clip
        states = clip.at(np.arange(round(seconds * FPS)) / FPS)
        strips.append(render_poses(clip.robot, states, width=320, height=270))
    frames = [Image.fromarray(frame) for frame in np.concatenate(strips, axis=2)]
    durations = [1000 // FPS] * (len(frames) - 1) + [900]  # [ms]
    frames[0].save(
        DOCS / f"{name}.webp",
        save_all=True,
        append_images=frames[1:],
        duration=durations,
        loop=0,
        quality=50,
        method=6,
    )


def draw_overview(study: Study) -> None:
    """Draw the figure of the docs' index: centroids, matrix and learning curves."""
    poses, found = study.poses, study.clusterings["kaccess"]
    largest = found.by_size[:9]
    images = render_poses(poses.robot, poses.qpos[found.centroids[largest]])
    titles = [f"{found.quality.sizes[cluster]} poses" for cluster in largest]
    with figure_style():
        figure = Figure(figsize=(11, 5.6), layout="constrained")
        top, bottom = figure.subfigures(2, 1, height_ratios=[1, 3.4])  # type: ignore[misc]  # an array of two
        draw_poses(np.ravel(top.subplots(1, len(largest))), images, titles)
        left, right = bottom.subplots(1, 2, width_ratios=[1, 1.25])
        order = np.argsort(found.labels, kind="stable")
        draw_access(left, study.times, order=order, ordered_by="cluster")
        left.set_title(f"{len(poses)} poses in {len(found.centroids)} clusters")
        success = {
            name: (each.episodes, each.scores["success_loose"])
            for name, each in load_best_curves().items()
        }
        draw_curves(right, success, label="test poses recovered from", share=True)
        right.set_title("Learning to get up, guided by the matrix or not")
        save_figure(figure, DOCS / "overview.png", dpi=120)


def load_best_curves() -> dict[str, Curves]:
    """Return guided learners with 4-step returns, and others with 1-step returns."""
    steps = make_task("fall-recovery").episode_steps
    four, one = (
        load_curves(RESULTS / name, episode_steps=steps)
        for name in ("returns/guided.csv", "guided.csv")
    )
    guided = {kind: each for kind, each in four.items() if kind.startswith(GUIDED)}
    others = {kind: each for kind, each in one.items() if not kind.startswith(GUIDED)}
    return merge_curves({"": guided | others})


def draw_choice_of_k(study: Study) -> None:
    """Draw the figure of the page on clustering: number and sizes of clusters."""
    found = study.clusterings["kaccess"]
    curve = found.curve or {}
    k, index = (np.array(curve[name], float) for name in ("k", "index"))
    with figure_style():
        figure = Figure(figsize=(11, 3.4), layout="constrained")
        left, right = figure.subplots(1, 2)
        draw_over_k(left, k, index, chosen=len(found.centroids), label="index")
        left.set_xlabel("number of clusters k")
        draw_sizes(right, found.quality.sizes)
        save_figure(figure, DOCS / "cluster.png", dpi=110)


def main() -> None:
    """Make all pictures."""
    parser = argparse.ArgumentParser(description="Make the pictures of the docs.")
    parser.add_argument("study", type=Path, nargs="?", help="study of 1000 poses")
    path = parser.parse_args().study
    draw_keyframes()
    animate("recovery", "fall-recovery", (5, 6, 8), 2.2)  # 5 is the default of play
    animate("backflip", "backflip", (0, 2, 4), 2.8)
    if path:
        study = Study(path)
        shutil.copy(pipeline.picture(study), DOCS / "access.png")
        draw_overview(study)
        draw_choice_of_k(study)


if __name__ == "__main__":
    main()
