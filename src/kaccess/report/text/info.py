"""The summary of a study as text for people, and as JSON for programs."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from kaccess.report.summary import Summary, Times, describe_moves
from kaccess.report.text.numbers import format_quantiles, format_share

__all__ = ["format_summary", "format_summary_as_json"]

_N_CASES = 5
_Lines = list[tuple[str, str]]


def format_summary(summary: Summary) -> str:
    """Return the summary of a study, one line per value, and the verdict."""
    lines = [
        *_describe_robot(summary),
        *_describe_limits(summary.settings),
        *_describe_poses(summary),
        *_describe_times(summary),
    ]
    width = max(len(label) for label, _ in lines)
    table = [f"{label:<{width}}  {value}" for label, value in lines]
    assumed = [summary.assumptions] if summary.assumptions else []
    return "\n".join([*table, "", summary.verdict, *assumed])


def format_summary_as_json(summary: Summary) -> str:
    """Return the summary of a study as JSON."""
    content = asdict(summary) | {"verdict": summary.verdict}
    return json.dumps(content, indent=2, default=_to_list)


def _describe_robot(summary: Summary) -> _Lines:
    settings = summary.settings
    versions = ", ".join(f"{k} {v}" for k, v in settings["versions"].items())
    loaded = settings.get("loaded", {})
    name = loaded.get("name", settings["robot"])
    source = "" if name == settings["robot"] else f", {settings['robot']}"
    return [
        ("robot", f"{name} (model {settings['model'][:12]}{source})"),
        *(("", note) for note in loaded.get("notes", ())),
        *_describe_size(loaded),
        ("versions", versions),
    ]


def _describe_size(loaded: Mapping[str, Any]) -> _Lines:
    """Say how the robot stands, and how large it is compared with Bittle."""
    if not loaded:
        return []
    stance, scale = loaded["stance"], loaded["scale"]
    n_feet = f"on {scale['n_feet']} feet" if stance["stands"] else "no standing pose"
    size = (
        f"{scale['length']:g} times Bittle's height, {scale['mass']:g} times its mass"
    )
    return [("standing", f"{stance['how']} ({n_feet})"), ("size", size)]


def _describe_limits(settings: Mapping[str, Any]) -> _Lines:
    """Return the sizes in use, in SI units: scaled to the robot, or set by the user."""
    still, sample = settings["still"], settings["sample"]
    rest = (
        f"below {still['linear_velocity']:g} m/s, {still['angular_velocity']:g} rad/s, "
        f"joints {still['joint_velocity']:g} rad/s, for {still['window']:g} s"
    )
    lines = [("at rest", f"{rest}; within {sample['time_limit']:g} s")]
    if access := settings.get("access"):
        reached = (
            f"height {access['height_tol']:g} m, joints {access['joint_tol']:g} rad, "
            f"gravity {access['gravity_tol']:g}; within {access['time_limit']:g} s"
        )
        lines.append(("reached", reached))
    return lines


def _describe_poses(summary: Summary) -> _Lines:
    sample, draws = summary.settings["sample"], summary.settings["draws"]
    mirrored = ", in mirrored pairs" if sample["mirror"] else ""
    share = format_share(draws["kept"], draws["drawn"])
    kept = f"{share} of {draws['drawn']} draws kept"
    discarded, cases = summary.discarded, summary.contact_cases
    chosen = f" of {draws['kept']}" if sample.get("use") else ""
    drawn = f"{summary.n_poses}{chosen}, draw {sample['draw']}, seed {sample['seed']}"
    return [
        ("poses", drawn + mirrored),
        ("acceptance", kept + (f" ({discarded} discarded)" if discarded else "")),
        ("contact cases", f"{len(cases)} sets of parts on the ground"),
        *(("", f"{count:5d}  {case}") for case, count in cases[:_N_CASES]),
    ]


def _describe_times(summary: Summary) -> _Lines:
    times = summary.times
    done = f"{format_share(times.done, times.pairs)} of {times.pairs:,}"
    lines = [("pairs done", done)]
    if not times.done:
        return lines
    lines += _describe_outcomes(times)
    if times.stand_up is not None:
        one_move = format_share(times.stand_up, summary.n_poses)
        lines.append(("standing in one move", f"{one_move} of the poses"))
    if summary.n_moves is not None:
        stood = format_share(int((summary.n_moves > 0).sum()), summary.n_poses)
        moves = describe_moves(summary.n_moves) or "none"
        lines.append(("stood up in replays", f"{stood} of the poses ({moves})"))
    if check := summary.settings.get("mirror_check"):
        share = format_share(check["agreeing"], check["pairs"])
        lines.append(("mirror check", f"{share} of {check['pairs']} pairs agree"))
    return lines + _describe_graph(summary)


def _describe_outcomes(times: Times) -> _Lines:
    lines = [
        ("moves that reached", format_share(times.reached, times.done)),
        ("ended elsewhere", format_share(times.elsewhere, times.done)),
        ("not at rest in time", format_share(times.restless, times.done)),
        ("diverged", f"{times.diverged:,} simulations"),
    ]
    if times.seconds:
        lines.append(("times", format_quantiles(times.seconds)))
    if times.one_way is not None:
        lines.append(("asymmetry", f"{times.one_way:.1%} of links go one way only"))
    return lines


def _describe_graph(summary: Summary) -> _Lines:
    graph = summary.graph
    if graph is None:
        return []
    return [
        (
            "components",
            f"{graph.n_weak} weak, {graph.n_strong} strong "
            f"(the largest: {graph.largest_strong} poses)",
        ),
        ("reached by no other", f"{len(graph.unreached)} poses"),
        ("reach no other", f"{len(graph.dead_ends)} poses"),
        ("cannot reach standing", f"{len(graph.stuck)} poses"),
    ]


def _to_list(value: object) -> object:
    """Turn arrays into lists for JSON."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)
