"""Make the pictures of the docs.

python docs/make_figures.py                  # Bittle, and the policy that comes with it
python docs/make_figures.py runs/bittle      # and those of a study of 1000 poses
"""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from kaccess.report.rendering.headless import prefer_egl_without_screen

prefer_egl_without_screen()

from kaccess.stored import load_poses

from kaccess import Study, load_robot, motions, views
from kaccess.config import TaskName
from kaccess.evaluation.curves import Curves, load_curves, side_by_side
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
FPS = 25  # the control rate: one frame for each step


def bittle() -> None:
    robot = load_robot("bittle")
    keys = [robot.model.key(key) for key in range(robot.model.nkey)]
    images = render_poses(
        robot, np.array([key.qpos for key in keys]), width=400, height=400
    )
    figure = Figure(figsize=(14, 2.0), layout="constrained")
    axes = np.ravel(figure.subplots(1, len(keys)))
    draw_poses(axes, images)
    for ax, key in zip(axes, keys, strict=True):
        ax.set_title(key.name)
    figure.savefig(DOCS / "bittle.png", dpi=110)


def motion(name: str, task: TaskName, poses: Sequence[int], seconds: float) -> None:
    """Draw what `kaccess play bittle --pose ...` shows, side by side, in real time."""
    strips = []
    for pose in poses:
        _, clip = motions.shipped_at_work(
            "bittle", task=task, n_poses=20, pose=pose, seconds=seconds
        )
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


def clusters_and_curves(study: Study) -> None:
    """Draw the figure of the README: what K-Access finds, and what is learned."""
    poses, found = load_poses(study), study.read_jsons("clusters")["kaccess"]
    labels, centroids = np.array(found["labels"]), np.array(found["centroids"])
    sizes = np.bincount(labels)
    largest = np.argsort(-sizes, kind="stable")[:9]
    images = render_poses(poses.robot, poses.qpos[centroids[largest]])
    with figure_style():
        figure = Figure(figsize=(11, 5.6), layout="constrained")
        top, bottom = figure.subfigures(2, 1, height_ratios=[1, 3.4])  # type: ignore[misc]  # two of them
        titles = [f"{sizes[cluster]} poses" for cluster in largest]
        draw_poses(np.ravel(top.subplots(1, len(largest))), images, titles)
        left, right = bottom.subplots(1, 2, width_ratios=[1, 1.25])
        order = np.argsort(labels, kind="stable")
        draw_access(left, study.times, order=order, ordered_by="cluster")
        left.set_title(f"{len(poses)} poses in {len(centroids)} clusters")
        success = {
            name: (each.episodes, each.figures["success_loose"])
            for name, each in curves_at_their_best().items()
        }
        draw_curves(right, success, label="test poses recovered from", share=True)
        right.set_title("Learning to get up, guided by the matrix or not")
        save_figure(figure, DOCS / "overview.png", dpi=120)


def curves_at_their_best() -> dict[str, Curves]:
    """Return guided learners with returns over four steps, others over one."""
    four, one = (
        load_curves(RESULTS / name) for name in ("returns/guided.csv", "guided.csv")
    )
    guided = {kind: each for kind, each in four.items() if kind.startswith(GUIDED)}
    others = {kind: each for kind, each in one.items() if not kind.startswith(GUIDED)}
    return side_by_side({"": guided | others})


def choice_of_k(study: Study) -> None:
    """Draw the figure of the page on clustering: how many clusters, how large."""
    found = study.read_jsons("clusters")["kaccess"]
    k, index = (np.array(found["curve"][name], float) for name in ("k", "index"))
    with figure_style():
        figure = Figure(figsize=(11, 3.4), layout="constrained")
        left, right = figure.subplots(1, 2)
        draw_over_k(left, k, index, chosen=len(found["centroids"]), label="index")
        left.set_xlabel("number of clusters k")
        draw_sizes(right, np.bincount(found["labels"]))
        save_figure(figure, DOCS / "cluster.png", dpi=110)


if __name__ == "__main__":
    bittle()
    motion("recovery", "fall-recovery", (5, 6, 8), 2.2)  # 5 is shown by default
    motion("backflip", "backflip", (0, 2, 4), 2.8)
    for path in sys.argv[1:]:
        shutil.copy(views.picture(Path(path)), DOCS / "access.png")
        clusters_and_curves(Study(Path(path)))
        choice_of_k(Study(Path(path)))
