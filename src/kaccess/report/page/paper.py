"""Results and figures of the paper that the page refers to."""

from kaccess.config import DEFAULT_TASK, TASKS
from kaccess.envs.tasks import make_task
from kaccess.robots import ROBOTS, Robot
from kaccess.study import RunsName

__all__ = ["find_paper_figure", "TABLE_II", "list_paper_tasks", "rank_starts"]

# Success of the best seeds, by kind of starts: the paper, Table II.
TABLE_II = {
    "ka": "99.4%",
    "km": "91.8%",
    "wkm": "94.4%",
    "9-pose": "91.6%",
    "1-pose": "92.6%",
    "rnd": "94.6%",
}


def rank_starts(starts: str) -> tuple[int, str]:
    """Return a sort key for kinds of starts: those of Table II come first."""
    order = list(TABLE_II)
    return order.index(starts) if starts in order else len(order), starts


def list_paper_tasks(robot: Robot) -> list[str]:
    """Return the tasks that the page asks for if they are missing.

    They are those of the paper for its robot, and the first of them for other robots.
    """
    if robot.source not in ROBOTS:
        return [DEFAULT_TASK]
    return [name for name in TASKS if make_task(name).paper_figure]


def find_paper_figure(runs: RunsName) -> str:
    """Return the paper's figure of the same learning curves; empty if it has none."""
    if runs.conditions or runs.task not in TASKS:
        return ""
    return make_task(runs.task).paper_figure
