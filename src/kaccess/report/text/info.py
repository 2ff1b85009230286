"""A study's summary as text for people, and as JSON for programs."""

import json
from dataclasses import asdict

import numpy as np

from kaccess.report.summary import Summary, verdict

__all__ = ["as_json", "as_text"]

_N_CASES = 5


def as_text(summary: Summary) -> str:
    """Return the figures of a study, a line each, and the verdict."""
    lines = [*_robot_lines(summary), *_pose_lines(summary), *_time_lines(summary)]
    width = max(len(label) for label, _ in lines)
    table = [f"{label:<{width}}  {value}" for label, value in lines]
    return "\n".join([*table, "", verdict(summary)])


def as_json(summary: Summary) -> str:
    """Return the figures of a study as JSON."""
    content = asdict(summary) | {"verdict": verdict(summary)}
    return json.dumps(content, indent=2, default=_plain)


def _robot_lines(summary: Summary) -> list[tuple[str, str]]:
    settings = summary.settings
    versions = ", ".join(f"{k} {v}" for k, v in settings["versions"].items())
    return [
        ("robot", f"{settings['robot']} (model {settings['model'][:12]})"),
        ("versions", versions),
    ]


def _pose_lines(summary: Summary) -> list[tuple[str, str]]:
    sample, draws = summary.settings["sample"], summary.settings["draws"]
    mirrored = ", in mirrored pairs" if sample["mirror"] else ""
    kept = f"{_share(draws['kept'], draws['drawn'])} of {draws['drawn']} draws kept"
    dropped = ", ".join(
        f"{draws[fate]} {fate}"
        for fate in ("colliding", "restless", "diverged", "airborne")
        if draws[fate]
    )
    cases = summary.contact_cases
    drawn = f"{summary.n_poses}, draw {sample['draw']}, seed {sample['seed']}"
    return [
        ("poses", drawn + mirrored),
        ("acceptance", kept + (f" ({dropped} dropped)" if dropped else "")),
        ("contact cases", f"{len(cases)} sets of parts on the ground"),
        *(("", f"{count:5d}  {case}") for case, count in cases[:_N_CASES]),
    ]


def _time_lines(summary: Summary) -> list[tuple[str, str]]:
    times = summary.times
    lines = [
        ("pairs done", f"{_share(times.done, times.pairs)} of {times.pairs:,}"),
    ]
    if not times.done:
        return lines
    lines += [
        ("reached", _share(times.reached, times.done)),
        ("ended elsewhere", _share(times.elsewhere, times.done)),
        ("not at rest in time", _share(times.restless, times.done)),
        ("diverged", f"{times.diverged:,} simulations"),
    ]
    if times.seconds:
        low, middle, high = times.seconds
        lines.append(("times", f"{low:.2f} / {middle:.2f} / {high:.2f} s (5/50/95 %)"))
    if times.one_way is not None:
        lines.append(("asymmetry", f"{times.one_way:.1%} of links go one way only"))
    if times.stand_up is not None:
        one_move = _share(times.stand_up, summary.n_poses)
        lines.append(("standing in one move", f"{one_move} of the poses"))
    if check := summary.settings.get("mirror_check"):
        share = _share(check["agreeing"], check["pairs"])
        lines.append(("mirror check", f"{share} of {check['pairs']} pairs agree"))
    return lines + _graph_lines(summary)


def _graph_lines(summary: Summary) -> list[tuple[str, str]]:
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


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "none"


def _plain(value: object) -> object:
    """Turn arrays into lists for JSON."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)
