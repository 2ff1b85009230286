"""Reasons to stop: each is a sentence, and every one ends in a safe posture."""

from dataclasses import dataclass

from kaccess.base.types import Array

__all__ = ["Limits", "StopError", "Watchdog"]


class StopError(Exception):
    """The robot has to stop; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When a deployment ends."""

    silence: float = 0.5
    """Longest time without a line of the IMU [s]; the newest stock firmware sends one
    every 0.2 s."""
    late: float = 0.1
    """Largest delay of a control step [s]."""
    n_late: int = 5
    """Late steps in a row that end it."""
    volts: float = 7.0
    """Lowest voltage of the battery [V]: at this the firmware of BiBoard V1 refuses to
    move (OpenCat.h, LOW_VOLTAGE)."""
    heat: float = 15.0
    """Longest time at full torque, as estimated [s]; ours, not measured."""


class Watchdog:
    """Watches the link, the loop, the battery and the servos.

    Args:
        limits: When to stop.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._n_late = 0

    def check_silence(self, now: float, last: float, allowed: float = 0.0) -> None:
        """Stop if the IMU has been silent for too long.

        Args:
            now: Time [s].
            last: Time of the last line [s].
            allowed: Time of silence that is to be expected besides [s].
        """
        silent = now - last
        if silent > self.limits.silence + allowed:
            raise StopError(
                f"the link is lost: no line of the IMU for {silent:.1f} s. Check "
                "cable, battery and distance"
            )

    def check_step(self, late: float) -> None:
        """Stop if control steps come too late, several times in a row."""
        self._n_late = self._n_late + 1 if late > self.limits.late else 0
        if self._n_late >= self.limits.n_late:
            raise StopError(
                f"the loop is late: {self._n_late} steps in a row by more than "
                f"{1000 * self.limits.late:.0f} ms. Close other programs"
            )

    def check_volts(self, volts: float) -> None:
        """Stop if the battery is low."""
        if volts < self.limits.volts:
            raise StopError(f"the battery is low: {volts:.2f} V. Charge it")

    def check_heat(self, seconds: Array) -> None:
        """Stop if a servo has worked too hard, as estimated by its commands."""
        if seconds.max(initial=0.0) > self.limits.heat:
            joint = int(seconds.argmax())
            raise StopError(
                f"servo {joint} of 8 may be hot: about {seconds[joint]:.0f} s at full "
                "torque. Let it cool for a few minutes"
            )
