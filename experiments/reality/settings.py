"""The settings that controllers are tested in; no policy is trained on any of them.

A training draws every condition at once from `kaccess.config.Ranges`; here conditions
are single, or combined by hand. `outside` names conditions beyond the ranges of the
training; PyBullet is outside as a whole, since all training is in MuJoCo.
"""

from dataclasses import dataclass
from typing import Literal

__all__ = ["SETTINGS", "SWEEPS", "Setting"]


@dataclass(frozen=True)
class Setting:
    """Conditions of one test."""

    name: str
    """Name in tables."""
    conditions: str
    """Conditions, as `kaccess evaluate --conditions` takes them."""
    engine: Literal["mujoco", "bullet"] = "mujoco"
    """Simulator."""
    outside: str = ""
    """What lies outside the ranges of the training."""


_WORN = "torque=0.75,offset=3,backlash=2,rounding=1,sag=0.2"
_RADIO = "latency=0.05,jitter=0.03,noise=1,rounding=1"
_FLOOR = "friction=0.3,slope=5,mass=1.2,comx=0.008"

SETTINGS = (
    Setting("weak motors", "torque=0.6"),
    Setting("soft motors", "gain=0.7,damping=1.3"),
    Setting("stiff motors", "gain=1.4,damping=0.7"),
    Setting("slippery floor", "friction=0.2"),
    Setting("rough floor", "friction=1.5"),
    Setting("heavy body", "mass=1.4", outside="mass"),
    Setting("load in front", "comx=0.012,comy=0.006"),
    Setting("late commands", "latency=0.08", outside="latency"),
    Setting("irregular commands", "latency=0.04,jitter=0.04", outside="jitter"),
    Setting("bad calibration", "offset=4", outside="offset"),
    Setting("worn gears", "backlash=4", outside="backlash"),
    Setting("noisy sensors", "noise=2", outside="noise"),
    Setting("IMU askew", "bias=5,drift=5"),
    Setting("weak battery", "torque=0.8,sag=0.4", outside="sag"),
    Setting("tilted floor", "slope=8", outside="slope"),
    Setting("worn robot", _WORN),
    Setting("slow radio", _RADIO, outside="jitter"),
    Setting("PyBullet", "", "bullet", "simulator"),
    Setting("PyBullet, slow radio", _RADIO, "bullet", "simulator, jitter"),
    Setting(
        "PyBullet, worn robot, ice", f"{_WORN},friction=0.3", "bullet", "simulator"
    ),
)
"""The twenty settings."""

SWEEPS = {
    "torque": (0.4, 0.6, 0.8, 1.2),
    "gain": (0.5, 0.7, 1.4, 2.0),
    "friction": (0.1, 0.2, 0.4, 1.5),
    "mass": (0.7, 1.3, 1.6, 2.0),
    "comx": (-0.02, -0.01, 0.01, 0.02),
    "slope": (4, 8, 12, 16),
    "latency": (0.02, 0.04, 0.08, 0.12),
    "jitter": (0.02, 0.04, 0.06, 0.08),
    "offset": (2, 4, 6, 10),
    "backlash": (2, 4, 6, 10),
    "noise": (0.5, 1, 2, 4),
    "bias": (3, 6, 10, 15),
    "sag": (0.2, 0.4, 0.6, 0.8),
    "rounding": (1, 2, 5, 10),
}
"""Values of each disturbance alone, from mild to absurd; 0 or 1 is nominal."""
