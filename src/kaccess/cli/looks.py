"""Commands that look at what a study, or the package, has."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro
from tyro.conf import Positional

from kaccess.cli.arguments import StudyPath, Threads
from kaccess.config import EngineName, TaskName
from kaccess.console import progress_bar
from kaccess.errors import InputError

if TYPE_CHECKING:
    from kaccess.evaluate import Scores
    from kaccess.report.motion import Clip

__all__ = ["compare_engines", "export", "info", "play"]


def info(study: StudyPath, json: bool = False) -> None:
    """Show what is in a study: poses, times, and whether the robot can get up.

    Args:
        study: Folder of the study.
        json: Print JSON, for programs.
    """
    from kaccess import views
    from kaccess.report.text import as_json, as_text

    summary = views.info(study)
    if json:
        print(as_json(summary))
        return
    print(as_text(summary))
    if table := views.compare(study):
        print(f"\n{table}")


def play(
    study: Annotated[Positional[Path], tyro.conf.arg(metavar="STUDY|ROBOT")],
    run: str | None = None,
    transition: tuple[int, int] | None = None,
    task: TaskName = "fall-recovery",
    trained_under: str = "",
    conditions: str | None = None,
    best: bool = False,
    pose: int | None = None,
    poses: int = 100,
    seed: int = 0,
    video: Path = Path("play.mp4"),
    viewer: bool = False,
    port: int = 0,
    seconds: float = 4.0,
) -> None:
    """Show a robot move: by a policy, or from one pose of a study to another.

    Args:
        study: Folder of a study; or bittle, to test and show the policy that comes with
            kaccess on freshly sampled poses.
        run: Name of the study's learner, such as ka/seed-0; or routes, the fastest
            moves of the study, nothing learned.
        transition: Instead of a policy, the move from one of the study's poses to
            another, as access makes it: two numbers.
        task: What the policy has learned.
        trained_under: Conditions of its training, as in evaluate.
        conditions: Show it under these, as in evaluate.
        best: Show the learner's best policy, as in evaluate.
        pose: Number of the pose to show; by default the first of a study's test poses,
            or the first of the fresh ones that lies on its back.
        poses: Fresh poses to test on.
        seed: Of the fresh poses.
        video: File to write (H.264).
        viewer: Show it in a browser instead, to play, pause and scrub; Ctrl-C ends it.
        port: Where the viewer listens; 0 takes the first free port from 8080 on.
        seconds: How long to watch [s].
    """
    from kaccess import motions
    from kaccess.shipped import has_shipped

    if not 0 < seconds < math.inf:
        raise InputError(f"`seconds` must be positive, got {seconds:g}.")
    if best and (run is None or run == "routes" or transition is not None):
        raise InputError("`best` is of a learner: say which, with `run`.")
    if transition is not None:
        clip = motions.move(study, *transition, seconds=seconds)
    elif run is None and has_shipped(str(study)) and not study.exists():
        scores, clip = motions.shipped_at_work(
            str(study),
            task=task,
            conditions=conditions or "",
            n_poses=poses,
            seed=seed,
            pose=pose,
            seconds=seconds,
        )
        print(_scored(scores, task))
    else:
        clip = motions.policy_at_work(
            study,
            run,
            task=task,
            trained_under=trained_under,
            conditions=conditions,
            best=best,
            pose=pose or 0,
            seconds=seconds,
        )
    print(clip.outcome, flush=True)
    _show(clip, None if viewer else video, port)


def _show(clip: "Clip", video: Path | None, port: int) -> None:
    if video is None:
        from kaccess.report.viewer import show

        show(clip, port=port)
        return
    from kaccess.report.video import write_video

    write_video(clip, video)
    print(f"Video: {video}")


def _scored(scores: "Scores", task: str) -> str:
    from kaccess.evaluate import summarize

    found = summarize(scores)
    return (
        f"{task} from {found.n} freshly sampled poses, within 3 s: "
        f"{found.success.value:.1%} ({found.success.low:.1%} to "
        f"{found.success.high:.1%}), in {found.time:.2f} s (median)."
    )


def export(
    study: StudyPath,
    run: str,
    onnx: Path,
    task: TaskName = "fall-recovery",
    trained_under: str = "",
    best: bool = False,
) -> None:
    """Write a policy as ONNX, with joint order, scaling and rate beside it.

    Args:
        study: Folder of the study.
        run: Name of the learner, such as ka/seed-0.
        onnx: File to write.
        task: What it has learned.
        trained_under: Conditions of its training, as in evaluate.
        best: Take the learner's best policy, as in evaluate.
    """
    from kaccess import views

    made = views.export(
        study, run, onnx, task=task, trained_under=trained_under, best=best
    )
    print(f"Policy: {made}")


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
    from kaccess import views

    with progress_bar("Comparing", "simulations") as progress:
        table = views.compare_engines(
            study,
            engines,
            n_pairs=pairs,
            seed=seed,
            n_threads=n_threads,
            device=device,
            progress=progress,
        )
    print(table)
