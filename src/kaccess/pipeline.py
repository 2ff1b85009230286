"""The whole flow, one function per arrow.

    robot --sample--> poses --access--> times (n x n) --cluster--> centroids, starts
          --search--> skills, where a task is more than to stand
          --train--> policies --evaluate--> success on poses never learned from

Each stage reads a study (a folder) and adds to it; running it again goes on where it
stopped, and does nothing where there is nothing left to do.
"""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kaccess.access import (
    accessibility,
    check_mirror,
    estimate_rows,
    estimate_to_standing,
    merge_rows,
    split_rows,
)
from kaccess.config import (
    AccessConfig,
    ClusterConfig,
    EngineName,
    SacConfig,
    SampleConfig,
    SkillConfig,
    StillConfig,
    TaskName,
    TrainConfig,
)
from kaccess.engines import Engine, make_engine
from kaccess.errors import InputError
from kaccess.machine import describe_machine
from kaccess.poses import Poses, draw_poses
from kaccess.progress import part_of
from kaccess.robots import load_robot
from kaccess.starts import STARTS_NAME
from kaccess.stored import (
    as_starts,
    finished_times,
    load_poses,
    provenance,
    write_plain_starts,
)
from kaccess.study import Settings, Study, timed
from kaccess.types import Progress

if TYPE_CHECKING:
    from kaccess.learning import Evaluation
    from kaccess.skill import Skill
    from kaccess.train import TrainProgress

__all__ = [
    "access",
    "cluster",
    "evaluate",
    "sample",
    "search",
    "train",
]


@timed
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
        **provenance(robot),
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
        | {"draws": asdict(draws), "machine": describe_machine()},
        poses=arrays,
        parts=robot.parts,
        tile_rows=len(split_rows(len(poses))[0]),
    )


@timed
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
    tiles = study.tiles(only_rows)
    poses = load_poses(study)
    still = StillConfig(**study.settings["still"])
    simulator = make_engine(
        engine, poses.robot, still, n_threads=n_threads, device=device
    )
    settings = asdict(config) | {"engine": engine}
    if "access" in study.settings:
        study.require_same({"access": settings})
    _estimate_once(study, poses, config, simulator, settings)
    row_done = study.done()
    todo = [rows for rows in tiles if not row_done[rows.start : rows.stop].all()]
    n_pairs = study.n_poses * sum(map(len, tiles))
    done = n_pairs - study.n_poses * sum(map(len, todo))
    if progress:
        progress(done, n_pairs)
    for rows in merge_rows(todo, simulator.batch_size // study.n_poses):
        new = study.n_poses * len(rows)
        part = part_of(progress, done, new, n_pairs)
        tile = estimate_rows(poses, rows, config, engine=simulator, progress=part)
        study.write_rows(rows, tile.times, tile.outcomes)
        done += new
        if progress:
            progress(done, n_pairs)
    return study


def _estimate_once(
    study: Study,
    poses: Poses,
    config: AccessConfig,
    engine: Engine,
    settings: Settings,
) -> None:
    """Record the settings of a study's times, and what is not a matter of rows."""
    if np.isnan(study.to_standing).any():
        standing = estimate_to_standing(poses, config, engine=engine)
        study.record("access", settings)
        study.record("standing", {"rests": standing is not None})
        study.to_standing = np.inf if standing is None else standing.times
    if poses.mirrored and "mirror_check" not in study.settings:
        check = check_mirror(poses, config, engine=engine)
        study.record("mirror_check", asdict(check))


@timed
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
    access = accessibility(finished_times(study))
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
    write_plain_starts(study, poses)
    starts = path / "starts" / f"{STARTS_NAME[config.method]}.npz"
    as_starts(poses, centroids).save(starts)
    return starts


@timed
def search(
    path: Path,
    config: SkillConfig,
    *,
    n_threads: int = 0,
    progress: Progress | None = None,
) -> "Skill":
    """Search for a skill: postures that do from standing what a task asks for.

    Args:
        path: Folder of the study; what is found is written to `skills/<task>.json`.
        config: Task, and how to search.
        n_threads: CPU threads; 0 takes them all.
        progress: Called with (rounds done, rounds to do).
    """
    from kaccess.envs.task import make_task
    from kaccess.skill import find_skill, search_skill

    study, task = Study(path), make_task(config.task)
    if task.to_stand:
        raise InputError(
            f"{task.name!r} needs no skill: routes of the study lead to standing. "
            "Search for one where the task is more than that."
        )
    robot, stored = load_poses(study).robot, study.read_jsons("skills")
    if stored.get(task.name, {}).get("settings") == asdict(config):
        return find_skill(study, task)
    found = search_skill(robot, task, config, n_threads=n_threads, progress=progress)
    content = {"settings": asdict(config), **asdict(found)}
    study.write_json(f"skills/{task.name}.json", content)
    return found


@timed
def train(
    path: Path,
    config: TrainConfig,
    sac: SacConfig | None = None,
    *,
    device: str = "auto",
    n_threads: int = 0,
    progress: "TrainProgress | None" = None,
) -> Path:
    """Learn a task from several kinds of starts, several seeds each, all at once.

    Args:
        path: Folder of the study.
        config: Task, starts, seeds and episodes.
        sac: Settings of the learners.
        device: Where they learn: `cpu`, `cuda`, or `auto`, a GPU if there is one.
        n_threads: CPU threads of the physics; 0 takes them all.
        progress: Called with (steps done, steps to do, figures such as `return`).

    Returns:
        The folder of the runs, `train/<task>` or, under conditions,
        `train/<task>@<conditions>`: each in `<starts>/seed-<number>`.
    """
    from kaccess.envs.conditions import Conditions
    from kaccess.envs.robot_env import RobotVectorEnv
    from kaccess.envs.task import make_task
    from kaccess.learners import learners, population_name, require_new, warm_up
    from kaccess.learning import curve_test, policy_metadata, runs_folder, test_poses
    from kaccess.train import train as train_population

    study = Study(path)
    robot = load_poses(study).robot
    task, conditions = make_task(config.task), Conditions.parse(config.conditions)
    sac = (sac or SacConfig()).suited(return_steps=task.return_steps)
    runs = learners(study, config, task)
    out, name = runs_folder(path, task, conditions), population_name(config)
    require_new(out, [run.name for run in runs], checkpoint=name)
    test = test_poses(study, task, "curve", config.test_poses, n_threads=n_threads)
    starts = [run.starts for run in runs for _ in range(sac.envs_per_learner)]
    env = RobotVectorEnv(
        len(starts),
        task,
        robot=robot,
        starts=starts,
        conditions=conditions,
        n_threads=n_threads,
    )
    train_population(
        env,
        sac,
        names=[run.name for run in runs],
        seeds=[run.seed for run in runs],
        n_steps=config.episodes * task.episode_steps,
        out=out,
        device=device,
        meta=policy_metadata(task, robot, conditions),
        warm_up=warm_up(study, runs, task, envs_per_learner=sac.envs_per_learner),
        evaluate=curve_test(
            task,
            test,
            n_learners=len(runs),
            conditions=conditions,
            n_threads=n_threads,
            engine=config.test_engine,
        ),
        evaluate_every=config.test_every * task.episode_steps,
        best_by=("success", "reward"),
        checkpoint=name,
        progress=progress,
    )
    return out


@timed
def evaluate(
    path: Path,
    *,
    task: TaskName = "fall-recovery",
    trained_under: str = "",
    conditions: str | None = None,
    best: bool = False,
    n_poses: int = 500,
    engine: EngineName = "mujoco",
    n_threads: int = 0,
    progress: Progress | None = None,
) -> "list[Evaluation]":
    """Test all policies of a study from poses that none of them has learned from.

    So is a guide that follows the routes of the study without having learned anything,
    by the name of `routes`; where a task is more than to stand, if there is a skill.

    Args:
        path: Folder of the study; the outcome is written to `evaluation/<task>.json`,
            or to one whose name says the conditions.
        task: What was learned.
        trained_under: Test the policies that were trained under these conditions; by
            default those trained as the study is.
        conditions: Test under these; by default under those of the training.
        best: Test the best policy of each learner's curve instead of its last.
        n_poses: Number of poses.
        engine: `mujoco` (CPU threads) or `warp` (an NVIDIA GPU).
        n_threads: CPU threads; 0 takes them all.
        progress: Called with (policies tested, policies to test).
    """
    from kaccess import learning
    from kaccess.envs.conditions import Conditions
    from kaccess.envs.task import make_task
    from kaccess.evaluate import PoseTest

    study, made = Study(path), make_task(task)
    before = Conditions.parse(trained_under)
    under = before if conditions is None else Conditions.parse(conditions)
    acts = learning.find_acts(study, made, before, under, n_robots=n_poses, best=best)
    test = learning.test_poses(study, made, "final", n_poses, n_threads=n_threads)
    tester = PoseTest(
        made,
        test.robot,
        test.qpos,
        conditions=under,
        n_threads=n_threads,
        engine=engine,
    )
    groups = learning.pose_groups(study, test, n_threads=n_threads)
    found = learning.evaluate_policies(acts, tester, groups, progress=progress)
    study.write_json(
        f"evaluation/{learning.evaluation_name(made, before, under, best=best)}.json",
        {
            "n_poses": n_poses,
            "trained_under": before.text,
            "conditions": under.text,
            "policies": found,
        },
    )
    return found
