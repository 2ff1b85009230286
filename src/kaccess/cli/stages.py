"""The stages of the flow, in order, and `run`, which goes through all of them."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from tyro.conf import OmitArgPrefixes

from kaccess.cli.arguments import RobotName, StudyPath, Threads
from kaccess.cli.looks import info
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
from kaccess.console import progress_bar
from kaccess.errors import InputError

__all__ = [
    "access",
    "cluster",
    "evaluate",
    "report",
    "run",
    "sample",
    "search",
    "train",
]

_N_POSES = {"tiny": 20, "quick": 200, "paper": 1000}
PRESETS = {name: SampleConfig(n=n) for name, n in _N_POSES.items()}
SHORT_TRAINING = TrainConfig(
    starts=("guided-rnd", "rnd"), seeds=1, episodes=90, test_every=15, test_poses=20
)
SHORT_SAC = SacConfig(hidden=(128, 128), batch_size=128, warmup_steps=1500)


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
        preset: tiny: 20 poses, seconds; quick: 200, minutes, with a short training;
            paper: 1000, an hour.
        seed: Seed of the draws.
        engine: Simulator: mujoco (CPU), warp (NVIDIA GPU) or bullet (the paper's).
        n_threads: CPU threads; 0 takes them all.
    """
    from dataclasses import replace

    from kaccess import views

    poses = replace(PRESETS[preset], seed=seed)
    sample(robot, study, poses, engine=engine, n_threads=n_threads)
    access(study, AccessConfig(), engine=engine, n_threads=n_threads)
    info(study)
    cluster(study, ClusterConfig(seed=seed))
    print(f"Picture: {views.picture(study)}")
    if preset == "quick":
        _learn_a_little(study, n_threads)
    else:
        print(f"To learn from these starts: kaccess train {study}")
    report(study)


def _learn_a_little(study: Path, n_threads: int) -> None:
    """Show that learning works, and by what: two minutes on two cores."""
    if find_spec("torch") is None:
        print("To learn from these starts: pip install 'kaccess[train]'")
        return
    train(study, SHORT_TRAINING, SHORT_SAC, device="cpu", n_threads=n_threads)
    evaluate(study, poses=100, n_threads=n_threads)
    print(
        f"\nAfter {SHORT_TRAINING.episodes} episodes, of which the first "
        f"{SHORT_SAC.warmup_steps} steps were random (rnd) or by routes of the graph "
        "(guided-rnd). For real, in a study of more poses: kaccess train STUDY"
    )


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
    from kaccess import pipeline, views

    with progress_bar("Clustering", "numbers of clusters") as progress:
        starts = pipeline.cluster(study, config, progress=progress)
    print(f"\n{views.compare(study)}\n\nInitial states: {starts}")


def search(
    study: StudyPath, config: OmitArgPrefixes[SkillConfig], n_threads: Threads = 0
) -> None:
    """Search for postures that do a task from standing, for guided learners.

    Only tasks that are more than to stand need it: backflips.

    Args:
        study: Folder of the study.
        config: What to search for, and how.
        n_threads: CPU threads; 0 takes them all.
    """
    from kaccess import pipeline

    with progress_bar("Search", "rounds") as progress:
        found = pipeline.search(study, config, n_threads=n_threads, progress=progress)
    print(
        f"Found a skill of {len(found.actions)} steps that succeeds in "
        f"{found.success:.0%} of trials with noise. To watch it: kaccess play {study} "
        f"--task {config.task} --run routes"
    )


def train(
    study: StudyPath,
    config: OmitArgPrefixes[TrainConfig],
    sac: SacConfig = SacConfig(),  # noqa: B008  # frozen
    device: Literal["auto", "cpu", "cuda"] = "auto",
    n_threads: Threads = 0,
) -> None:
    """Learn a task from several kinds of starts. Re-run to resume.

    Args:
        study: Folder of the study.
        config: What is learned, and from where.
        sac: Settings of the learners.
        device: Where they learn; auto takes a GPU if there is one.
        n_threads: CPU threads of the physics; 0 takes them all.
    """
    from kaccess import pipeline

    with progress_bar("Training", "steps of each learner") as bar:
        out = pipeline.train(
            study,
            config,
            sac,
            device=device,
            n_threads=n_threads,
            progress=lambda done, total, figures: bar(done, total, _note(figures)),
        )
    print(f"Policies and curves: {out}")


def evaluate(
    study: StudyPath,
    task: TaskName = "fall-recovery",
    trained_under: str = "",
    conditions: str | None = None,
    best: bool = False,
    poses: int = 500,
    engine: Literal["mujoco", "warp"] = "mujoco",
    n_threads: Threads = 0,
) -> None:
    """Test all policies of a study from poses that none of them has learned from.

    Args:
        study: Folder of the study.
        task: What was learned.
        trained_under: Test the policies that train --conditions made with this text;
            by default those of a training without conditions.
        conditions: Test under these, such as friction=0.3,slope=10; by default under
            those of the training. The word nominal stands for none.
        best: Test each learner's policy as it was when it did best on its learning
            curve, whose poses are others than these, instead of its last.
        poses: Number of poses.
        engine: Simulator: mujoco (CPU) or, for thousands of poses, warp (GPU).
        n_threads: CPU threads; 0 takes them all.
    """
    from kaccess import pipeline
    from kaccess.report.policies import format_evaluations

    with progress_bar("Testing", "policies") as progress:
        found = pipeline.evaluate(
            study,
            task=task,
            trained_under=trained_under,
            conditions=conditions,
            best=best,
            n_poses=poses,
            engine=engine,
            n_threads=n_threads,
            progress=progress,
        )
    under = trained_under if conditions is None else conditions
    print(format_evaluations(found, under=under))


def report(study: StudyPath) -> None:
    """Write a page that shows all of a study, and its figures beside it.

    Args:
        study: Folder of the study.
    """
    from kaccess import views

    print(f"Report: {views.report(study)}")


def _note(figures: Mapping[str, float]) -> str:
    """Return the figures of a run as a note behind a progress bar."""
    known = {
        "return": "reward {:.1f}",
        "success": "success {:.0%}",
        "steps_per_s": "{:,.0f} steps/s in all",
    }
    parts = [
        text.format(figures[name]) for name, text in known.items() if name in figures
    ]
    return "".join(f", {part}" for part in parts)


def _parse_rows(text: str) -> range:
    start, _, stop = text.partition(":")
    if not (start.isdecimal() and stop.isdecimal()):
        raise InputError(
            f"`--only-rows` must be START:STOP, such as 0:500, got {text!r}."
        )
    return range(int(start), int(stop))
