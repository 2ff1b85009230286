"""`kaccess play ROBOT --run routes`: measures a robot, and shows it getting up."""

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from kaccess.base.errors import InputError
from kaccess.cli.console import progress_bar
from kaccess.cli.watch import describe_robot
from kaccess.config import AccessConfig, PlayConfig, RobotConfig, SampleConfig

if TYPE_CHECKING:
    from kaccess.report.play import Clip
    from kaccess.study import Study

__all__ = ["play_robot"]


def play_robot(robot: str, config: PlayConfig, model: RobotConfig) -> "Clip":
    """Measure a robot in a temporary study, and return a motion of its routes.

    Args:
        robot: Name or file of a robot.
        config: Number of poses, and the motion to show.
        model: What to set about the model, if what is found in it is not right.
    """
    from kaccess.envs.tasks import make_task
    from kaccess.report.play.routes import play_fresh_routes

    keep = f"kaccess run {robot} STUDY"
    if not make_task(config.task).to_stand:
        raise InputError(
            f"Routes end with standing, but {config.task!r} needs a skill as well. "
            f"Make a study with `{keep}`, then `kaccess search STUDY`."
        )
    try:
        with tempfile.TemporaryDirectory(prefix="kaccess-") as folder:
            study = _measure(robot, Path(folder) / "study", config, model)
            with progress_bar("Testing", "steps") as bar:
                played = play_fresh_routes(study, config, progress=bar)
    except KeyboardInterrupt:
        print("kaccess: Interrupted. Nothing is kept.", file=sys.stderr)
        raise SystemExit(130) from None
    print(f"{played.text}\nTo keep such a study, and for its report: {keep}")
    return played.clip


def _measure(
    robot: str, folder: Path, config: PlayConfig, model: RobotConfig
) -> "Study":
    """Sample poses and measure all moves between them, with progress bars."""
    from kaccess import pipeline

    poses = SampleConfig(n=config.poses, seed=config.seed)
    with progress_bar("Sampling", "poses") as bar:
        study = pipeline.sample(robot, folder, poses, model=model, progress=bar)
    if not study.robot.stance.stands:
        raise InputError(
            f"{study.robot.name} does not stand, so it cannot get up: "
            f"{study.robot.stance.how}. Try other gains (--kp, --kd) or another "
            "keyframe (--stand-key)."
        )
    print("\n".join(describe_robot(study)), flush=True)
    with progress_bar("Moves", "pairs") as bar:
        return pipeline.access(study, AccessConfig(), progress=bar)
