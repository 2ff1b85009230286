"""Ranges of what differs between a simulated robot and a real one, with sources.

`kaccess train --randomize` draws a value from each range for every robot and episode.
Sources are named beside each range; `ours` marks a choice without one:

    [servo]   Petoi's servo figures: 3.0 kg cm at 7.4 V, 3.15 kg cm at 8.4 V
    [fit]     LineChef/BittleX: torque limits of 0.18 to 0.22 N m fit its walking
    [jitter]  mike-grayhat/bittlejuice: logs of a Bittle: servos, IMU, friction, timing
    [scale]   MarcHesse/bittle-mujoco and AIWintermuteAI/Bittle_URDF: weighed robots
    [docs]    Petoi's manuals: calibration of joints, commands in whole degrees
    [MPU]     InvenSense MPU-6050, product specification 3.4
    [A1]      Tan et al., Sim-to-Real: Learning Agile Locomotion (RSS 2018), table I
    [RMA]     Kumar et al., RMA: Rapid Motor Adaptation (RSS 2021), table I
"""

from dataclasses import dataclass, fields

from kaccess.base.errors import InputError
from kaccess.config.scale import ForBittle

__all__ = ["SENSOR_NOISE", "Range", "Ranges", "SensorNoise"]

Range = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Ranges:
    """Lowest and highest value of each condition that is drawn; see `Conditions`."""

    torque: Range = (0.6, 1.1)
    """Factor on torque limits [-]: 0.18 [fit] to 0.31 N m [servo], of 0.29."""
    gain: Range = (0.7, 1.4)
    """Factor on the position gains [-]: ours; [RMA] has 0.91 to 1.09, for a robot whose
    gains are known, and a step takes Bittle's servos 33 to 84 ms [jitter]."""
    damping: Range = (0.7, 1.4)
    """Factor on velocity gains and joint damping [-]: ours, like `gain`."""
    friction: Range = (0.2, 1.5)
    """Sliding friction [-]: 0.16 on plastic, 0.44 on a mat [jitter], 1.3 fits [fit]."""
    mass: Range = (0.8, 1.3)
    """Factor on the mass of the body [-]: robots of 260 to 350 g [scale]; [A1] has
    0.8 to 1.2."""
    comx: Range = (ForBittle(-0.012, "m"), ForBittle(0.012, "m"))
    """Shift of the body's centre of mass forwards [m]: where the battery sits; models of
    Bittle differ by 12 mm [scale]."""
    comy: Range = (ForBittle(-0.006, "m"), ForBittle(0.006, "m"))
    """The same to the left [m]: ours, half of that."""
    comz: Range = (ForBittle(-0.006, "m"), ForBittle(0.006, "m"))
    """The same upwards [m]: ours, half of that."""
    slope: Range = (0.0, 6.0)
    """Tilt of the floor, in any direction [deg]: ours."""
    latency: Range = (0.0, 0.06)
    """Mean latency of commands [s]: 22 ms to the joint and 15 to 20 ms round trip, 54
    ms to visible motion of the body [jitter]; [A1] has 0 to 40 ms."""
    jitter: Range = (0.0, 0.02)
    """Largest difference from that, anew for each command [s]: ours; with `latency` 0 to
    80 ms."""
    offset: Range = (0.0, 3.0)
    """Largest offset of a joint's zero [deg]: ours; 0.6 after a careful calibration
    [jitter], 2.5 in other trainings, 14.4 per tooth of the horn [docs]."""
    backlash: Range = (0.0, 2.0)
    """Play of a gear [deg]: ours; a servo of this size has about 1."""
    noise: Range = (0.0, 1.0)
    """Noise of sensors, as a share of `SensorNoise` [-]."""
    bias: Range = (0.0, 5.0)
    """Tilt of the IMU on its board [deg]: 4.0 in pitch and 2.3 in roll [jitter]."""
    drift: Range = (0.0, 5.0)
    """Angular rate that the IMU shows at rest [deg/s]: up to 20 as delivered [MPU], less
    once the firmware has calibrated it."""
    sag: Range = (0.0, 0.3)
    """Loss of torque and speed with all motors at full load [-]: 8.4 V when full, 6.6 V
    under load (LineChef/BittleX, hardware notes)."""
    rounding: Range = (0.0, 1.0)
    """Step of commands: none, or this one, equally often [deg]: whole degrees [docs]."""

    def __post_init__(self) -> None:
        for field in fields(self):
            low, high = getattr(self, field.name)
            if not low <= high:
                raise InputError(
                    f"The range of `{field.name}` must go from low to high, got "
                    f"{low:g} to {high:g}."
                )


@dataclass(frozen=True, kw_only=True)
class SensorNoise:
    """Standard deviations of sensor noise on Bittle."""

    gravity: float = 0.01
    """Of each component of the gravity vector [-]: ours; 0.003 while walking [jitter]."""
    rate: float = 0.28
    """Of each angular rate [rad/s]: while walking [jitter]."""
    joints: float = 0.01
    """Of a joint position, where servos report it [rad]: 0.6 deg [jitter]."""


SENSOR_NOISE = SensorNoise()
