"""Ranges of what differs between a simulated robot and a real one, with sources.

`kaccess train --randomize` draws a value from each range for every robot and episode.
Sources are named beside each range; `ours` marks a choice without one:

    [servo]   Petoi's servo figures: 3.0 kg cm at 7.4 V, 3.15 kg cm at 8.4 V
    [fit]     LineChef/BittleX: simulations fitted to the walk of a real robot
    [log]     mike-grayhat/bittlejuice: logs of a Bittle: servos, IMU, friction, timing
    [scale]   MarcHesse/bittle-mujoco, AIWintermuteAI/Bittle_URDF: weighed robots
    [docs]    PetoiCamp/OpenCat and Petoi's manuals: commands, calibration
    [MPU]     InvenSense MPU-6050, product specification, revision 3.4, section 6.1
    [port]    zita-ch/K-Access: the authors' later training of a Unitree A1
    [menlo]   Menlo, Asimov's locomotion: domain randomization of a walking robot
    [forum]   forum.arduino.cc, topic 930978: a servo that turns back lags by 3 deg
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
    """Factor on the position gains [-]: ours; 0.9 to 1.1 in [menlo], but a step
    takes Bittle's servos 33 to 84 ms [log]."""
    damping: Range = (0.7, 1.4)
    """Factor on velocity gains and joint damping [-]: ours, like `gain`."""
    friction: Range = (0.2, 1.5)
    """Sliding friction [-]: 0.16 on plastic, 0.44 on a mat [log], 1.0 to 1.3 [fit]."""
    mass: Range = (0.8, 1.3)
    """Factor on the mass of the body [-]: robots of 260 to 350 g [scale], of 274;
    0.8 to 1.2 in [port]."""
    comx: Range = (ForBittle(-0.012, "m"), ForBittle(0.012, "m"))
    """Shift of the body's centre of mass forwards [m]: 12 mm in other trainings of
    Bittle [log]."""
    comy: Range = (ForBittle(-0.006, "m"), ForBittle(0.006, "m"))
    """The same to the left [m]: ours, half of that."""
    comz: Range = (ForBittle(-0.006, "m"), ForBittle(0.006, "m"))
    """The same upwards [m]: ours, half of that."""
    slope: Range = (0.0, 6.0)
    """Tilt of the floor, in any direction [deg]: ours."""
    latency: Range = (0.0, 0.06)
    """Mean latency of commands [s]: 22 ms to a joint, 54 ms to visible motion [log]."""
    jitter: Range = (0.0, 0.02)
    """Largest difference from that, anew for each command [s]: ours; with `latency`
    0 to 80 ms."""
    offset: Range = (0.0, 3.0)
    """Largest offset of a joint's zero [deg]: ours; 0.6 after careful calibration
    and 2.5 in training [log], 1.1 in [menlo], 14.4 per tooth of the horn [docs]."""
    backlash: Range = (0.0, 2.0)
    """Play of a gear [deg]: ours; 3 for a cheap servo [forum]."""
    noise: Range = (0.0, 1.0)
    """Noise of sensors, as a share of `SensorNoise` [-]."""
    bias: Range = (0.0, 5.0)
    """Tilt of the IMU on the body [deg]: 4.0 in pitch and 2.3 in roll [log]."""
    drift: Range = (0.0, 5.0)
    """Angular rate that the IMU shows at rest [deg/s]: up to 20 as delivered [MPU];
    ours, since the firmware calibrates it."""
    sag: Range = (0.0, 0.3)
    """Loss of torque and speed with all motors at full load [-]: 8.4 V when full, 6.6 V
    under load (LineChef/BittleX, hardware notes)."""
    rounding: Range = (0.0, 1.0)
    """Step of commands: none, or the highest, equally often [deg]: 1 [docs]."""

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
    """Of each component of the gravity vector [-]: ours; 0.003 while walking [log]."""
    rate: float = 0.28
    """Of each angular rate [rad/s]: while walking [log]; the chip has 0.001 [MPU]."""
    joints: float = 0.01
    """Of a joint position, where servos report it [rad]: 0.6 deg [log]."""


SENSOR_NOISE = SensorNoise()
