"""Put a study into one small file, or make a study of such a file.

python experiments/pack_study.py runs/bittle results/paper/study-1000.npz
python experiments/pack_study.py results/paper/study-1000.npz runs/bittle

Poses, times and outcomes are kept to the bit: times are whole physics steps. Distances
of landings are rounded to three digits, and the states in which moves end are left out.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import tyro

from kaccess import Study
from kaccess.access.landings import Landings
from kaccess.base.types import Array, IntArray
from kaccess.poses import Poses
from kaccess.robots import load_robot

NEVER = np.iinfo(np.uint16).max  # steps of a move that does not arrive


def main(source: tyro.conf.Positional[Path], out: tyro.conf.Positional[Path]) -> None:
    """Pack or unpack a study.

    Args:
        source: Folder of a study, or a packed one.
        out: File to write, or folder of the new study.
    """
    if source.is_dir():
        pack(Study(source), out)
    else:
        unpack(source, out)
    print(f"{out}: {measure(out) / 1e6:.1f} MB")


def pack(study: Study, out: Path) -> None:
    arrays, step = study.arrays, study.robot.timestep
    landings = arrays.read_landings_from(slice(None))
    np.savez_compressed(
        out,
        settings=np.array(json.dumps(study.settings)),
        qpos=study.poses.qpos,
        contacts=study.poses.contacts,
        times=count_steps(study.times, step),
        outcomes=arrays.read("outcomes"),
        to_standing=count_steps(study.to_standing, step),
        standing=arrays.read("landings/standing"),
        n_moves=arrays.read("landings/n_moves"),
        node=landings.node.astype(np.uint16),
        distance=landings.distance.astype(np.float16),
        seconds=count_steps(landings.seconds, step),
    )


def unpack(file: Path, out: Path) -> None:
    packed = np.load(file)
    settings = json.loads(str(packed["settings"]))
    robot = load_robot(settings["robot"])
    Study.store(out, settings, Poses(robot, packed["qpos"], packed["contacts"]))
    for states in (out / "study.zarr" / "landings").glob("states*"):
        shutil.rmtree(states)
    study, step = Study(out), robot.timestep
    landings = Landings(
        packed["node"].astype(np.int32),
        packed["distance"].astype(np.float32),
        find_seconds(packed["seconds"], step),
    )
    study.arrays.write_standing(take(landings, -1), packed["standing"])
    study.to_standing = find_seconds(packed["to_standing"], step)
    study.arrays.write_rows(
        range(study.n_poses),
        find_seconds(packed["times"], step),
        packed["outcomes"],
        take(landings, slice(-1)),
    )
    study.arrays.write_n_moves(packed["n_moves"])


def take(landings: Landings, columns: int | slice) -> Landings:
    return Landings(
        landings.node[:, columns],
        landings.distance[:, columns],
        landings.seconds[:, columns],
    )


def count_steps(seconds: Array, step: float) -> IntArray:
    """Return times in physics steps, uint16; `NEVER` for infinity."""
    steps = np.where(np.isfinite(seconds), np.rint(seconds / step), NEVER)
    steps = steps.astype(np.uint16)
    if not np.array_equal(find_seconds(steps, step), seconds):
        raise ValueError("Times must be whole physics steps, and all of them known.")
    return steps


def find_seconds(steps: IntArray, step: float) -> Array:
    return np.where(steps == NEVER, np.inf, steps * step).astype(np.float32)


def measure(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(each.stat().st_size for each in files if each.is_file())


if __name__ == "__main__":
    tyro.cli(main)
