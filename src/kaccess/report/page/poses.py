"""The section on poses: how they were drawn, and how they look."""

from kaccess.report.figures import (
    draw_attitudes,
    draw_contacts,
    pick_representatives,
)
from kaccess.report.figures.style import figure_style, make_figure
from kaccess.report.page.contents import Contents
from kaccess.report.page.parts import Drawing, Gallery, Section
from kaccess.report.page.pictures import make_pictures
from kaccess.report.text.numbers import format_share

__all__ = ["make_poses_section"]

_N_POSES = 21  # pictures of typical poses
_N_TOLD = 5  # contact cases in the alt text


def make_poses_section(contents: Contents) -> Section:
    """Return the share of draws kept, contacts, orientations, and some pictures."""
    summary = contents.summary
    draws, discarded = summary.settings["draws"], summary.discarded
    lead = (
        f"{format_share(draws['kept'], draws['drawn'])} of {draws['drawn']:,} drops "
        f"came to rest and were kept{f' ({discarded})' if discarded else ''}. "
        f"{_describe_choice(contents)}"
        f"There are {len(summary.contact_cases)} different sets of parts on the ground."
    )
    figures = [_draw_contacts(contents), _draw_attitudes(contents)]
    return Section("poses", "Poses", lead, [*figures, _show_some(contents)])


def _describe_choice(contents: Contents) -> str:
    """Return a sentence on how many poses are used, if not all are."""
    if not contents.summary.settings["sample"].get("use"):
        return ""
    return f"{contents.summary.n_poses:,} of them, chosen at random, are used. "


def _draw_contacts(contents: Contents) -> Drawing:
    cases = contents.summary.contact_cases
    with figure_style():
        figure = make_figure()
        draw_contacts(figure.subplots(), cases)
    most = "; ".join(f"{name} {count}" for name, count in cases[:_N_TOLD])
    return Drawing(
        "contacts",
        figure,
        f"Bars: number of poses for each set of parts on the ground. {most}.",
        "Parts on the ground: the most frequent contact cases.",
    )


def _draw_attitudes(contents: Contents) -> Drawing:
    poses = contents.poses
    with figure_style():
        figure = make_figure()
        draw_attitudes(figure.subplots(), poses.roll, poses.pitch, poses.height)
    return Drawing(
        "attitudes",
        figure,
        "Scatter plot of roll against pitch of all poses, coloured by base height.",
        "Roll and pitch of the body in every pose.",
    )


def _show_some(contents: Contents) -> Gallery:
    shown = pick_representatives(contents.poses.contacts, _N_POSES)
    count = {name or "none": n for name, n in contents.summary.contact_cases}
    cases = [contents.cases[pose] for pose in shown]
    lines = [[case, f"{count[case]} poses"] for case in cases]
    return Gallery(
        "One pose of each of the most frequent contact cases.",
        make_pictures(contents, shown, lines),
    )
