"""The section on motions: snapshots and joints of the best policy of each task."""

import numpy as np
from matplotlib.figure import Figure

from kaccess.base.types import Array
from kaccess.envs.tasks import make_task
from kaccess.report.figures import draw_joints
from kaccess.report.figures.motion import measure_height
from kaccess.report.figures.style import figure_style, make_figure
from kaccess.report.page.contents import Contents
from kaccess.report.page.motion import Motion, pick_snapshots
from kaccess.report.page.paper import list_paper_tasks
from kaccess.report.page.parts import (
    Drawing,
    Gallery,
    Missing,
    Part,
    Picture,
    Section,
    make_file_name,
)
from kaccess.report.page.pictures import make_strip
from kaccess.report.rendering.album import encode_data_uri
from kaccess.study import RunsName

__all__ = ["make_motion_section"]


def make_motion_section(contents: Contents) -> Section:
    """Return the motions of the best policies."""
    parts: list[Part] = []
    for task, motion in contents.motions.items():
        title = make_task(task).motion or RunsName(task).label
        parts += _show_motion(contents, task, title, motion)
    for task in list_paper_tasks(contents.poses.robot):
        if task not in contents.motions:
            text = f"{make_task(task).motion} is shown here once a policy is trained."
            command = f"kaccess train {contents.study} --task {task}"
            parts.append(Missing(text, command))
    lead = "Motion of the best policy from a test pose, as in the paper's Fig. 8."
    return Section("motion", "In motion", lead if contents.motions else "", parts)


def _show_motion(
    contents: Contents, task: str, title: str, motion: Motion
) -> list[Part]:
    file = make_file_name(task)
    degrees, n = np.degrees(motion.joints), len(motion.names)
    most, end = float(np.abs(motion.torque).max()), motion.seconds[-1]
    return [
        _show_snapshots(contents, file, title, motion),
        Drawing(
            f"joints-{file}",
            _draw_joint_values(motion, degrees, "joint position [deg]"),
            f"{title}: positions of {n} joints over {end:.1f} s.",
            "Joint positions.",
        ),
        Drawing(
            f"torques-{file}",
            _draw_joint_values(motion, motion.torque, "torque [N m]"),
            f"{title}: torques of {n} joints, at most {most:.2f} N m.",
            "Joint torques, at the control rate.",
        ),
    ]


def _show_snapshots(
    contents: Contents, file: str, title: str, motion: Motion
) -> Gallery:
    steps = pick_snapshots(motion)
    images = contents.album.get_pictures(motion.qpos[steps], width=240, height=180)
    times = [f"{at:.2f} s" for at in motion.seconds[steps]]
    pictures = [
        Picture(encode_data_uri(image), f"{title} after {at}", at)
        for image, at in zip(images, times, strict=True)
    ]
    outcome = (
        "without success"
        if motion.done_at is None
        else f"with success after {motion.done_at:.2f} s"
    )
    caption = f"{title} by {motion.run} from test pose {motion.pose}, {outcome}."
    strip = make_strip(f"snapshots-{file}", images, times, caption)
    return Gallery(caption, pictures, strip)


def _draw_joint_values(motion: Motion, values: Array, label: str) -> Figure:
    with figure_style():
        figure = make_figure(5.4, measure_height(motion.names))
        ax = figure.subplots()
        draw_joints(ax, motion.seconds, values, names=motion.names, label=label)
    return figure
