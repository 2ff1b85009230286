"""Runs a stage with a progress bar, then prints its result in words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from kaccess.cli.console import Show, progress_bar

if TYPE_CHECKING:
    from pathlib import Path

    from kaccess.access.agreement import EngineComparison
    from kaccess.cluster.comparison import ComparisonRow
    from kaccess.config import EvaluateConfig
    from kaccess.evaluation import Evaluation
    from kaccess.exports import Exported
    from kaccess.guide import Skill
    from kaccess.learned.predict import LearnedAccess
    from kaccess.report.play import Played
    from kaccess.report.summary import Summary
    from kaccess.study import Study
    from kaccess.study.growing import Growth, SkillSearch

__all__ = ["describe_robot", "watch"]

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class _Stage:
    """How a stage is shown.

    Args:
        describe: Function of the result and the stage's arguments; it returns text.
        label: Label of the progress bar; empty if the stage has none.
        unit: Unit of the progress bar, in the plural.
    """

    describe: Callable[..., str]
    label: str = ""
    unit: str = ""


def watch(
    stage: Callable[_Arguments, _Result],
    /,
    *args: _Arguments.args,
    **kwargs: _Arguments.kwargs,
) -> _Result:
    """Run a stage of `kaccess.pipeline`, show its progress, and print its result."""
    shown = _STAGES[stage.__name__]
    if shown.label:
        with progress_bar(shown.label, shown.unit) as bar:
            kwargs["progress"] = _add_note(bar)
            result = stage(*args, **kwargs)
    else:
        result = stage(*args, **kwargs)
    if text := shown.describe(result, *args):
        print(text, flush=True)
    return result


def _add_note(bar: Show) -> Callable[..., None]:
    """Return a callback that also shows the metrics of a training, after the bar."""

    def show(done: int, total: int, numbers: Mapping[str, float] | None = None) -> None:
        bar(done, total, _format_note(numbers or {}))

    return show


def _format_note(numbers: Mapping[str, float]) -> str:
    known = {
        "return": "reward {:.1f}",
        "success": "success {:.0%}",
        "steps_per_s": "{:,.0f} steps/s in total",
    }
    parts = [
        text.format(numbers[name]) for name, text in known.items() if name in numbers
    ]
    return "".join(f", {part}" for part in parts)


def describe_robot(study: "Study") -> list[str]:
    """Return what was found in the model of a study's robot, one line each."""
    loaded = study.settings["loaded"]
    name, stance = loaded["name"], loaded["stance"]
    stands = f"stands in {stance['how']}" if stance["stands"] else "cannot stand"
    reason = "" if stance["stands"] else f": {stance['how']}"
    notes = [f"{name}: {note}" for note in loaded["notes"]]
    return [*notes, f"{name} {stands}{reason}."]


def _describe_sample(study: "Study", *_: object) -> str:
    drawn = study.settings["draws"]["drawn"]
    lines = [
        *describe_robot(study),
        f"{study.n_poses} poses in {study.path}, from {drawn} draws.",
    ]
    return "\n".join(lines)


def _describe_access(study: "Study", *_: object) -> str:
    from kaccess.report.text.partial import format_partial

    said = f"Transition times are in {study.path}."
    return said if study.partial is None else f"{said}\n{format_partial(study)}"


def _describe_info(summary: "Summary", *_: object) -> str:
    from kaccess.report.text.info import format_summary

    return format_summary(summary)


def _describe_cluster(starts: "Path", study: "Study", *_: object) -> str:
    from kaccess import pipeline

    table = _describe_compare(pipeline.compare(study))
    return f"{table}{_note_assumptions(study)}\n\nInitial states: {starts}"


def _note_assumptions(study: "Study | Path") -> str:
    """Return a paragraph on the pairs that are not estimated; empty if all are."""
    from kaccess.report.text.partial import format_partial
    from kaccess.study import Study

    assumed = format_partial(Study.open(study))
    return f"\n\n{assumed}" if assumed else ""


def _describe_compare(rows: "list[ComparisonRow]", *_: object) -> str:
    from kaccess.cluster.comparison import format_comparison

    return f"\n{format_comparison(rows)}" if rows else ""


def _describe_search(found: "Skill | SkillSearch", *_: object) -> str:
    from kaccess.report.text.growth import format_search, format_skill
    from kaccess.study.growing import SkillSearch

    if isinstance(found, SkillSearch):
        return format_search(found)
    return format_skill(found)


def _describe_learn_access(learned: "LearnedAccess", *_: object) -> str:
    from kaccess.report.text.learned import format_learned

    return format_learned(learned)


def _describe_grow(growth: "Growth", *_: object) -> str:
    from kaccess.report.text.growth import format_growth

    return format_growth(growth)


def _describe_evaluate(
    found: "list[Evaluation]", study: "Study", config: "EvaluateConfig"
) -> str:
    from kaccess.report.text.policies import format_evaluations
    from kaccess.study import Study

    seconds = Study.open(study).test_seconds
    table = format_evaluations(found, seconds=seconds, under=config.tested_under)
    return f"{table}{_note_assumptions(study)}"


def _describe_report(path: "Path", study: "Study | Path", *_: object) -> str:
    return f"Report: {path}{_note_assumptions(study)}"


def _describe_play(played: "Played", *_: object) -> str:
    return played.text


def _describe_engines(comparison: "EngineComparison", *_: object) -> str:
    from kaccess.report.text.engines import format_engines

    return format_engines(comparison)


def _describe_exported(
    exported: "Exported", _: object, framework: str, *__: object
) -> str:
    names = ", ".join(exported.names)
    said = f"{exported.n_starts} starts for {framework} in {exported.folder}: {names}."
    if exported.lacks_guide:
        said += f"\nThere is no guide, only starts: {exported.lacks_guide}."
    return said


def _describe_path(label: str) -> Callable[..., str]:
    return lambda path, *_: f"{label}: {path}"


_STAGES = {
    "sample": _Stage(_describe_sample, "Sampling", "poses"),
    "access": _Stage(_describe_access, "Accessibility", "pairs"),
    "grow": _Stage(_describe_grow, "Growing", "poses"),
    "info": _Stage(_describe_info),
    "cluster": _Stage(_describe_cluster, "Clustering", "numbers of clusters"),
    "learn_access": _Stage(_describe_learn_access, "Learning", "steps"),
    "compare": _Stage(_describe_compare),
    "picture": _Stage(_describe_path("Picture")),
    "search": _Stage(_describe_search, "Search", "rounds"),
    "train": _Stage(
        _describe_path("Policies and curves"), "Training", "steps of each learner"
    ),
    "evaluate": _Stage(_describe_evaluate, "Testing", "policies"),
    "play": _Stage(_describe_play),
    "report": _Stage(_describe_report),
    "export_policy": _Stage(_describe_path("Policy")),
    "export_starts": _Stage(_describe_exported),
    "compare_engines": _Stage(_describe_engines, "Comparing", "simulations"),
}
