"""The section on motions: what the best policy of each task does."""

import numpy as np
from matplotlib.figure import Figure

from kaccess.base.types import Array
from kaccess.envs.tasks import make_task
from kaccess.report.figures import draw_joints
from kaccess.report.figures.style import figure_style, new_figure
from kaccess.report.page.contents import Contents
from kaccess.report.page.flow import pictures_drawing
from kaccess.report.page.learning import tasks_of_the_paper
from kaccess.report.page.motion import Motion, snapshots
from kaccess.report.page.parts import Drawing, Gallery, Missing, Part, Picture, Section
from kaccess.report.page.words import file_name
from kaccess.report.rendering.album import as_data_uri
from kaccess.study import RunsName

__all__ = ["motion_section"]


def motion_section(contents: Contents) -> Section:
    """Return the motions of the best policies."""
    parts: list[Part] = []
    for task, motion in contents.motions.items():
        title = make_task(task).motion or RunsName(task).label
        parts += _motion_parts(contents, task, title, motion)
    for task in tasks_of_the_paper():
        if task not in contents.motions:
            text = (
                f"{make_task(task).motion} is shown here once a policy has learned it."
            )
            command = f"kaccess train {contents.study} --task {task}"
            parts.append(Missing(text, command))
    lead = "Motion of the best policy, from a test pose." if contents.motions else ""
    return Section("motion", "In motion", lead, parts)


def _motion_parts(
    contents: Contents, task: str, title: str, motion: Motion
) -> list[Part]:
    file = file_name(task)
    degrees, n = np.degrees(motion.joints), len(motion.names)
    most, end = float(np.abs(motion.torque).max()), motion.seconds[-1]
    return [
        _snapshots(contents, file, title, motion),
        Drawing(
            f"joints-{file}",
            _joint_figure(motion, degrees, "joint position [deg]"),
            f"{title}: positions of {n} joints over {end:.1f} s.",
            "Joint positions.",
        ),
        Drawing(
            f"torques-{file}",
            _joint_figure(motion, motion.torque, "torque [N m]"),
            f"{title}: torques of {n} joints, at most {most:.2f} N m.",
            "Joint torques, at the control rate.",
        ),
    ]


def _snapshots(contents: Contents, file: str, title: str, motion: Motion) -> Gallery:
    steps = snapshots(motion)
    images = contents.album.pictures(motion.qpos[steps], width=240, height=180)
    times = [f"{at:.2f} s" for at in motion.seconds[steps]]
    pictures = [
        Picture(as_data_uri(image), f"{title} after {at}", at)
        for image, at in zip(images, times, strict=True)
    ]
    outcome = (
        "which does not succeed"
        if motion.done_at is None
        else f"done after {motion.done_at:.2f} s"
    )
    caption = f"{title} by {motion.run} from test pose {motion.pose}, {outcome}."
    strip = pictures_drawing(f"snapshots-{file}", images, times, caption)
    return Gallery(f"{caption} The paper's Fig. 8.", pictures, strip)


def _joint_figure(motion: Motion, values: Array, label: str) -> Figure:
    with figure_style():
        figure = new_figure(5.4, 4.0)
        ax = figure.subplots()
        draw_joints(ax, motion.seconds, values, names=motion.names, label=label)
    return figure
