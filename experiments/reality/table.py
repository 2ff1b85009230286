"""Make the table of the settings, and the plot of success against each disturbance.

python experiments/reality/table.py results/reality docs/reality.png

The folder has `settings.csv` and `sweeps.csv`, which `test.py` writes; the table is
written there as `settings.md`. Intervals are 95 %: over seeds and poses for policies
with several seeds (hierarchical bootstrap), else Wilson's.
"""

import csv
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import tyro
from matplotlib.axes import Axes
from settings import SETTINGS, SWEEPS

from kaccess.base.files import whole_file
from kaccess.base.stats import Interval, share_over_runs
from kaccess.report.figures.style import figure_style, make_figure, save_figure

TITLES = {
    "routes": "routes",
    "routes-imu": "routes, no joint feedback",
    "shipped": "shipped policy",
    "shipped-imu": "shipped policy, no joint feedback",
    "history": "randomised policy",
    "imu": "randomised policy, no joint feedback",
    "history-sac": "SAC, randomised",
    "imu-sac": "SAC, randomised, no joint feedback",
}
NOMINAL = {"torque": 1, "gain": 1, "friction": 0.7, "mass": 1}  # others: 0
UNITS = {"comx": "m", "slope": "deg", "latency": "s", "jitter": "s", "offset": "deg"}
UNITS |= {"backlash": "deg", "bias": "deg", "rounding": "deg"}
N_COLUMNS = 4

Shares = dict[tuple[str, str], Interval]


@dataclass(frozen=True)
class Config:
    """Results to read, and the picture to write."""

    folder: tyro.conf.Positional[Path]
    """Folder of the results."""
    picture: tyro.conf.Positional[Path]
    """Picture file of the sweeps."""


def main(config: Config) -> None:
    settings = load_shares(config.folder / "settings.csv")
    with whole_file(config.folder / "settings.md") as draft:
        draft.write_text(make_table(settings))
    print(make_table(settings))
    sweeps = load_shares(config.folder / "sweeps.csv")
    draw(sweeps, settings, config.picture)


def load_shares(path: Path) -> Shares:
    """Return the share of successes of each controller in each setting."""
    hits: dict[tuple[str, str], list[int]] = defaultdict(list)
    totals: dict[tuple[str, str], list[int]] = defaultdict(list)
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            key = row["controller"].partition("/")[0], row["setting"]
            hits[key].append(int(row["successes"]))
            totals[key].append(int(row["poses"]))
    return {key: share_over_runs(hits[key], totals[key]) for key in hits}


def make_table(shares: Shares) -> str:
    """Return the table in Markdown, one line for each setting."""
    kinds = [kind for kind in TITLES if (kind, "nominal") in shares]
    lines = [
        f"| setting | conditions | outside | {' | '.join(TITLES[k] for k in kinds)} |",
        f"|---|---|---|{'---|' * len(kinds)}",
    ]
    rows = [("nominal", "", "")]
    rows += [(each.name, each.conditions, each.outside) for each in SETTINGS]
    for name, conditions, outside in rows:
        cells = [
            shares[kind, name].text(".1%") if (kind, name) in shares else ""
            for kind in kinds
        ]
        text = f"`{conditions}`" if conditions else ""
        lines.append(f"| {name} | {text} | {outside} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def draw(sweeps: Shares, settings: Shares, path: Path) -> None:
    """Draw success against each disturbance, one line for each controller."""
    n_rows = -(-len(SWEEPS) // N_COLUMNS)
    with figure_style():
        figure = make_figure(width=11, height=2.3 * n_rows)
        axes = figure.subplots(n_rows, N_COLUMNS, sharey=True, squeeze=False)
        for ax, (name, values) in zip(axes.flat, SWEEPS.items(), strict=False):
            draw_sweep(ax, name, values, sweeps, settings)
        for ax in axes.flat[len(SWEEPS) :]:
            ax.set_axis_off()
        for ax in axes[:, 0]:
            ax.set_ylabel("success")
        handles, names = axes.flat[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=3)
        save_figure(figure, path)


def draw_sweep(
    ax: Axes, name: str, values: tuple[float, ...], sweeps: Shares, settings: Shares
) -> None:
    """Draw success over the values of one disturbance; nominal is among them."""
    nominal = NOMINAL.get(name, 0)
    for kind, title in TITLES.items():
        points = {
            value: sweeps[kind, f"{name}={value:g}"]
            for value in values
            if (kind, f"{name}={value:g}") in sweeps
        }
        if not points:
            continue  # not tested
        points[nominal] = settings[kind, "nominal"]
        x = sorted(points)
        y = [points[each].value for each in x]
        style = "--" if kind.endswith("imu") else "-"
        (line,) = ax.plot(x, y, style, marker=".", label=title, linewidth=1.3)
        low, high = ([getattr(points[each], e) for each in x] for e in ("low", "high"))
        ax.fill_between(x, low, high, alpha=0.12, color=line.get_color(), linewidth=0)
    unit = f" [{UNITS[name]}]" if name in UNITS else ""
    ax.set_xlabel(f"{name}{unit}")
    ax.axvline(nominal, color="0.7", linewidth=0.8, zorder=0)
    ax.set_ylim(-0.02, 1.02)


if __name__ == "__main__":
    main(tyro.cli(Config))
