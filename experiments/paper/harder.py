"""Compare learners under harder conditions: a table in Markdown, and their curves.

python experiments/paper/harder.py results/paper/harder results/paper/harder.png

Each file of the folder, such as `delay=0.04.csv`, has the curves under one condition.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro

from kaccess.envs.tasks import make_task
from kaccess.evaluation.comparison import compare
from kaccess.evaluation.curves import Curves, load_curves
from kaccess.report.figures import draw_curves
from kaccess.report.figures.style import figure_style, make_figure, save_figure

N_COLUMNS = 4


@dataclass(frozen=True)
class Config:
    """Curves to compare, and how."""

    folder: tyro.conf.Positional[Path]
    """Folder of tables of curves, one for each condition."""
    picture: tyro.conf.Positional[Path]
    """Picture file of the curves."""
    against: str = "rnd"
    """Kind of starts to compare with."""
    level: float = 0.95
    """Level of success."""


def main(config: Config) -> None:
    steps = make_task("fall-recovery").episode_steps
    conditions = {
        path.stem: load_curves(path, episode_steps=steps)
        for path in sorted(config.folder.glob("*.csv"))
    }
    print(
        "| condition | starts | seeds that reach it | "
        f"episodes to {config.level:.0%} | ratio to {config.against} | "
        f"P(faster than {config.against}) | success at the end |\n"
        "|---|---|---|---|---|---|---|"
    )
    for condition, curves in conditions.items():
        for kind in sorted(curves):
            print(row(condition, kind, curves, config))
    draw(conditions, config.picture)


def row(condition: str, kind: str, curves: dict[str, Curves], config: Config) -> str:
    """Return a line of the table."""
    found = compare(curves[kind], curves[config.against], config.level)
    last = curves[kind].scores["success_loose"][:, -1]
    cells = [
        condition,
        kind,
        f"{found.n_reached} of {found.n_seeds}",
        found.episodes.text(".0f"),
        found.ratio.text(".2f"),
        found.better.text(".2f"),
        f"{last.mean():.0%} ({last.min():.0%} to {last.max():.0%})",
    ]
    return f"| {' | '.join(cells)} |"


def draw(conditions: dict[str, dict[str, Curves]], path: Path) -> None:
    """Draw the curves of each condition side by side."""
    n_rows = -(-len(conditions) // N_COLUMNS)
    with figure_style():
        figure = make_figure(width=11, height=2.8 * n_rows)
        axes = figure.subplots(n_rows, N_COLUMNS, sharey=True, squeeze=False)
        for ax, (condition, curves) in zip(axes.flat, conditions.items(), strict=False):
            shares = {
                kind: (each.episodes, each.scores["success_loose"])
                for kind, each in curves.items()
            }
            draw_curves(ax, shares, label="success", share=True)
            ax.set_title(condition)
            ax.get_legend().remove()
        for ax in axes.flat[len(conditions) :]:
            ax.set_axis_off()
        handles, names = axes.flat[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=len(names))
        for ax in np.delete(axes, 0, axis=1).flat:
            ax.set_ylabel("")
        save_figure(figure, path)


if __name__ == "__main__":
    main(tyro.cli(Config))
