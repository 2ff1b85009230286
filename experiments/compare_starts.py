"""Compare how fast learners learn from different starts.

python experiments/compare_starts.py results/exploration/nominal.csv
python experiments/compare_starts.py results/paper/guided.csv --planned guided-rnd
python experiments/compare_starts.py one-run.csv --more another-run.csv
python experiments/compare_starts.py results/paper/returns/guided.csv
    --beside "1 step" results/paper/guided.csv --against "rnd, 1 step"
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import tyro

from kaccess.config import TaskName
from kaccess.envs.tasks import make_task
from kaccess.evaluation.comparison import LEVELS, SCORE_NAMES, format_comparison
from kaccess.evaluation.curves import (
    IN_ROW,
    find_episode_steps,
    load_curves,
    merge_curves,
    pool_curves,
    save_curves,
)
from kaccess.report.figures import draw_curves
from kaccess.report.figures.style import figure_style, make_figure, save_figure


@dataclass(frozen=True)
class Config:
    """Curves to compare, and how."""

    curves: tyro.conf.Positional[Path]
    """Folder of runs, such as `train/fall-recovery` of a study, or a table (CSV)."""
    task: TaskName = "fall-recovery"
    """Task that was learned: it says how many steps an episode has."""
    episode_steps: int | None = None
    """Steps in an episode; by default those of the runs in a folder, or the task's."""
    more: tuple[Path, ...] = ()
    """More runs with the same settings, to be pooled with the first."""
    beside: dict[str, Path] = field(default_factory=dict)
    """Runs with other settings, each with a name: NAME PATH NAME PATH ..."""
    against: str = "rnd"
    """Kind of starts to compare with."""
    planned: str | None = None
    """Kind of starts whose comparison at the first level was planned: its p-value needs
    no correction. All other p-values are corrected together (Holm)."""
    levels: tuple[float, ...] = LEVELS
    """Levels of success; a planned comparison is at the first."""
    score: Literal["success", "success_loose"] = "success"
    """Strict or loose success."""
    in_row: int = IN_ROW
    """Tests in a row that must show a level; 1 counts the first touch."""
    picture: Path | None = None
    """Picture file of the curves."""
    table: Path | None = None
    """Table (CSV) to write the curves of a folder of runs to."""


def main(config: Config) -> None:
    paths = (config.curves, *config.more)
    steps = config.episode_steps or find_steps(config)
    curves = pool_curves([load_curves(path, episode_steps=steps) for path in paths])
    if config.beside:
        others = {
            name: load_curves(path, episode_steps=steps)
            for name, path in config.beside.items()
        }
        curves = merge_curves({"": curves, **others})
    print(
        format_comparison(
            curves,
            against=config.against,
            levels=config.levels,
            score=config.score,
            in_row=config.in_row,
            planned=config.planned,
        )
    )
    if config.table:
        config.table.parent.mkdir(parents=True, exist_ok=True)
        save_curves(config.curves, config.table)
    if config.picture:
        shares = {
            kind: (each.episodes, each.scores[config.score])
            for kind, each in curves.items()
        }
        with figure_style():
            figure = make_figure(height=4.2)
            draw_curves(
                figure.subplots(), shares, label=SCORE_NAMES[config.score], share=True
            )
            save_figure(figure, config.picture)


def find_steps(config: Config) -> int:
    """Return the steps of an episode of the runs in a folder, or of the task."""
    if config.curves.is_dir():
        return find_episode_steps(config.curves)
    return make_task(config.task).episode_steps


if __name__ == "__main__":
    main(tyro.cli(Config))
