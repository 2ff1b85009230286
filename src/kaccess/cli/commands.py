"""The subcommands: what each takes, and the function of `kaccess.pipeline` it runs."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro
from tyro.conf import OmitArgPrefixes, Positional

from kaccess.base.errors import InputError
from kaccess.cli.arguments import ExportOptions, check_showing, parse_rows
from kaccess.cli.deploying import LOG_SUFFIX, play_log
from kaccess.cli.watch import watch
from kaccess.config import (
    PRESETS,
    ROUTES,
    AccessConfig,
    ClusterConfig,
    EngineConfig,
    EngineName,
    EvaluateConfig,
    GetUpConfig,
    GrowConfig,
    LearnConfig,
    PairsConfig,
    PlayConfig,
    PpoConfig,
    PresetName,
    RobotConfig,
    SacConfig,
    SampleConfig,
    SkillConfig,
    StillConfig,
    TrainConfig,
)

if TYPE_CHECKING:
    from kaccess.report.play import Clip

__all__ = [
    "access",
    "cluster",
    "compare_engines",
    "evaluate",
    "export",
    "grow",
    "info",
    "learn_access",
    "play",
    "report",
    "run",
    "sample",
    "search",
    "train",
]

_Robot = Annotated[Positional[str], tyro.conf.arg(metavar="ROBOT")]
_Study = Annotated[Positional[Path], tyro.conf.arg(metavar="STUDY")]
_Threads = Annotated[int, tyro.conf.arg(name="threads")]
_Engine = OmitArgPrefixes[EngineConfig]
_Cluster = Annotated[str | None, tyro.conf.arg(metavar="auto|ray://HOST:PORT|local:N")]
_Model = OmitArgPrefixes[RobotConfig]
_Device = Literal["auto", "cpu", "cuda"]


def run(
    robot: _Robot,
    study: _Study,
    model: _Model,
    engine: _Engine,
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
            f"{size.sac.warmup_steps} steps random (rnd) or guided by the graph "
            "(guided-rnd). For a full training, on a study with more poses: "
            "kaccess train STUDY"
        )


def sample(
    robot: _Robot,
    study: _Study,
    config: OmitArgPrefixes[SampleConfig],
    model: _Model,
    engine: _Engine,
    still: StillConfig = StillConfig(),  # noqa: B008  # frozen
    cluster: _Cluster = None,
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
    study: _Study,
    config: OmitArgPrefixes[AccessConfig],
    pairs: OmitArgPrefixes[PairsConfig],
    engine: _Engine,
    only_rows: str | None = None,
    cluster: _Cluster = None,
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
    study: _Study,
    config: OmitArgPrefixes[GrowConfig],
    engine: _Engine,
    cluster: _Cluster = None,
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


def cluster(study: _Study, config: OmitArgPrefixes[ClusterConfig]) -> None:
    """Cluster the poses, and write the centroids as initial states.

    Args:
        study: Folder of the study.
        config: How poses are clustered.
    """
    from kaccess import pipeline
    from kaccess.study import Study

    watch(pipeline.cluster, Study(study), config)


def learn_access(
    study: _Study,
    config: OmitArgPrefixes[LearnConfig],
    device: _Device = "auto",
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
    study: _Study,
    config: OmitArgPrefixes[SkillConfig],
    engine: _Engine,
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
    study: _Study,
    config: OmitArgPrefixes[TrainConfig],
    sac: SacConfig = SacConfig(),  # noqa: B008  # frozen
    ppo: PpoConfig = PpoConfig(),  # noqa: B008  # frozen
    device: _Device = "auto",
    n_threads: _Threads = 0,
    cluster: _Cluster = None,
) -> None:
    """Train policies from several kinds of starts. Run it again to resume.

    Args:
        study: Folder of the study.
        config: Task, starts, seeds and episodes.
        sac: Settings of the learners, for SAC.
        ppo: Settings of the learners, with --algorithm ppo.
        device: Device of the learners; auto takes a GPU if there is one.
        n_threads: CPU threads of the physics; 0 takes all.
        cluster: Ray cluster that works: auto, the one here, or local:N, N CPUs here.
    """
    from kaccess import pipeline

    watch(
        pipeline.train,
        *(study, config, sac),
        ppo=ppo,
        device=device,
        n_threads=n_threads,
        cluster=cluster,
    )


def evaluate(
    study: _Study,
    config: OmitArgPrefixes[EvaluateConfig],
    engine: _Engine,
    cluster: _Cluster = None,
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


def play(
    study: Annotated[Positional[Path], tyro.conf.arg(metavar="STUDY|ROBOT")],
    config: OmitArgPrefixes[PlayConfig],
    model: _Model,
    video: Path | None = None,
    viewer: bool = False,
    port: int | None = None,
) -> None:
    """Show a robot move: by a policy, or from one pose of a study to another.

    Args:
        study: Folder of a study; or bittle, to test and show its shipped policy; or,
            with --run routes, any robot: it is measured first, from --poses poses, and
            tested on as many others; or a log.jsonl of deploy, beside a simulation.
        config: Motion to show.
        model: What to set about the model of a robot given with --run routes.
        video: Video file to write (H.264); by default play.mp4.
        viewer: Show the motion in a browser instead, with play, pause and a time
            slider; Ctrl-C ends it.
        port: Port of the viewer; by default, and for 0, the first free port from 8080
            on.
    """
    check_showing(viewer, video, port)
    if study.suffix == LOG_SUFFIX:
        play_log(study, video, viewer)
        return
    if viewer:
        from kaccess.report.play.viewer import show

        clip = _find_clip(study, config, model)
        show(clip, port=port or 0, announce=_say_address)
        return
    from kaccess.report.play.video import check_video, write_video

    video = video or Path("play.mp4")
    check_video(video)
    write_video(_find_clip(study, config, model), video)
    print(f"Video: {video}")


def _find_clip(study: Path, config: PlayConfig, model: RobotConfig) -> "Clip":
    from kaccess import pipeline
    from kaccess.cli.routes import play_robot
    from kaccess.report.play import names_robot

    if config.run == ROUTES and config.transition is None and names_robot(str(study)):
        return play_robot(str(study), config, model)
    if model != RobotConfig():
        raise InputError(
            "Settings of the model (--kp, --stand-key, ...) need a robot and `--run "
            "routes`: a study has its own."
        )
    return watch(pipeline.play, study, config).clip


def _say_address(url: str) -> None:
    print(f"Open {url} in a browser on this machine. Ctrl-C ends it.", flush=True)


def report(study: _Study) -> None:
    """Write a page that shows everything in a study, and its figures beside it.

    Args:
        study: Folder of the study.
    """
    from kaccess import pipeline

    watch(pipeline.report, study)


def export(study: _Study, config: OmitArgPrefixes[ExportOptions]) -> None:
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


def info(study: _Study, json: bool = False, check: bool = False) -> None:
    """Show what is in a study: poses, times, and whether the robot can get up.

    Args:
        study: Folder of the study.
        json: Print JSON, for programs.
        check: Read every file of the study instead, and say what is wrong. The exit
            code is 1 if something is.
    """
    from kaccess import pipeline
    from kaccess.report.text.info import format_summary_as_json
    from kaccess.study import Study

    if check:
        _check(study)
        return
    if json:
        print(format_summary_as_json(pipeline.info(study)))
        return
    opened = Study(study)
    watch(pipeline.info, opened)
    watch(pipeline.compare, opened)


def _check(study: Path) -> None:
    """Say what is wrong with a study; exit with 1 if something is."""
    from kaccess.report.check import check_study

    problems = check_study(study)
    print("\n".join(problems) or f"All files of {study} can be read and agree.")
    if problems:
        raise SystemExit(1)


def compare_engines(
    study: _Study,
    engines: tuple[EngineName, ...] = ("mujoco", "warp", "bullet"),
    pairs: int = 2000,
    seed: int = 0,
    n_threads: _Threads = 0,
    device: str | None = None,
) -> None:
    """Estimate the same pairs on several simulators, and show how well they agree.

    Args:
        study: Folder of the study.
        engines: Two or more of mujoco, warp, bullet.
        pairs: Approximate number of pairs: all pairs of some random poses.
        seed: Seed of the choice of poses.
        n_threads: CPU threads; 0 takes all.
        device: Device of warp: cuda:1, cpu, ...; by default the first GPU.
    """
    from kaccess import pipeline

    watch(
        pipeline.compare_engines,
        study,
        engines,
        n_pairs=pairs,
        seed=seed,
        n_threads=n_threads,
        device=device,
    )
