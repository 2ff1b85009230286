"""Stages that show a study: its summary, clusterings, pictures, motions and page.

What they need is imported when they run, so that other stages start quickly.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from kaccess.config import PlayConfig
from kaccess.study import Study, StudyLike

if TYPE_CHECKING:
    from kaccess.cluster.comparison import ComparisonRow
    from kaccess.report.play import Played
    from kaccess.report.summary import Summary

__all__ = ["compare", "info", "picture", "play", "report"]


def info(study: StudyLike) -> "Summary":
    """Return a summary of a study, and whether its robot can get up."""
    from kaccess.report.summary import summarize_study

    return summarize_study(Study.open(study))


def compare(study: StudyLike) -> "list[ComparisonRow]":
    """Return the quality of each clustering in a study, one row per method."""
    from kaccess.study.comparison import compare_clusterings

    return compare_clusterings(Study.open(study))


def picture(study: StudyLike) -> Path:
    """Draw the poses and times of a study into its `overview.png`."""
    from kaccess.report.picture import write_picture

    return write_picture(Study.open(study))


def play(study: StudyLike, config: PlayConfig) -> "Played":
    """Return a motion to show: of a policy, or from one pose of a study to another.

    Args:
        study: Study or its folder; or the name of a robot with a shipped policy, which
            is then tested on fresh poses.
        config: Motion to show.
    """
    from kaccess.report.play import play_motion

    return play_motion(study, config)


def report(study: StudyLike) -> Path:
    """Write the page of a study, `report.html`, and its figures beside it."""
    from kaccess.report.page import write_report

    return write_report(Study.open(study))
