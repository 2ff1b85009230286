"""The command `kaccess`: one subcommand per stage of `kaccess.pipeline`.

Exit codes: 0 done, 2 bad input (one sentence, nothing changed), 130 interrupted (what
was finished is kept).
"""

import io
import os
import sys
from pathlib import Path
from typing import Annotated, Literal, NoReturn

import tyro
from tyro.conf import OmitArgPrefixes, Positional

from kaccess import __version__
from kaccess.config import (
    AccessConfig,
    ClusterConfig,
    EngineName,
    SampleConfig,
    StillConfig,
)
from kaccess.console import progress_bar, show_log
from kaccess.errors import InputError
from kaccess.report.headless import prefer_egl_without_screen

__all__ = ["main"]

# Heavy modules are imported by the command that needs them: `--help` answers at once.

RobotName = Annotated[Positional[str], tyro.conf.arg(metavar="ROBOT")]
StudyPath = Annotated[Positional[Path], tyro.conf.arg(metavar="STUDY")]
Threads = Annotated[int, tyro.conf.arg(name="threads")]
PRESETS = {
    "tiny": SampleConfig(n=20),
    "quick": SampleConfig(n=200),
    "paper": SampleConfig(n=1000),
}


def run(
    robot: RobotName,
    study: StudyPath,
    preset: Literal["tiny", "quick", "paper"] = "quick",
    seed: int = 0,
    engine: EngineName = "mujoco",
    n_threads: Threads = 0,
) -> None:
    """Run all stages on a robot. Re-run to resume.

    Args:
        robot: Name of a robot (bittle, bittle-real), or path of an MJCF file.
        study: Folder of the study.
        preset: tiny: 20 poses, seconds; quick: 200, minutes; paper: 1000, an hour.
        seed: Seed of the draws.
        engine: Simulator: mujoco (CPU), warp (NVIDIA GPU) or bullet (the paper's).
        n_threads: CPU threads; 0 takes them all.
    """
    from dataclasses import replace

    from kaccess import pipeline

    poses = replace(PRESETS[preset], seed=seed)
    sample(robot, study, poses, engine=engine, n_threads=n_threads)
    access(study, AccessConfig(), engine=engine, n_threads=n_threads)
    info(study)
    cluster(study, ClusterConfig(seed=seed))
    print(f"Picture: {pipeline.picture(study)}")


def sample(
    robot: RobotName,
    study: StudyPath,
    config: OmitArgPrefixes[SampleConfig],
    still: StillConfig = StillConfig(),  # noqa: B008  # frozen
    engine: EngineName = "mujoco",
    n_threads: Threads = 0,
    device: str | None = None,
) -> None:
    """Sample static poses of a robot into a new study.

    Args:
        robot: Name of a robot (bittle, bittle-real), or path of an MJCF file.
        study: Folder of the study.
        config: How poses are drawn.
        still: When a robot counts as static, in all stages of the study.
        engine: Simulator: mujoco (CPU), warp (NVIDIA GPU) or bullet (the paper's).
        n_threads: CPU threads; 0 takes them all.
        device: Where warp computes: cuda:1, cpu, ...; by default on the first GPU.
    """
    from kaccess import pipeline

    with progress_bar("Sampling", "poses") as progress:
        made = pipeline.sample(
            robot,
            study,
            config,
            still=still,
            engine=engine,
            n_threads=n_threads,
            device=device,
            progress=progress,
        )
    draws = made.settings["draws"]
    print(f"{made.n_poses} poses in {study}, from {draws['drawn']} draws.")


def access(
    study: StudyPath,
    config: OmitArgPrefixes[AccessConfig],
    engine: EngineName = "mujoco",
    only_rows: str | None = None,
    n_threads: Threads = 0,
    device: str | None = None,
) -> None:
    """Estimate the time from each pose to each other pose. Re-run to resume.

    Args:
        study: Folder of the study.
        config: When a pose counts as reached.
        engine: Simulator: mujoco (CPU), warp (NVIDIA GPU) or bullet (the paper's).
        only_rows: START:STOP, do only these rows, and those in the same tiles: to split
            the work by hand over processes or machines that share the folder.
        n_threads: CPU threads; 0 takes them all.
        device: Where warp computes: cuda:1, cpu, ...; by default on the first GPU.
    """
    from kaccess import pipeline

    rows = None if only_rows is None else _parse_rows(only_rows)
    with progress_bar("Accessibility", "pairs") as progress:
        pipeline.access(
            study,
            config,
            engine=engine,
            n_threads=n_threads,
            device=device,
            only_rows=rows,
            progress=progress,
        )
    print(f"Transition times are in {study}.")


def cluster(study: StudyPath, config: OmitArgPrefixes[ClusterConfig]) -> None:
    """Cluster the poses and write the centroids as initial states.

    Args:
        study: Folder of the study.
        config: How poses are clustered.
    """
    from kaccess import pipeline

    with progress_bar("Clustering", "numbers of clusters") as progress:
        starts = pipeline.cluster(study, config, progress=progress)
    print(f"\n{pipeline.compare(study)}\n\nInitial states: {starts}")


def info(study: StudyPath, json: bool = False) -> None:
    """Show what is in a study: poses, times, and whether the robot can get up.

    Args:
        study: Folder of the study.
        json: Print JSON, for programs.
    """
    from kaccess import pipeline
    from kaccess.report.text import as_json, as_text

    summary = pipeline.info(study)
    if json:
        print(as_json(summary))
        return
    print(as_text(summary))
    if table := pipeline.compare(study):
        print(f"\n{table}")


def compare_engines(
    study: StudyPath,
    engines: tuple[EngineName, ...] = ("mujoco", "warp", "bullet"),
    pairs: int = 2000,
    seed: int = 0,
    n_threads: Threads = 0,
    device: str | None = None,
) -> None:
    """Estimate the same pairs on several simulators, and show how far they agree.

    Args:
        study: Folder of the study.
        engines: Two or more of mujoco, warp, bullet.
        pairs: About how many pairs: all those of some of the poses.
        seed: Seed of the choice of poses.
        n_threads: CPU threads; 0 takes them all.
        device: Where warp computes: cuda:1, cpu, ...; by default on the first GPU.
    """
    from kaccess import pipeline

    with progress_bar("Comparing", "simulations") as progress:
        table = pipeline.compare_engines(
            study,
            engines,
            n_pairs=pairs,
            seed=seed,
            n_threads=n_threads,
            device=device,
            progress=progress,
        )
    print(table)


def main(argv: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    argv = sys.argv[1:] if argv is None else argv
    if argv == ["--version"]:
        print(f"kaccess {__version__}")
        return
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # whatever the terminal knows
    prefer_egl_without_screen()
    show_log()
    try:
        tyro.extras.subcommand_cli_from_dict(
            {
                "run": run,
                "sample": sample,
                "access": access,
                "cluster": cluster,
                "info": info,
                "compare-engines": compare_engines,
            },
            prog="kaccess",
            description="Find good starting states for teaching a legged robot to "
            "move. Stages in order: sample, access, cluster; `run` does them all.",
            args=argv,
        )
    except InputError as error:
        _exit(2, str(error))
    except ImportError as error:  # a missing extra; the message gives the pip line
        _exit(2, str(error))
    except BrokenPipeError:  # the reader of our output has left, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        _exit(
            2,
            f"{error.strerror or error}{place}. What was stored before is whole; run "
            "the same command again once that is mended.",
        )
    except KeyboardInterrupt:
        _exit(130, "Interrupted. What was stored is kept; run the same command again.")


def _exit(code: int, message: str) -> NoReturn:
    print(f"kaccess: {message}", file=sys.stderr)
    raise SystemExit(code)


def _parse_rows(text: str) -> range:
    start, _, stop = text.partition(":")
    if not (start.isdecimal() and stop.isdecimal()):
        raise InputError(
            f"`--only-rows` must be START:STOP, such as 0:500, got {text!r}."
        )
    return range(int(start), int(stop))
