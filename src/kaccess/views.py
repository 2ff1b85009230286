"""What to look at in a study: figures, pictures, comparisons, exports."""

import logging
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from kaccess.access import accessibility
from kaccess.config import (
    AccessConfig,
    EngineName,
    StillConfig,
    TaskName,
    from_settings,
)
from kaccess.engines import Engine, make_engine
from kaccess.errors import InputError
from kaccess.files import whole_file
from kaccess.report.summary import Summary, summarize
from kaccess.stored import finished_times, load_poses
from kaccess.study import Study
from kaccess.types import Progress

__all__ = [
    "compare",
    "compare_engines",
    "export",
    "info",
    "picture",
    "report",
]

logger = logging.getLogger(__name__)


def info(path: Path) -> Summary:
    """Return what is in a study, in figures."""
    study = Study(path)
    return summarize(
        study.settings,
        contacts=study.pose_array("contacts"),
        parts=study.parts,
        times=study.times,
        outcomes=study.outcomes,
        to_standing=study.to_standing,
    )


def picture(path: Path) -> Path:
    """Draw the poses and times of a study into its `overview.png`."""
    from kaccess.report.figures import overview, representatives
    from kaccess.report.render import render_poses

    study = Study(path)
    poses = load_poses(study)
    try:
        images = render_poses(poses.robot, poses.qpos[representatives(poses.contacts)])
    except InputError as error:
        logger.warning("%s The picture goes without the robot.", error)
        images = None
    with whole_file(path / "overview.png") as draft:
        overview(poses, study.times, images).savefig(draft, dpi=120)
    return path / "overview.png"


def report(path: Path) -> Path:
    """Write the page of a study, `report.html`, and its figures beside it."""
    from kaccess.report.page import write_report

    study = Study(path)
    return write_report(study, load_poses(study))


def compare(path: Path) -> str:
    """Return a table of the clusterings in a study; empty if there are none."""
    study = Study(path)
    found = study.read_jsons("clusters")
    if not found:
        return ""
    from kaccess.cluster.comparison import Labelling, format_comparison
    from kaccess.cluster.comparison import compare as compare_clusterings

    clusterings = {
        name: Labelling(np.array(content["labels"]), np.array(content["centroids"]))
        for name, content in found.items()
    }
    access = accessibility(finished_times(study))
    return format_comparison(compare_clusterings(access, clusterings))


def compare_engines(
    path: Path,
    engines: Sequence[EngineName],
    *,
    n_pairs: int = 2000,
    seed: int = 0,
    n_threads: int = 0,
    device: str | None = None,
    progress: Progress | None = None,
) -> str:
    """Estimate the same pairs of a study's poses on several engines.

    Args:
        path: Folder of the study; the comparison is written to its `engines.json`.
        engines: Names of the engines.
        n_pairs: About how many pairs.
        seed: Seed of the choice of poses.
        n_threads: CPU threads; 0 takes them all.
        device: Where the engine `warp` computes; by default on the first GPU.
        progress: Called with (simulations done, simulations to do).

    Returns:
        The comparison as text.
    """
    from kaccess.access.agreement import compare_engines
    from kaccess.report.engines import format_engines

    if len(set(engines)) < 2:
        raise InputError(f"`engines` must be two or more, got {' '.join(engines)}.")
    study = Study(path)
    poses = load_poses(study)
    still = StillConfig(**study.settings["still"])
    simulators: dict[str, Engine] = {
        name: make_engine(
            name,
            poses.robot,
            still,
            n_threads=n_threads,
            device=device if name == "warp" else None,
        )
        for name in dict.fromkeys(engines)
    }
    comparison = compare_engines(
        poses,
        simulators,
        from_settings(AccessConfig, study.settings.get("access", {})),
        n_pairs=n_pairs,
        seed=seed,
        progress=progress,
    )
    study.write_json("engines.json", asdict(comparison))
    return format_engines(comparison)


def export(
    path: Path,
    run: str,
    onnx: Path,
    *,
    task: TaskName = "fall-recovery",
    trained_under: str = "",
    best: bool = False,
) -> Path:
    """Write a policy as ONNX, with all that a robot must know to use it.

    Args:
        path: Folder of the study.
        run: Name of the learner, such as `ka/seed-0`.
        onnx: File to write.
        task: What it has learned.
        trained_under: Conditions of its training; by default the study's own.
        best: Take it as it was when its curve was best, not as it is last.
    """
    from kaccess.motions import find_policy
    from kaccess.train import export_onnx

    policy, _ = find_policy(path, run, task, trained_under, best=best)
    onnx.parent.mkdir(parents=True, exist_ok=True)
    export_onnx(policy, onnx)
    return onnx
