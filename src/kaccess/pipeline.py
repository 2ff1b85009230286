"""The whole flow, one function per arrow.

    robot --sample--> poses --access--> times (n x n) --cluster--> centroids, starts

Each stage reads a study (a folder) and adds to it; running it again goes on where it
stopped, and does nothing where there is nothing left to do.
"""

import logging
import platform
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import mujoco
import numpy as np

from kaccess import __version__
from kaccess.access import (
    accessibility,
    check_mirror,
    estimate_rows,
    estimate_to_standing,
    split_rows,
)
from kaccess.config import (
    AccessConfig,
    ClusterConfig,
    EngineName,
    Method,
    SampleConfig,
    StillConfig,
)
from kaccess.engines import Engine, make_engine
from kaccess.errors import InputError
from kaccess.files import whole_file
from kaccess.poses import Poses, draw_poses, settle_keyframes
from kaccess.report.summary import Summary, summarize
from kaccess.robots import Robot, load_robot
from kaccess.starts import LYING_POSE, NINE_POSES, InitialStates
from kaccess.study import Settings, Study
from kaccess.types import Array, IntArray, Progress

__all__ = [
    "access",
    "cluster",
    "compare",
    "compare_engines",
    "info",
    "load_poses",
    "picture",
    "sample",
    "write_starts",
]

logger = logging.getLogger(__name__)

STARTS_NAME: dict[Method, str] = {
    "kaccess": "ka",
    "kmeans": "km",
    "weighted-kmeans": "wkm",
    "kmedoids": "kmedoids",
    "louvain": "louvain",
    "infomap": "infomap",
    "spectral": "spectral",
}


def sample(
    robot_name: str,
    path: Path,
    config: SampleConfig,
    *,
    still: StillConfig | None = None,
    engine: EngineName = "mujoco",
    n_threads: int = 0,
    device: str | None = None,
    progress: Progress | None = None,
) -> Study:
    """Sample static poses of a robot into a new study.

    Args:
        robot_name: Name of a robot, or path of an MJCF file.
        path: Folder of the study.
        config: How poses are drawn.
        still: When a robot counts as static, for all stages of the study.
        engine: Simulator.
        n_threads: CPU threads; 0 takes them all.
        device: Where the engine `warp` computes; by default on the first GPU.
        progress: Called with (poses kept, poses wanted).
    """
    robot = load_robot(robot_name)
    still = still or StillConfig()
    settings = {
        **_provenance(robot),
        "still": asdict(still),
        "sample": asdict(config) | {"engine": engine},
    }
    if Study.exists(path):
        study = Study(path)
        study.require_same(settings)
        return study
    simulator = make_engine(engine, robot, still, n_threads=n_threads, device=device)
    poses, draws = draw_poses(robot, config, engine=simulator, progress=progress)
    arrays = {
        name: getattr(poses, name)
        for name in ("qpos", "gravity", "height", "roll", "pitch", "contacts")
    }
    return Study.create(
        path,
        {"robot": robot.name, **settings}
        | {"draws": asdict(draws), "machine": _machine()},
        poses=arrays,
        parts=robot.parts,
        tile_rows=len(split_rows(len(poses))[0]),
    )


def access(
    path: Path,
    config: AccessConfig,
    *,
    engine: EngineName = "mujoco",
    n_threads: int = 0,
    device: str | None = None,
    only_rows: range | None = None,
    progress: Progress | None = None,
) -> Study:
    """Estimate the transition times of a study's poses, tile by tile.

    Args:
        path: Folder of the study.
        config: Time limit and tolerances of the arrival test.
        engine: Simulator.
        n_threads: CPU threads; 0 takes them all.
        device: Where the engine `warp` computes; by default on the first GPU.
        only_rows: Do only these rows, and those in the same tiles: to split the work.
        progress: Called with (pairs done, pairs to do).
    """
    study = Study(path)
    _check_rows(only_rows, study.n_poses)
    poses = load_poses(study)
    still = StillConfig(**study.settings["still"])
    simulator = make_engine(
        engine, poses.robot, still, n_threads=n_threads, device=device
    )
    settings = asdict(config) | {"engine": engine}
    if "access" in study.settings:
        study.require_same({"access": settings})
    if np.isnan(study.to_standing).any():
        standing = estimate_to_standing(poses, config, engine=simulator)
        study.record("access", settings)
        study.record("standing", {"rests": standing is not None})
        study.to_standing = np.inf if standing is None else standing.times
    if poses.mirrored and "mirror_check" not in study.settings:
        check = check_mirror(poses, config, engine=simulator)
        study.record("mirror_check", asdict(check))

    tiles = [rows for rows in study.tiles() if _overlap(rows, only_rows)]
    row_done = study.done()
    todo = [rows for rows in tiles if not row_done[rows.start : rows.stop].all()]
    n_pairs = study.n_poses * sum(map(len, tiles))
    done = n_pairs - study.n_poses * sum(map(len, todo))
    if progress:
        progress(done, n_pairs)
    for rows in _merge(todo, simulator.batch_size // study.n_poses):
        new = study.n_poses * len(rows)
        part = _part_of(progress, done, new, n_pairs)
        tile = estimate_rows(poses, rows, config, engine=simulator, progress=part)
        study.write_rows(rows, tile.times, tile.outcomes)
        done += new
        if progress:
            progress(done, n_pairs)
    return study


def cluster(
    path: Path, config: ClusterConfig, *, progress: Progress | None = None
) -> Path:
    """Cluster a study's poses and write the centroids as initial states.

    Args:
        path: Folder of the study.
        config: Method, number of clusters and settings.
        progress: Called with (numbers of clusters tried, numbers to try).

    Returns:
        The file of initial states; the clustering lies in `clusters/<method>.json`.
    """
    from kaccess.cluster.methods import fit_method
    from kaccess.cluster.quality import assess

    study = Study(path)
    poses = load_poses(study)
    access = accessibility(_finished_times(study))
    fit = fit_method(
        access, config, gravity=poses.gravity, joints=poses.joints, progress=progress
    )
    centroids, labels = fit.model.centroid_indices_, fit.model.labels_
    quality = assess(access, centroids, labels, alpha=config.alpha)
    study.write_json(
        f"clusters/{config.method}.json",
        {
            "settings": asdict(config),
            "k": len(centroids),
            "index": quality.index,
            "coverage": quality.coverage,
            "centroids": centroids,
            "labels": labels,
            "uncovered": quality.uncovered,
            "curve": fit.curve,
            "stability": fit.stability,
        },
    )
    write_starts(study, poses)
    starts = path / "starts" / f"{STARTS_NAME[config.method]}.npz"
    _select(poses, centroids).save(starts)
    return starts


def write_starts(study: Study, poses: Poses) -> None:
    """Write the initial states that need no clustering: `rnd`, `9-pose`, `1-pose`."""
    robot, folder = poses.robot, study.path / "starts"
    _select(poses, np.arange(len(poses))).save(folder / "rnd.npz")
    engine = make_engine("mujoco", robot, StillConfig(**study.settings["still"]))
    for name, keys in (("9-pose", NINE_POSES), ("1-pose", (LYING_POSE,))):
        if set(keys) <= robot.keyframes.keys():
            qpos = settle_keyframes(robot, keys, engine=engine)
            starts = InitialStates.uniform(qpos, names=keys, model=robot.fingerprint)
            starts.save(folder / f"{name}.npz")


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
        AccessConfig(),
        n_pairs=n_pairs,
        seed=seed,
        progress=progress,
    )
    study.write_json("engines.json", asdict(comparison))
    return format_engines(comparison)


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
        images = render_poses(poses.robot, poses.qpos[representatives(poses)])
    except InputError as error:
        logger.warning("%s The picture goes without the robot.", error)
        images = None
    with whole_file(path / "overview.png") as draft:
        overview(poses, study.times, images).savefig(draft, dpi=120)
    return path / "overview.png"


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
    access = accessibility(_finished_times(study))
    return format_comparison(compare_clusterings(access, clusterings))


def load_poses(study: Study) -> Poses:
    """Return the poses of a study, refused if the robot or a version has changed."""
    robot = load_robot(study.settings["robot"])
    study.require_same(_provenance(robot))  # by its model: a file may be moved
    return Poses(
        robot,
        study.pose_array("qpos"),
        study.pose_array("contacts"),
        mirrored=study.settings["sample"]["mirror"],
    )


def _finished_times(study: Study) -> Array:
    times = study.times
    missing = int(np.isnan(times).sum())
    if missing:
        raise InputError(
            f"{missing:,} of {times.size:,} pairs of {study.path} are not estimated "
            f"yet. Run `kaccess access {study.path}` first."
        )
    return times


def _select(poses: Poses, indices: IntArray) -> InitialStates:
    """Return some of the poses as initial states of equal weight."""
    names = tuple(f"pose {index}" for index in indices)
    model = poses.robot.fingerprint
    return InitialStates.uniform(poses.qpos[indices], names=names, model=model)


def _provenance(robot: Robot) -> Settings:
    """What results depend on beside the settings."""
    return {
        "model": robot.fingerprint,
        "versions": {"kaccess": __version__, "mujoco": mujoco.__version__},
    }


def _machine() -> Settings:
    return {
        "platform": platform.platform(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def _overlap(rows: range, wanted: range | None) -> bool:
    return wanted is None or (rows.start < wanted.stop and wanted.start < rows.stop)


def _merge(tiles: list[range], n_rows: int) -> list[range]:
    """Join tiles that follow one another, into at most `n_rows` rows if possible."""
    merged: list[range] = []
    for tile in tiles:
        joined = range(merged[-1].start, tile.stop) if merged else tile
        if merged and merged[-1].stop == tile.start and len(joined) <= n_rows:
            merged[-1] = joined
        else:
            merged.append(tile)
    return merged


def _part_of(
    progress: Progress | None, before: int, share: int, total: int
) -> Progress | None:
    """Return a callback for a part of the work: `share` of `total`, after `before`."""
    if progress is None:
        return None
    return lambda done, of: progress(before + share * done // of, total)


def _check_rows(only_rows: range | None, n: int) -> None:
    if only_rows is not None and not 0 <= only_rows.start < only_rows.stop <= n:
        raise InputError(
            f"`only_rows` must be START:STOP within 0:{n}, the poses of the study, "
            f"got {only_rows.start}:{only_rows.stop}."
        )
