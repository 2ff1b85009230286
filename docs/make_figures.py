"""Make the pictures of the docs.

python docs/make_figures.py                # Bittle, and its shipped policies
python docs/make_figures.py runs/bittle    # also those of a study of 1000 poses
"""

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from PIL import Image

from kaccess.report.rendering.headless import prefer_egl_without_screen

prefer_egl_without_screen()

from kaccess import Study, load_robot, pipeline, sample_poses
from kaccess.base.types import Array
from kaccess.config import PlayConfig, SimulateConfig, TaskName
from kaccess.deploy.deploy import SHIPPED
from kaccess.deploy.loop import run_policy
from kaccess.deploy.network import Network
from kaccess.deploy.routes import follow_routes
from kaccess.deploy.session import Session
from kaccess.deploy.simulated import SimulatedBittle, VirtualLink
from kaccess.deploy.skills import load_shipped
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


def draw_deployment() -> None:
    """Draw a simulated Bittle that gets up over the protocol: routes, and a policy."""
    robot = load_robot("bittle-real")
    poses = sample_poses(robot, 24, seed=5)
    side, back = poses.gravity[:, 1].argmax(), poses.gravity[:, 2].argmax()
    rows = [("routes", side), ("routes", back), ("policy", side)]
    figure = Figure(figsize=(12, 6.2), layout="constrained")
    axes = figure.subplots(len(rows), 6)
    for line, (controller, pose) in zip(axes, rows, strict=True):
        seconds, states = watch_deployment(controller, poses.qpos[pose])
        shown = np.linspace(0, len(states) - 1, len(line)).astype(int)
        images = render_poses(robot, states[shown], width=400, height=330)
        draw_poses(line, images, [f"{seconds[each]:.1f} s" for each in shown])
        line[0].set_ylabel(controller)
    figure.savefig(DOCS / "hardware.png", dpi=90)


def watch_deployment(controller: str, qpos: Array) -> tuple[Array, Array]:
    """Return times and states of a simulated Bittle that is to get up."""
    robot = load_robot("bittle-real")
    bittle = SimulatedBittle(SimulateConfig(), qpos, robot=robot)
    session = Session(VirtualLink(bittle), robot)
    session.connect()
    seen: list[tuple[float, Array]] = []
    pause = session.pause

    def watch(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  # as `pause`
        seen.append((bittle.now, bittle.qpos))
        return pause(*args, **kwargs)

    session.pause = watch  # type: ignore[method-assign]
    if controller == "routes":
        follow_routes(session, load_shipped(), attempts=5)
    else:
        run_policy(session, Network(SHIPPED / "fall-recovery.onnx"), seconds=8.0)
    return np.array([each[0] for each in seen]), np.array([each[1] for each in seen])


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
    draw_deployment()
    animate("recovery", "fall-recovery", (5, 6, 8), 2.2)  # 5 is the default of play
    animate("backflip", "backflip", (0, 2, 4), 2.8)
    if path:
        study = Study(path)
        shutil.copy(pipeline.picture(study), DOCS / "access.png")
        draw_overview(study)
        draw_choice_of_k(study)


if __name__ == "__main__":
    main()
