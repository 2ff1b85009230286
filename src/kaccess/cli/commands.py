"""The stages as subcommands: what each takes, and the function that it runs."""

from importlib.util import find_spec

from tyro.conf import OmitArgPrefixes

from kaccess.cli.arguments import (
    ClusterOf,
    DeviceName,
    Engine,
    ExportOptions,
    Model,
    RobotName,
    StudyFolder,
    Threads,
    parse_rows,
)
from kaccess.cli.watch import watch
from kaccess.config import (
    MANY_ROBOTS,
    PRESETS,
    AccessConfig,
    CloneConfig,
    ClusterConfig,
    EvaluateConfig,
    GetUpConfig,
    GrowConfig,
    LearnConfig,
    PairsConfig,
    PpoConfig,
    PresetName,
    SacConfig,
    SampleConfig,
    SkillConfig,
    StillConfig,
    TrainConfig,
)

__all__ = [
    "access",
    "cluster",
    "evaluate",
    "export",
    "grow",
    "learn_access",
    "run",
    "sample",
    "search",
    "train",
]


def run(
    robot: RobotName,
    study: StudyFolder,
    model: Model,
    engine: Engine,
    preset: PresetName = "quick",
    seed: int = 0,
    pairs: str | None = None,
) -> None:
    """Run all stages on a robot. Run it again to resume.

    Args:
        robot: bittle, bittle-real, path of an MJCF or URDF file, or a name such as
            menagerie:unitree_go1.
        study: Folder of the study.
        model: What to set about the model, if what is found in it is not right.
        engine: Simulator.
        preset: tiny: 20 poses, seconds; quick: 200 poses, minutes, with a short
            training; paper: 1000 poses, an hour.
        seed: Seed of all draws.
        pairs: Share of the pairs to estimate, such as 20%, as in access; by default
            that of the preset.
    """
    from kaccess import pipeline

    pipeline.run(
        robot,
        study,
        preset,
        seed=seed,
        model=model,
        pairs=pairs,
        engine=engine,
        watch=watch,
    )
    size = PRESETS[preset]
    if size.train is None:
        print(f"To train on these starts: kaccess train {study}")
    elif find_spec("torch") is None:
        print("To train on these starts: pip install 'kaccess[train]'")
    else:
        print(
            f"\nThis was a short training: {size.train.episodes} episodes, the first "
            "of each robot random (rnd) or guided by the graph (guided-rnd). For a "
            "full training, on a study with more poses: kaccess train STUDY"
        )


def sample(
    robot: RobotName,
    study: StudyFolder,
    config: OmitArgPrefixes[SampleConfig],
    model: Model,
    engine: Engine,
    still: StillConfig = StillConfig(),  # noqa: B008  # frozen
    cluster: ClusterOf = None,
) -> None:
    """Sample static poses of a robot into a new study.

    Args:
        robot: bittle, bittle-real, path of an MJCF or URDF file, or a name such as
            menagerie:unitree_go1.
        study: Folder of the study.
        config: How poses are drawn.
        model: What to set about the model, if what is found in it is not right.
        engine: Simulator.
        still: When a robot counts as static, in all stages of the study.
        cluster: Ray cluster that works: auto, the one here, or local:N, N CPUs here.
    """
    from kaccess import pipeline

    watch(
        pipeline.sample,
        robot,
        study,
        config,
        model=model,
        still=still,
        engine=engine,
        cluster=cluster,
    )


def access(
    study: StudyFolder,
    config: OmitArgPrefixes[AccessConfig],
    pairs: OmitArgPrefixes[PairsConfig],
    engine: Engine,
    only_rows: str | None = None,
    cluster: ClusterOf = None,
) -> None:
    """Estimate the time from each pose to each other pose. Run it again to resume.

    Args:
        study: Folder of the study.
        config: Transition from pose i to pose j, and when j counts as reached.
        pairs: Which pairs are estimated: all, or those that matter for a goal.
        engine: Simulator.
        only_rows: START:STOP, estimate only the tiles that contain any of these rows.
            This splits the work over processes or machines that share the folder.
        cluster: Ray cluster that works: auto, the one here, or local:N, N CPUs here.
    """
    from kaccess import pipeline

    rows = None if only_rows is None else parse_rows(only_rows)
    watch(
        pipeline.access,
        study,
        config,
        engine=engine,
        only_rows=rows,
        pairs=pairs,
        cluster=cluster,
    )


def grow(
    study: StudyFolder,
    config: OmitArgPrefixes[GrowConfig],
    engine: Engine,
    cluster: ClusterOf = None,
) -> None:
    """Add poses and commands until the robot gets up from nearly all fresh poses.

    Run it again to grow further.

    Args:
        study: Folder of the study.
        config: When to stop.
        engine: Simulator.
        cluster: Ray cluster that works: auto, the one here, or local:N, N CPUs here.
    """
    from kaccess import pipeline

    watch(pipeline.grow, study, config, engine=engine, cluster=cluster)


def cluster(study: StudyFolder, config: OmitArgPrefixes[ClusterConfig]) -> None:
    """Cluster the poses, and write the centroids as initial states.

    Args:
        study: Folder of the study.
        config: How poses are clustered.
    """
    from kaccess import pipeline
    from kaccess.study import Study

    watch(pipeline.cluster, Study(study), config)


def learn_access(
    study: StudyFolder,
    config: OmitArgPrefixes[LearnConfig],
    device: DeviceName = "auto",
) -> None:
    """Learn from the known pairs to predict moves between any two poses.

    Args:
        study: Folder of the study.
        config: Size of the ensemble, and how it is trained.
        device: Device of torch; auto takes a GPU if there is one.
    """
    from kaccess import pipeline

    watch(pipeline.learn_access, study, config, device=device)


def search(
    study: StudyFolder,
    config: OmitArgPrefixes[SkillConfig],
    engine: Engine,
    get_up: GetUpConfig = GetUpConfig(),  # noqa: B008  # frozen
) -> None:
    """Search for skills: postures in a row, to get up from traps or to do a backflip.

    Skills to get up (--task fall-recovery) become commands of the posture graph. For a
    task that is more than standing, the skill starts from standing and guides learners.

    Args:
        study: Folder of the study.
        config: Task, and settings of the search for a skill from standing.
        engine: Simulator; for get-up skills, warp is much faster.
        get_up: Settings of the search for get-up skills.
    """
    from kaccess import pipeline

    watch(pipeline.search, study, config, get_up, engine=engine)
    print(f"To watch it: kaccess play {study} --task {config.task} --run routes")


def train(
    study: StudyFolder,
    config: OmitArgPrefixes[TrainConfig],
    sac: SacConfig = MANY_ROBOTS,
    ppo: PpoConfig = PpoConfig(),  # noqa: B008  # frozen
    clone: CloneConfig = CloneConfig(),  # noqa: B008  # frozen
    device: DeviceName = "auto",
    n_threads: Threads = 0,
    cluster: ClusterOf = None,
) -> None:
    """Train policies from several kinds of starts. Run it again to resume.

    Args:
        study: Folder of the study.
        config: Task, starts, seeds and episodes.
        sac: Settings of the learners, for SAC.
        ppo: Settings of the learners, with --algorithm ppo.
        clone: Settings of clones, with --algorithm clone; guided PPO learners begin as
            clones.
        device: Device of the learners; auto takes a GPU if there is one.
        n_threads: CPU threads of physics and learners; 0 takes all. Where other
            programs are at work, 1 is far faster.
        cluster: Ray cluster that works: auto, the one here, or local:N, N CPUs here.
    """
    from kaccess import pipeline

    watch(
        pipeline.train,
        *(study, config, sac),
        ppo=ppo,
        clone=clone,
        device=device,
        n_threads=n_threads,
        cluster=cluster,
    )


def evaluate(
    study: StudyFolder,
    config: OmitArgPrefixes[EvaluateConfig],
    engine: Engine,
    cluster: ClusterOf = None,
) -> None:
    """Test all policies of a study from poses that none of them trained on.

    Args:
        study: Folder of the study.
        config: Policies to test, and conditions of the test.
        engine: Simulator: mujoco, warp for thousands of poses, or bullet.
        cluster: Ray cluster that works: auto, the one here, or local:N, N CPUs here.
    """
    from kaccess import pipeline

    watch(pipeline.evaluate, study, config, engine=engine, cluster=cluster)


def export(study: StudyFolder, config: OmitArgPrefixes[ExportOptions]) -> None:
    """Write a policy as ONNX, or starts and routes for another framework.

    kaccess export STUDY --run ka/seed-0 --onnx policy.onnx writes a policy with joint
    order, scaling and control rate. kaccess export STUDY --for mjlab --out FOLDER
    writes starts and routes, and a Python file that uses them without kaccess.

    Args:
        study: Folder of the study.
        config: A policy (--run, --onnx), or starts and routes (--for, --out).
    """
    from kaccess import pipeline

    if config.framework is not None and config.out is not None:
        watch(
            pipeline.export_starts,
            study,
            config.framework,
            config.out,
            starts=config.starts,
            task=config.task,
        )
    elif config.run is not None and config.onnx is not None:
        watch(
            pipeline.export,
            study,
            config.run,
            config.onnx,
            task=config.task,
            trained_under=config.trained_under,
            best=config.best,
        )
