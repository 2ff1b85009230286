"""Compare how fast learners learn from different starts.

python experiments/compare_starts.py results/exploration/nominal.csv
python experiments/compare_starts.py results/paper/guided.csv --picture guided.png
python experiments/compare_starts.py one-run.csv --more another-run.csv
python experiments/compare_starts.py results/paper/returns/guided.csv
    --beside "1 step" results/paper/guided.csv --against "rnd, 1 step"
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import tyro

from kaccess.evaluation.curves import (
    format_comparison,
    load_curves,
    pool_curves,
    save_curves,
    side_by_side,
)
from kaccess.report.figures import draw_curves
from kaccess.report.figures.style import figure_style, new_figure, save_figure


@dataclass(frozen=True)
class Config:
    """What is compared."""

    curves: tyro.conf.Positional[Path]
    """Folder of runs, such as `train/fall-recovery` of a study, or a table of them."""
    more: tuple[Path, ...] = ()
    """More of the same, of other runs, to be taken together with it."""
    beside: dict[str, Path] = field(default_factory=dict)
    """Runs with other settings, by a name for these: NAME PATH NAME PATH ..."""
    against: str = "rnd"
    """Starts to compare with."""
    levels: tuple[float, ...] = (0.90, 0.95, 0.99)
    """Shares of success to be reached."""
    figure: Literal["success", "success_loose"] = "success_loose"
    """Which success."""
    picture: Path | None = None
    """Where to draw the curves."""
    table: Path | None = None
    """Where to write the curves of a folder of runs as one table."""


def main(config: Config) -> None:
    paths = (config.curves, *config.more)
    curves = pool_curves([load_curves(path) for path in paths])
    if config.beside:
        others = {name: load_curves(path) for name, path in config.beside.items()}
        curves = side_by_side({"": curves, **others})
    print(
        format_comparison(
            curves, against=config.against, levels=config.levels, figure=config.figure
        )
    )
    if config.table:
        config.table.parent.mkdir(parents=True, exist_ok=True)
        save_curves(config.curves, config.table)
    if config.picture:
        shares = {
            kind: (each.episodes, each.figures[config.figure])
            for kind, each in curves.items()
        }
        with figure_style():
            figure = new_figure(height=4.2)
            draw_curves(figure.subplots(), shares, label="success", share=True)
            save_figure(figure, config.picture)


if __name__ == "__main__":
    main(tyro.cli(Config))
