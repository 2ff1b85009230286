"""Sections on what was run, on the poses and on the moves between them."""

from collections.abc import Sequence

import numpy as np

from kaccess.base.settings import flatten
from kaccess.base.types import IntArray
from kaccess.report.figures import (
    draw_access,
    draw_asymmetry,
    draw_attitudes,
    draw_contacts,
    draw_poses,
    draw_reach,
    draw_times,
    representatives,
)
from kaccess.report.figures.style import figure_style, new_figure
from kaccess.report.page.contents import Contents
from kaccess.report.page.parts import (
    Drawing,
    Facts,
    Gallery,
    Missing,
    Part,
    Picture,
    Section,
    Settings,
)
from kaccess.report.page.words import degrees, duration, share
from kaccess.report.rendering.album import as_data_uri
from kaccess.report.summary import verdict

__all__ = [
    "moves_section",
    "pictures_drawing",
    "pose_pictures",
    "poses_section",
    "run_section",
]

_N_POSES = 21  # pictures of typical poses
_N_UNREACHED = 12  # pictures of poses that nobody reaches
_STAGES = ("sample", "access", "cluster", "train", "evaluate")


def run_section(contents: Contents) -> Section:
    """Return what was run, with what, where and for how long."""
    robot, settings = contents.poses.robot, contents.summary.settings
    standing = contents.album.pictures(robot.standing[None], width=480, height=360)[0]
    sample = settings["sample"]
    rows = [
        ("robot", settings["robot"]),
        ("joints", f"{robot.model.nu}: {', '.join(robot.joint_names)}"),
        ("model", f"{settings['model'][:12]}, physics step {robot.timestep:.4g} s"),
        ("poses", f"{contents.summary.n_poses:,}, seed {sample['seed']}"),
        ("engine", _engines(contents)),
        ("versions", _versions(contents)),
        ("machine", _machine(contents)),
        *_stage_times(contents),
    ]
    picture = Picture(as_data_uri(standing), f"{settings['robot']} standing")
    hidden = ("format", "robot", "model", "draws")
    shown = {name: value for name, value in settings.items() if name not in hidden}
    every = [(name, str(value)) for name, value in flatten(shown).items()]
    parts: list[Part] = [Facts(rows, picture), Settings("All settings", every)]
    return Section("run", "What was run", verdict(contents.summary), parts)


def _engines(contents: Contents) -> str:
    settings = contents.summary.settings
    used = [
        settings[stage].get("engine")
        for stage in ("sample", "access")
        if stage in settings
    ]
    return ", then ".join(dict.fromkeys(str(engine) for engine in used if engine))


def _versions(contents: Contents) -> str:
    settings = contents.summary.settings
    machine = settings.get("machine", {})
    versions = dict(settings["versions"]) | {
        name: machine[name] for name in ("numpy", "python") if name in machine
    }
    return ", ".join(f"{name} {value}" for name, value in versions.items())


def _machine(contents: Contents) -> str:
    machine = contents.summary.settings.get("machine", {})
    known = [machine.get("cpu"), machine.get("platform")]
    if "cores" in machine:
        known.insert(1, f"{machine['cores']} cores")
    return ", ".join(str(part) for part in known if part) or "not known"


def _stage_times(contents: Contents) -> list[tuple[str, str]]:
    timings = contents.timings
    known = [
        f"{stage} {duration(timings[stage])}" for stage in _STAGES if stage in timings
    ]
    return [("time spent", ", ".join(known) or "not recorded in this study")]


def poses_section(contents: Contents) -> Section:
    """Return how poses were drawn, and what they look like."""
    poses, draws = contents.poses, contents.summary.settings["draws"]
    dropped = [
        f"{draws[fate]:,} {fate}"
        for fate in ("colliding", "restless", "diverged", "airborne")
        if draws[fate]
    ]
    cases = contents.summary.contact_cases
    lead = (
        f"{share(draws['kept'], draws['drawn'])} of {draws['drawn']:,} drops came to "
        f"rest and were kept{' (' + ', '.join(dropped) + ')' if dropped else ''}. "
        f"They touch the ground in {len(cases)} different ways."
    )
    with figure_style():
        contact_figure, attitude_figure = new_figure(), new_figure()
        draw_contacts(contact_figure.subplots(), cases)
        draw_attitudes(
            attitude_figure.subplots(), poses.roll, poses.pitch, poses.height
        )
    parts: list[Part] = [
        Drawing(
            "contacts",
            contact_figure,
            "Bars: number of poses for each set of parts on the ground. "
            + "; ".join(f"{name} {count}" for name, count in cases[:5])
            + ".",
            "Parts on the ground, the most frequent contact cases.",
        ),
        Drawing(
            "attitudes",
            attitude_figure,
            "Scatter of roll against pitch of all poses, coloured by base height.",
            "How the body lies: roll and pitch of every pose.",
        ),
        _typical_poses(contents),
    ]
    return Section("poses", "Poses", lead, parts)


def _typical_poses(contents: Contents) -> Gallery:
    shown = representatives(contents.poses.contacts, _N_POSES)
    count = {name or "none": n for name, n in contents.summary.contact_cases}
    pictures = pose_pictures(
        contents,
        shown,
        [
            [contents.cases[pose], f"{count[contents.cases[pose]]} poses"]
            for pose in shown
        ],
    )
    return Gallery("One pose of each of the most frequent contact cases.", pictures)


def pose_pictures(
    contents: Contents, poses: IntArray, lines: Sequence[Sequence[str]]
) -> list[Picture]:
    """Return a picture of each of some poses, with lines below it."""
    images = contents.album.pictures(contents.poses.qpos[poses], width=240, height=180)
    roll, pitch = degrees(contents.poses.roll), degrees(contents.poses.pitch)
    return [
        Picture(
            as_data_uri(image),
            f"Pose {pose}: roll {roll[pose]}, pitch {pitch[pose]}, on "
            f"{contents.cases[pose]}",
            f"pose {pose}",
            text,
        )
        for image, pose, text in zip(images, poses, lines, strict=True)
    ]


def pictures_drawing(
    name: str, images: np.ndarray, titles: Sequence[str], caption: str
) -> Drawing:
    """Return pictures in a row as a figure."""
    with figure_style():
        figure = new_figure(1.5 * len(images), 1.45)
        draw_poses(np.ravel(figure.subplots(1, len(images))), images, titles)
    return Drawing(name, figure, caption, caption, wide=True)


def moves_section(contents: Contents) -> Section:
    """Return the matrix of times and what it says of the robot."""
    times, n = contents.summary.times, contents.summary.n_poses
    command = f"kaccess access {contents.study}"
    title = "Moves"
    if not times.done:
        missing = Missing("No time from pose to pose has been estimated yet.", command)
        return Section("moves", title, "", [missing])
    lead = (
        f"From each of {n:,} poses the joints of each other were commanded. "
        f"{share(times.reached, times.done)} of {times.done:,} such moves reach their "
        f"goal, {share(times.elsewhere, times.done)} end elsewhere."
    )
    parts: list[Part] = [Facts(_move_facts(contents))]
    if contents.summary.graph is None:
        parts.append(
            Missing(f"{times.pairs - times.done:,} moves are to come.", command)
        )
        return Section("moves", title, lead, parts)
    parts += [*_matrix_drawings(contents), *_unreached(contents)]
    return Section("moves", title, lead, parts)


def _move_facts(contents: Contents) -> list[tuple[str, str]]:
    times, graph = contents.summary.times, contents.summary.graph
    n = contents.summary.n_poses
    rows = [
        ("reached", share(times.reached, times.done)),
        ("at rest elsewhere", share(times.elsewhere, times.done)),
        ("not at rest in time", share(times.restless, times.done)),
    ]
    if times.seconds:
        low, middle, high = times.seconds
        rows.append(
            ("time of a move", f"{low:.2f} / {middle:.2f} / {high:.2f} s (5/50/95 %)")
        )
    if times.one_way is not None:
        rows.append(("one way only", f"{times.one_way:.1%} of the links"))
    if times.stand_up is not None:
        rows.append(
            ("stand up in one move", f"{share(times.stand_up, n)} of the poses")
        )
    if graph is not None:
        rows += [
            ("reached by no other", f"{len(graph.unreached)} poses"),
            ("reach no other", f"{len(graph.dead_ends)} poses"),
            ("no chain to standing", f"{len(graph.stuck)} poses"),
        ]
    return rows


def _matrix_drawings(contents: Contents) -> list[Drawing]:
    times, main = contents.times, contents.main
    if main is None:
        order, ordered_by = np.argsort(contents.poses.roll), "roll"
    else:
        rank = np.argsort(main.by_size)[main.labels]
        order, ordered_by = np.argsort(rank, kind="stable"), "cluster"
    with figure_style():
        figures = [new_figure(height=height) for height in (4.4, 4.4, 3.5, 3.5)]
        access, asymmetry, histogram, reach = figures
        draw_access(access.subplots(), times, order=order, ordered_by=ordered_by)
        draw_asymmetry(asymmetry.subplots(), times)
        draw_times(histogram.subplots(), times)
        draw_reach(reach.subplots(), times)
    reached = share(contents.summary.times.reached, contents.summary.times.done)
    return [
        Drawing(
            "matrix",
            access,
            f"Matrix of accessibility from each pose (row) to each other (column), by "
            f"{ordered_by}; {reached} of it is reached.",
            f"Accessibility exp(-time) from row to column, ordered by {ordered_by}"
            f"{', the largest first' if main else ''}.",
        ),
        Drawing(
            "asymmetry",
            asymmetry,
            "Density of the time from i to j against the time from j to i.",
            "Off the dashed line, one way takes longer than the other.",
        ),
        Drawing(
            "times",
            histogram,
            "Histogram of the times of the moves that reach their goal.",
            "How long the moves take that reach their goal.",
        ),
        Drawing(
            "reach",
            reach,
            "Number of poses that each pose reaches, and from which it is reached.",
            "Poses by how many others they reach, and are reached from.",
        ),
    ]


def _unreached(contents: Contents) -> list[Gallery]:
    graph = contents.summary.graph
    assert graph is not None
    if not len(graph.unreached):
        return []
    shown = graph.unreached[:_N_UNREACHED]
    pictures = pose_pictures(contents, shown, [[contents.cases[p]] for p in shown])
    which = f"the first {len(shown)} of " if len(graph.unreached) > len(shown) else ""
    caption = f"Poses that no other reaches in one move: {which}{len(graph.unreached)}."
    return [Gallery(caption, pictures)]
