"""The section on getting up: routes to standing as filmstrips, and traps."""

import numpy as np
from numpy.typing import NDArray

from kaccess.report.page.contents import Contents
from kaccess.report.page.parts import (
    Drawing,
    Film,
    Films,
    Gallery,
    Missing,
    Part,
    Picture,
    Section,
)
from kaccess.report.page.pictures import make_pictures
from kaccess.report.rendering.album import encode_data_uri
from kaccess.report.routes import PlayedRoute, describe_end, make_filmstrip
from kaccess.report.routes.filmstrip import draw_pictures
from kaccess.report.summary import describe_moves
from kaccess.report.text.numbers import format_degrees, format_seconds

__all__ = ["make_routes_section"]

_TITLE = "Getting up"


def make_routes_section(contents: Contents) -> Section:
    """Return routes of some poses to standing, and poses without one."""
    n_moves, command = contents.summary.n_moves, f"kaccess access {contents.study}"
    if contents.summary.graph is None:
        missing = Missing("Routes need the times of all moves.", command)
        return Section("routes", _TITLE, "", [missing])
    if reason := contents.summary.no_standing:
        return Section("routes", _TITLE, reason)
    if not contents.routes:
        lead = (
            "This study was made before the program stored where moves end, so there "
            "are no routes to replay. A new study has them."
        )
        return Section("routes", _TITLE, lead)
    if n_moves is None:
        missing = Missing("The routes have not been replayed yet.", command)
        return Section("routes", _TITLE, "", [missing])
    parts: list[Part] = [*_show_routes(contents), *_show_traps(contents)]
    return Section("routes", _TITLE, _make_lead(n_moves), parts)


def _make_lead(n_moves: np.ndarray) -> str:
    stood = int((n_moves > 0).sum())
    if not stood:
        return f"The robot stood up from none of the {len(n_moves):,} poses."
    return (
        f"By measured moves alone, the robot stood up from {stood:,} of "
        f"{len(n_moves):,} poses in the simulator: {describe_moves(n_moves)}."
    )


def _show_routes(contents: Contents) -> list[Films]:
    routes = [contents.routes[pose] for pose in contents.examples]
    if not routes:
        return []
    pictures = [draw_pictures(contents.album, route) for route in routes]
    caption = (
        f"From {len(routes)} different poses to standing. Above each picture: what was "
        "commanded to get there."
    )
    strip = Drawing("routes", make_filmstrip(routes, pictures), caption, caption)
    films = [
        _make_film(contents, route, images)
        for route, images in zip(routes, pictures, strict=True)
    ]
    return [Films(caption, films, strip)]


def _make_film(
    contents: Contents, route: PlayedRoute, images: NDArray[np.uint8]
) -> Film:
    poses, pose = contents.poses, [route.pose]
    roll, pitch = (
        format_degrees(angle[pose])[0] for angle in (poses.roll, poses.pitch)
    )
    moves = "one move" if len(route) == 1 else f"{len(route)} moves"
    end = "stands up" if route.stood else "does not stand up"
    seconds = format_seconds(float(route.seconds.sum()))
    caption = (
        f"Pose {route.pose} (roll {roll}, pitch {pitch}) {end} in {moves}, {seconds}."
    )
    words = [f"pose {route.pose}", *route.words]
    ends = [
        [contents.cases[route.pose]],
        *(
            [format_seconds(seconds), describe_end(route, move)]
            for move, seconds in enumerate(route.seconds)
        ),
    ]
    pictures = [
        Picture(encode_data_uri(image), f"{word}: {', '.join(lines)}", word, lines)
        for image, word, lines in zip(images, words, ends, strict=True)
    ]
    return Film(caption, pictures)


def _show_traps(contents: Contents) -> list[Gallery]:
    n_moves = contents.summary.n_moves
    traps = contents.traps
    if n_moves is None or not traps:
        return []
    total = int((n_moves == 0).sum())
    which = f"{len(traps)} of " if total > len(traps) else ""
    caption = f"Traps, from which the robot did not stand up: {which}{total}."
    shown = np.array([trap.pose for trap in traps])
    lines = [trap.reasons for trap in traps]
    return [Gallery(caption, make_pictures(contents, shown, lines))]
