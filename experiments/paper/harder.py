"""Compare learners under harder conditions: a table in Markdown, and their curves.

python experiments/paper/harder.py results/paper/harder results/paper/harder.png

Each file of the folder, such as `delay=0.04.csv`, has the curves under one condition.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro

from kaccess.base.stats import bootstrap, correct_p_values
from kaccess.envs.tasks import make_task
from kaccess.evaluation.comparison import Comparison, compare, format_p
from kaccess.evaluation.curves import IN_ROW, SCORE, Curves, load_curves
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
    """Level of strict success."""
    in_row: int = IN_ROW
    """Tests in a row that must show it."""


def main(config: Config) -> None:
    steps = make_task("fall-recovery").episode_steps
    conditions = {
        path.stem: load_curves(path, episode_steps=steps)
        for path in sorted(config.folder.glob("*.csv"))
    }
    found = {
        (condition, kind): compare(
            each, curves[config.against], config.level, in_row=config.in_row
        )
        for condition, curves in conditions.items()
        for kind, each in sorted(curves.items())
    }
    others = [key for key in found if key[1] != config.against]
    corrected = correct_p_values([found[key].p for key in others])
    p_values = dict(zip(others, map(format_p, corrected), strict=True))
    print(
        f"Strict success in {config.in_row} tests in a row.\n\n"
        "| condition | starts | seeds that reach it | "
        f"episodes to {config.level:.0%} | ratio to {config.against} | "
        "p | p (Holm) | mean over all tests | success at the end |\n"
        "|---|---|---|---|---|---|---|---|---|"
    )
    for (condition, kind), each in found.items():
        holm = p_values.get((condition, kind), "")
        print(row(condition, kind, each, holm, conditions[condition][kind]))
    draw(conditions, config.picture)


def row(condition: str, kind: str, found: Comparison, holm: str, curves: Curves) -> str:
    """Return a line of the table."""
    last, rng = curves.scores[SCORE][:, -1], np.random.default_rng(0)
    area = bootstrap(curves.area(), lambda each: float(each.mean()), rng=rng)
    cells = [
        condition,
        kind,
        found.seeds,
        found.episodes.text(".0f"),
        found.ratio.text(".2f") if holm else "1",
        format_p(found.p) if holm else "",
        holm,
        area.text(".2f"),
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
                kind: (each.episodes, each.scores[SCORE])
                for kind, each in curves.items()
            }
            draw_curves(ax, shares, label="strict success", share=True)
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
