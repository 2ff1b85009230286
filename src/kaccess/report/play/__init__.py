"""Motions for `kaccess play`: simulated first, then shown in a video or a browser."""

from kaccess.report.play.clip import Clip
from kaccess.report.play.play import Played, names_robot, play_motion

__all__ = ["Clip", "Played", "names_robot", "play_motion"]
