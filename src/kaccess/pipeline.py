"""The stages of a study, one function per arrow; `run` runs them all.

    robot --sample--> poses --access--> times (n x n) --cluster--> centroids, starts
          --grow--> more poses and commands, until the robot gets up from nearly all
          --search--> skills: to get up where moves do not suffice, or beyond standing
          --train--> policies --evaluate--> scores --report--> page

Each stage reads a study (a folder) and adds to it. Running a stage again resumes it,
and does nothing if nothing is left to do. A stage takes the study or its folder.
"""

from contextlib import nullcontext
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kaccess.base.errors import InputError
from kaccess.base.machine import describe_machine
from kaccess.base.types import Progress, TrainProgress
from kaccess.base.watch import Watch, run_silently
from kaccess.config import (
    MANY_ROBOTS,
    PRESETS,
    AccessConfig,
    CloneConfig,
    ClusterConfig,
    EngineConfig,
    EngineName,
    EvaluateConfig,
    GetUpConfig,
    GrowConfig,
    LearnConfig,
    PairsConfig,
    PpoConfig,
    PresetName,
    RobotConfig,
    SacConfig,
    SampleConfig,
    SkillConfig,
    StillConfig,
    TrainConfig,
)
from kaccess.distribute import open_workplace
from kaccess.exports import export_policy as export
from kaccess.exports import export_starts
from kaccess.poses import draw_poses
from kaccess.report.views import compare, info, picture, play, report
from kaccess.robots import load_robot
from kaccess.study import Study, StudyLike, growing, starts, timed
from kaccess.study.engine_check import compare_engines
from kaccess.study.lock import claim_cluster, claim_graph
from kaccess.study.marking import unmark_partial
from kaccess.study.origin import describe_origin
from kaccess.study.transitions import (
    estimate_once,
    estimate_tiles,
    record_access,
    replay_once,
)

if TYPE_CHECKING:
    from kaccess.evaluation import Evaluation
    from kaccess.guide import Skill
    from kaccess.learned.predict import LearnedAccess

__all__ = [
    "access",
    "cluster",
    "compare",
    "compare_engines",
    "evaluate",
    "export",
    "export_starts",
    "grow",
    "info",
    "learn_access",
    "picture",
    "play",
    "report",
    "run",
    "sample",
    "search",
    "train",
]

_AnyEngine = EngineName | EngineConfig


def run(
    robot: str,
    study: str | Path,
    preset: PresetName = "quick",
    *,
    seed: int = 0,
    model: RobotConfig | None = None,
    pairs: str | None = None,
    engine: _AnyEngine = "mujoco",
    watch: Watch = run_silently,
) -> Study:
    """Run all stages on a robot, or resume them; `search` only where moves fail.

    Args:
        robot: Name of a robot, or path of an MJCF or URDF file.
        study: Folder of the study.
        preset: Size of the study: tiny (seconds), fast, quick (minutes), paper (hour).
        seed: Seed of all draws.
        model: What to set about the model, if what is found in it is not right.
        pairs: Share of the pairs to estimate, such as 20%, or 100%; by default that of
            the preset.
        engine: Name of the engine, or its settings.
        watch: Runs each stage; the command line shows progress and results with it.
    """
    size, threads = PRESETS[preset], EngineConfig.of(engine).threads
    poses = SampleConfig(n=size.poses, seed=seed)
    made = watch(sample, robot, study, poses, model=model, engine=engine)
    some = PairsConfig(pairs=pairs or size.pairs)
    watch(access, made, AccessConfig(), engine=engine, pairs=some)
    if size.search and growing.needs_skills(made):
        skills = replace(size.search, seed=seed)
        watch(search, made, SkillConfig(task="fall-recovery"), skills, engine=engine)
    if size.growth and made.plan is not None:
        growth = replace(size.growth, seed=seed)
        if not growing.has_grown(made, growth):
            watch(grow, made, growth, engine=engine)
    watch(info, made)
    watch(cluster, made, ClusterConfig(seed=seed))
    watch(picture, made)
    if size.train and made.robot.stance.stands:
        test = EvaluateConfig(poses=size.test_poses)
        plan = starts.leave_out_guides(made, size.train)
        if plan and find_spec("torch"):
            watch(train, made, plan, size.sac, device="cpu", n_threads=threads)
        watch(evaluate, made, test, engine=EngineConfig(threads=threads))
    watch(report, made)
    return made


@timed
def sample(
    robot: str,
    study: str | Path,
    config: SampleConfig,
    *,
    model: RobotConfig | None = None,
    still: StillConfig | None = None,
    engine: _AnyEngine = "mujoco",
    cluster: str | None = None,
    progress: Progress | None = None,
) -> Study:
    """Sample static poses of a robot into a new study.

    Args:
        robot: Name of a robot, or path of an MJCF or URDF file.
        study: Folder of the study.
        config: Number of poses, seed, and how poses are drawn.
        model: What to set about the model, if what is found in it is not right.
        still: When a robot counts as static, in all stages of the study.
        engine: Name of the engine, or its settings.
        cluster: Ray cluster that works, as `--cluster` names it; None for none.
        progress: Called with (poses kept, poses wanted).
    """
    loaded = load_robot(robot, model)
    still, config = loaded.scale.fit((still or StillConfig(), config))
    settings = {
        **describe_origin(loaded),
        "still": asdict(still),
        "sample": asdict(config) | {"engine": EngineConfig.of(engine).recorded},
    }
    if Study.exists(study):
        made = Study(study)
        made.require_same(settings)
        return made
    with open_workplace(cluster) as place:
        simulator = place.make_engine(engine, loaded, still)
        poses, draws = draw_poses(loaded, config, engine=simulator, progress=progress)
    facts = {"draws": asdict(draws), "machine": describe_machine()}
    return Study.store(study, {"robot": loaded.source, **settings, **facts}, poses)


@timed
def access(
    study: StudyLike,
    config: AccessConfig,
    *,
    engine: _AnyEngine = "mujoco",
    only_rows: range | None = None,
    pairs: PairsConfig | None = None,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> Study:
    """Estimate the transition times between all poses, tile by tile, or some of them.

    Args:
        study: Study or its folder.
        config: Time limit, and tolerances that decide when a pose is reached.
        engine: Name of the engine, or its settings.
        only_rows: Estimate only the tiles with these rows, to split the work.
        pairs: Estimate only the pairs that matter; by default all.
        cluster: Ray cluster that works, as `--cluster` names it; None for none.
        progress: Called with (pairs done, pairs to do).
    """
    study = Study.open(study)
    config = study.robot.scale.fit(config)
    tiles = study.arrays.tiles(only_rows)
    if pairs is not None and not pairs.is_all and only_rows is not None:
        raise InputError("`only_rows` has no effect with `pairs`. Give one of them.")
    robot, still = study.robot, study.still
    alone = claim_cluster(study.path) if cluster else nullcontext()
    with alone, open_workplace(cluster) as place:
        simulator = place.make_engine(engine, robot, still)
        record_access(study, config, EngineConfig.of(engine).recorded)
        nodes = estimate_once(study, config, simulator)
        if pairs is None or pairs.is_all:
            unmark_partial(study)
            compute = place.make_tiles(study, config, engine, simulator, nodes)
            estimate_tiles(study, tiles, compute, progress=progress)
        else:
            from kaccess.study.pairs import estimate_some  # scikit-learn takes seconds

            estimate_some(study, config, pairs, simulator, nodes, progress=progress)
        replay_once(study, config, place.make_replayer(engine, robot, still), nodes)
    return study


@timed
def grow(
    study: StudyLike,
    config: GrowConfig | None = None,
    *,
    engine: _AnyEngine = "mujoco",
    cluster: str | None = None,
    progress: Progress | None = None,
) -> growing.Growth:
    """Add poses and commands until the robot gets up from nearly all fresh poses.

    They join the posture graph, by which routes are planned. The poses of the study,
    their times and their clusters stay.

    Args:
        study: Study or its folder; the graph is written to its `graph.npz`.
        config: When to stop.
        engine: Name of the engine, or its settings.
        cluster: Ray cluster that works, as `--cluster` names it; None for none.
        progress: Called with (poses in the graph, most poses) from time to time.
    """
    from kaccess.evaluation.plan_test import make_plan_test

    study = Study.open(study)
    robot, threads = study.robot, EngineConfig.of(engine).threads
    with claim_graph(study.path), open_workplace(cluster) as place:
        return growing.grow_study(
            study,
            config or GrowConfig(),
            engine=place.make_engine(engine, robot, study.still),
            replayer=place.make_replayer(engine, robot, study.still),
            test=make_plan_test(robot, n_threads=threads),
            progress=progress,
        )


@timed
def cluster(
    study: StudyLike, config: ClusterConfig, *, progress: Progress | None = None
) -> Path:
    """Cluster the poses, and write the centroids as initial states.

    Args:
        study: Study or its folder.
        config: Method, task, number of clusters and settings.
        progress: Called with (numbers of clusters tried, numbers to try).

    Returns:
        The file of initial states; the clustering is in `clusters/<method>.json`, or
        `clusters/<method>@<task>.json` if the task cannot start from all poses.
    """
    from kaccess.study.clustering import cluster_study

    return cluster_study(Study.open(study), config, progress=progress)


@timed
def learn_access(
    study: StudyLike,
    config: LearnConfig | None = None,
    *,
    device: str = "auto",
    progress: Progress | None = None,
) -> "LearnedAccess":
    """Learn from the known pairs to predict moves between any two poses.

    Args:
        study: Study or its folder; the model is written to its folder `learned`.
        config: Size of the ensemble, and how it is trained.
        device: Device of torch: `cpu`, `cuda`, or `auto`, a GPU if there is one.
        progress: Called with (steps done, steps to do).
    """
    from kaccess import learned

    return learned.learn_access(study, config, device=device, progress=progress)


@timed
def search(
    study: StudyLike,
    config: SkillConfig,
    get_up: GetUpConfig | None = None,
    *,
    engine: _AnyEngine = "mujoco",
    progress: Progress | None = None,
) -> "Skill | growing.SkillSearch":
    """Search for skills: postures in a row that no single move can replace.

    If the task is to stand up, they lead from trapped poses to poses that have a route,
    and join the posture graph. If it is more than that, one does the task from standing
    and is written to `skills/<task>.json`.

    Args:
        study: Study or its folder.
        config: Task, and settings of the search for a skill from standing.
        get_up: Settings of the search for get-up skills.
        engine: Name of the engine, or its settings.
        progress: Called with (rounds done, rounds to do).
    """
    from kaccess.guide import search_study

    return search_study(
        Study.open(study), config, get_up, engine=engine, progress=progress
    )


@timed
def train(
    study: StudyLike,
    config: TrainConfig,
    sac: SacConfig | None = None,
    *,
    ppo: PpoConfig | None = None,
    clone: CloneConfig | None = None,
    device: str = "auto",
    n_threads: int = 0,
    cluster: str | None = None,
    progress: TrainProgress | None = None,
) -> Path:
    """Train learners from several kinds of starts, several seeds each.

    By SAC they train all at once, by PPO and as clones one after the other.

    Args:
        study: Study or its folder.
        config: Task, starts, seeds and episodes.
        sac: Settings of the learners, for SAC; by default with many robots each.
        ppo: Settings of the learners, for PPO.
        clone: Settings of clones; guided PPO learners begin as clones, too.
        device: Device of the learners: `cpu`, `cuda`, or `auto`, a GPU if there is one.
        n_threads: CPU threads of physics and learners; 0 takes all.
        cluster: Ray cluster that works, as `--cluster` names it; None for none.
        progress: Called with (steps done, steps to do, metrics such as `return`).

    Returns:
        The folder of the runs; each learner has a folder `<starts>/seed-<number>`.
    """
    study, clone = Study.open(study), clone or CloneConfig()
    work: dict[str, Any] = dict(device=device, n_threads=n_threads, progress=progress)
    if config.algorithm == "sac":
        with open_workplace(cluster) as place:
            return place.train(study, config, sac or MANY_ROBOTS, **work)
    from kaccess.training import train_by_ppo, train_clones

    if cluster:
        raise InputError("`cluster` trains by SAC only. Leave it out.")
    if config.algorithm == "clone":
        return train_clones(study, config, clone, **work)
    return train_by_ppo(study, config, ppo or PpoConfig(), clone, **work)


@timed
def evaluate(
    study: StudyLike,
    config: EvaluateConfig | None = None,
    *,
    engine: _AnyEngine = "mujoco",
    cluster: str | None = None,
    progress: Progress | None = None,
) -> "list[Evaluation]":
    """Test all policies of a study from poses that none of them trained on.

    The guide is tested too, as `routes`: it follows the routes of the study's graph
    and has learned nothing. If the task is more than standing, it needs a skill.

    Args:
        study: Study or its folder; scores are written to `evaluation/<test>.json`.
        config: Policies, number of test poses, and conditions.
        engine: Name of the engine, or its settings.
        cluster: Ray cluster that works, as `--cluster` names it; None for none.
        progress: Called with (policies tested, policies to test).
    """
    study, config = Study.open(study), config or EvaluateConfig()
    with open_workplace(cluster) as place:
        return place.evaluate(study, config, engine=engine, progress=progress)
