"""Settings of `kaccess deploy`: a real Bittle, or a simulated one."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from kaccess.base.errors import InputError
from kaccess.config.checks import (
    Count,
    Kind,
    NotNegative,
    Positive,
    Seed,
    check_fields,
    check_left_out,
)

__all__ = ["ControllerName", "DeployConfig", "SimulateConfig"]

ControllerName = Literal["routes", "policy"]
_Delay = Annotated[float, Kind(0, 1)]
_Rate = Annotated[float, Kind(0, 1, below=True)]
_Degrees = Annotated[float, Kind(0, 10)]


@dataclass(frozen=True, kw_only=True)
class SimulateConfig:
    """How a simulated Bittle differs from an ideal one."""

    latency: _Delay = 0.01
    """Time that bytes take in each direction [s]; 15 to 20 ms there and back were
    measured over USB (mike-grayhat/bittlejuice)."""
    jitter: _Delay = 0.0
    """Largest time that is added to the latency, at random [s]."""
    quantum: _Degrees = 1.0
    """Step of servo angles [deg]; 0 for none."""
    dropped: _Rate = 0.0
    """Share of bytes that get lost, in both directions [-]."""
    servo_lag: _Delay = 0.0
    """Time constant of servos, in addition to the model's own [s]."""
    imu_interval: _Delay = 0.005
    """Shortest time between two lines of the IMU [s]: 0.2 in firmware since 2026-01-23,
    about 0.005 before and in patched ones."""
    volts: Positive = 8.0
    """Voltage of the battery [V]."""
    low_after: NotNegative | None = None
    """Time after which the battery is low [s]; None for never."""
    dies_after: NotNegative | None = None
    """Time after which the robot no longer answers [s]; None for never."""
    feedback: bool = False
    """Whether its servos report their angles."""
    seed: Seed = 0
    """Seed of all that is random, and of the pose it lies in."""

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, kw_only=True)
class DeployConfig:
    """How a Bittle is reached, and what it is to do."""

    port: str | None = None
    """Serial port of the robot, such as /dev/ttyUSB0 or COM3."""
    host: str | None = None
    """Address of the robot in the Wi-Fi network, such as 192.168.1.20."""
    simulate: bool = False
    """Take a simulated Bittle instead, on a pseudo-terminal."""
    controller: ControllerName = "routes"
    """routes: postures measured beforehand, chosen by roll and pitch, open loop;
    policy: a network at 25 Hz."""
    check: bool = False
    """Compare single moves with the model instead, and say how far they agree."""
    moves: Count = 20
    """Number of moves of the check."""
    dry_run: bool = False
    """Print what would be sent, to a simulated Bittle; nothing is sent to a robot."""
    record: Path | None = None
    """File of a log to write, such as log.jsonl; `kaccess play log.jsonl` shows it."""
    write_skills: Path | None = None
    """Folder to write the routes to, as OpenCat skills; nothing is sent."""
    seconds: Positive = 8.0
    """Longest time that a policy may take [s]."""
    attempts: Count = 5
    """How often routes are tried."""
    yes: bool = False
    """Do not ask before a real robot moves."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.write_skills is not None:
            unused = ("port", "host", "simulate", "check", "dry_run", "record", "yes")
            check_left_out(self, unused, "with `--write-skills`")
            if self.controller == "policy":
                raise InputError("`--write-skills` writes routes, not a policy.")
            return
        ways = [self.port is not None, self.host is not None, self.simulate]
        if sum(ways) > 1 or (sum(ways) == 0 and not self.dry_run):
            raise InputError(
                "Give one of --port /dev/ttyUSB0 (a cable), --host 192.168.1.20 "
                "(Wi-Fi) and --simulate (no robot needed)."
            )
