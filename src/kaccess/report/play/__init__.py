"""What `kaccess play` shows: a motion is simulated first, then shown."""

from kaccess.report.play.clip import Clip
from kaccess.report.play.play import Played, play_motion

__all__ = ["Clip", "Played", "play_motion"]
