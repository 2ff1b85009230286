"""Motions for `kaccess play`: simulated first, then shown in a video or a browser."""

from kaccess.report.play.clip import Clip
from kaccess.report.play.play import Played, play_motion

__all__ = ["Clip", "Played", "play_motion"]
