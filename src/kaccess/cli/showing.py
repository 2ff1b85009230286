"""The subcommands that show what is there: motions, the page, a summary."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro
from tyro.conf import OmitArgPrefixes, Positional

from kaccess.base.errors import InputError
from kaccess.cli.arguments import Model, StudyFolder, Threads, check_showing
from kaccess.cli.deploying import LOG_SUFFIX, play_log
from kaccess.cli.watch import watch
from kaccess.config import ROUTES, EngineName, PlayConfig, RobotConfig

if TYPE_CHECKING:
    from kaccess.report.play import Clip

__all__ = ["compare_engines", "info", "play", "report"]


def play(
    study: Annotated[Positional[Path], tyro.conf.arg(metavar="STUDY|ROBOT")],
    config: OmitArgPrefixes[PlayConfig],
    model: Model,
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


def report(study: StudyFolder) -> None:
    """Write a page that shows everything in a study, and its figures beside it.

    Args:
        study: Folder of the study.
    """
    from kaccess import pipeline

    watch(pipeline.report, study)


def info(study: StudyFolder, json: bool = False, check: bool = False) -> None:
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
    study: StudyFolder,
    engines: tuple[EngineName, ...] = ("mujoco", "warp", "bullet"),
    pairs: int = 2000,
    seed: int = 0,
    n_threads: Threads = 0,
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
