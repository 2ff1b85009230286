"""One picture of a study: its poses and times."""

import logging
from pathlib import Path

from kaccess.base.errors import InputError
from kaccess.base.files import whole_file
from kaccess.report.figures import make_overview, pick_representatives
from kaccess.report.figures.all_times import StoredTimes
from kaccess.report.rendering.render import render_poses
from kaccess.study import Study

__all__ = ["write_picture"]

logger = logging.getLogger(__name__)


def write_picture(study: Study) -> Path:
    """Draw the poses and times of a study into its `overview.png`."""
    poses, path = study.poses, study.path / "overview.png"
    try:
        shown = poses.qpos[pick_representatives(poses.contacts)]
        images = render_poses(study.robot, shown)
    except InputError as error:
        logger.warning("%s The picture does not show the robot.", error)
        images = None
    times = StoredTimes(study.arrays)
    with whole_file(path) as draft:
        make_overview(poses, times, images).savefig(draft, dpi=120)
    return path
