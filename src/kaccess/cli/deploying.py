"""`kaccess deploy`, and `kaccess play` of its logs."""

from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import OmitArgPrefixes, Positional

from kaccess.base.errors import InputError
from kaccess.cli.console import progress_bar
from kaccess.config import DeployConfig, SimulateConfig

__all__ = ["LOG_SUFFIX", "deploy", "play_log"]

LOG_SUFFIX = ".jsonl"


def deploy(
    source: Annotated[Positional[str], tyro.conf.arg(metavar="STUDY|POLICY|bittle")],
    config: OmitArgPrefixes[DeployConfig],
    sim: SimulateConfig = SimulateConfig(),  # noqa: B008  # frozen
) -> None:
    """Get a real Bittle up, by routes or by a policy. Read docs/hardware.md first.

    kaccess deploy bittle --simulate needs no robot; --dry-run only prints.

    Args:
        source: bittle, for the routes and the policy that are shipped; folder of a
            study, for its routes; or a policy.onnx that `kaccess export` wrote.
        config: How the robot is reached, and what it is to do.
        sim: The simulated Bittle of --simulate and --dry-run.
    """
    from kaccess.deploy import deploy as get_up

    with progress_bar("Trying routes", "routes") as bar:
        deployed = get_up(source, config, sim, show=print, agree=_ask, progress=bar)
    print(deployed.outcome.text, flush=True)
    if config.record is not None:
        print(f"Log: {config.record}")
    if deployed.interrupted:
        raise SystemExit(130)
    if not deployed.outcome.up:
        raise SystemExit(1)


def _ask(warning: str) -> bool:
    print(warning)
    try:
        return input("Go on? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def play_log(log: Path, video: Path | None, viewer: bool) -> None:
    """Show a log beside the simulation, as a video."""
    from kaccess.report.play.log import replay_log
    from kaccess.report.play.video import check_video, write_videos

    if viewer:
        raise InputError("A log is shown beside its simulation: use --video.")
    video = video or Path("play.mp4")
    check_video(video)
    clips = replay_log(log)
    write_videos(clips, video)
    print(f"{clips[1].outcome}\nVideo: {video} (left: simulation; right: recorded)")
