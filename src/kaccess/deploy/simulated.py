"""A simulated Bittle: our model in MuJoCo behind the messages of the firmware.

Time passes only as far as it is told to. So the same robot serves a pseudo-terminal in
real time (`PtyBittle`) and tests in virtual time (`VirtualLink`), where a minute takes
a second and nothing depends on the load of the machine.
"""

import heapq
import math
import os
import threading
import time
from contextlib import suppress

import mujoco
import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.rotations import gravity_in_body
from kaccess.base.types import Array
from kaccess.config import SimulateConfig
from kaccess.deploy.angles import MEASURED, Angles, find_attitude
from kaccess.deploy.firmware import Firmware
from kaccess.deploy.protocol import LEGS, N_JOINTS, Attitude
from kaccess.robots import Robot, load_robot
from kaccess.robots.hold import silence_warnings

__all__ = ["PtyBittle", "SimulatedBittle", "VirtualLink"]

_TICK = 0.002  # [s], of a pseudo-terminal
_STANDS = 0.010  # [m], of the standing height
_UPRIGHT = math.cos(math.radians(15))
_EMPTY = 6.9  # [V], of a battery that is low


class SimulatedBittle:
    """A Bittle in MuJoCo with the firmware of a BiBoard.

    Args:
        config: How it differs from an ideal robot.
        qpos: (nq,) state in which it lies at the start, at rest; by default standing.
        robot: Its model; by default Bittle with the measured joint limits.
        model: Name that it reports.
        version: Version of the firmware that it reports.

    Attributes:
        now: Time that has passed [s].
        arrived: Bytes that have arrived at the board and were not read yet.
    """

    def __init__(
        self,
        config: SimulateConfig | None = None,
        qpos: Array | None = None,
        *,
        robot: Robot | None = None,
        model: str = "Bittle X",
        version: str = "B10_250712",
    ) -> None:
        self.config = config or SimulateConfig()
        self.robot = robot or load_robot(MEASURED)
        self.model, self.version = model, version
        self.imu_interval = self.config.imu_interval
        self.has_feedback = self.config.feedback
        self.now, self.arrived = 0.0, bytearray()
        self._angles = Angles(self.robot)
        self._rng = np.random.default_rng([self.config.seed, 1])
        self._to_board: list[tuple[float, int, bytes]] = []
        self._to_host: list[tuple[float, int, bytes]] = []
        self._count, self._last = 0, [0.0, 0.0]
        self._place(self.robot.standing if qpos is None else np.asarray(qpos))
        legs = np.rint(self.read_joints()).astype(int).tolist()
        self._firmware = Firmware(self, [0] * (N_JOINTS - len(LEGS)) + legs)
        self._work, self._due = self._firmware.run(), 0.0

    def _place(self, qpos: Array) -> None:
        self._model = self.robot.model.__copy__()
        self._data = mujoco.MjData(self._model)
        self._data.qpos[:] = qpos
        joints = self.robot.get_joints(qpos[None])[0]
        self._data.ctrl[:] = joints
        self._wanted = joints.copy()  # where the servos are told to go
        self._strength = self._model.actuator_gainprm.copy()
        self._stiffness = self._model.actuator_biasprm.copy()
        mujoco.mj_forward(self._model, self._data)

    @property
    def qpos(self) -> Array:
        """Copy of its state, (nq,)."""
        return np.array(self._data.qpos)

    @property
    def stands(self) -> bool:
        """Whether it stands: at standing height, upright."""
        high = abs(self._data.qpos[2] - self.robot.standing[2]) < _STANDS
        return bool(high and -self._gravity[2] > _UPRIGHT)

    @property
    def _gravity(self) -> Array:
        return np.asarray(gravity_in_body(self._data.qpos[None, 3:7])[0])

    # What the firmware reads and drives.

    def drive(self, joint: int, degrees: float) -> None:
        """Send an angle to a servo; without power it has no effect."""
        if joint not in LEGS:
            return
        step = self.config.quantum
        held = step * math.trunc(degrees / step) if step else degrees
        legs = np.rad2deg(self._wanted[self._angles.order])
        legs[joint - LEGS.start] = held
        self._wanted = self._angles.to_radians(legs)
        self._model.actuator_gainprm[:] = self._strength
        self._model.actuator_biasprm[:] = self._stiffness

    def release(self) -> None:
        """Turn all servos off."""
        self._model.actuator_gainprm[:] = 0.0
        self._model.actuator_biasprm[:] = 0.0

    def read_attitude(self) -> Attitude:
        """Return what the IMU measures: roll and pitch, exactly."""
        return find_attitude(self._gravity)

    def read_joints(self) -> list[float]:
        """Return the angles of the legs that the servos measure [deg]."""
        joints = self.robot.get_joints(self._data.qpos[None])[0]
        return [float(each) for each in np.rad2deg(joints[self._angles.order])]

    def read_volts(self) -> float:
        """Return the voltage of the battery."""
        low = self.config.low_after
        return self.config.volts if low is None or self.now < low else _EMPTY

    def print(self, text: str) -> None:
        """Send a line to the computer."""
        self._send(self._to_host, 1, f"{text}\r\n".encode())

    # The way of the bytes.

    def receive(self, data: bytes) -> None:
        """Take bytes that the computer sends now."""
        self._send(self._to_board, 0, data)

    def collect(self) -> bytes:
        """Return the bytes that have arrived at the computer by now."""
        return b"".join(self._list_due(self._to_host))

    def _send(
        self, queue: list[tuple[float, int, bytes]], way: int, data: bytes
    ) -> None:
        if self._is_dead():
            return
        if self.config.dropped:
            keep = self._rng.random(len(data)) >= self.config.dropped
            data = bytes(np.frombuffer(data, np.uint8)[keep])
        late = self.config.latency + self.config.jitter * self._rng.random()
        # Bytes do not overtake one another.
        self._last[way] = max(self._last[way], self.now + late)
        self._count += 1
        heapq.heappush(queue, (self._last[way], self._count, data))

    def _list_due(self, queue: list[tuple[float, int, bytes]]) -> list[bytes]:
        due = []
        while queue and queue[0][0] <= self.now + 1e-9:
            due.append(heapq.heappop(queue)[2])
        return due

    def _is_dead(self) -> bool:
        dies = self.config.dies_after
        return dies is not None and self.now >= dies

    # Time.

    def advance(self, until: float) -> None:
        """Let time pass [s]."""
        with silence_warnings():
            while self._due <= until:
                self._pass(self._due)
                for data in self._list_due(self._to_board):
                    self.arrived += data
                self._due += next(self._work)
            self._pass(until)

    def _pass(self, until: float) -> None:
        """Let the physics catch up."""
        step, lag = self._model.opt.timestep, self.config.servo_lag
        share = 1 - math.exp(-step / lag) if lag else 1.0
        while self._data.time + step / 2 < until:
            self._data.ctrl += share * (self._wanted - self._data.ctrl)
            mujoco.mj_step(self._model, self._data)
        self.now = max(self.now, until)


class VirtualLink:
    """A link to a simulated robot whose time passes only while somebody waits.

    Args:
        bittle: The robot.
        slow: Time that passes whenever bytes are sent, as on a slow computer [s].
    """

    def __init__(self, bittle: SimulatedBittle, *, slow: float = 0.0) -> None:
        self.bittle, self.slow = bittle, slow
        self.sent: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Send bytes."""
        self.sent.append(data)
        self.bittle.receive(data)
        if self.slow:
            self.wait(self.now() + self.slow)

    def read(self) -> bytes:
        """Return the bytes that have arrived."""
        return self.bittle.collect()

    def now(self) -> float:
        """Return the time of the simulation."""
        return self.bittle.now

    def wait(self, until: float) -> None:
        """Let the simulation run until a time."""
        self.bittle.advance(until)

    def close(self) -> None:
        """Do nothing."""


class PtyBittle:
    """A simulated robot on a pseudo-terminal, in real time.

    Args:
        bittle: The robot.

    Attributes:
        port: Name of the terminal, to be opened like a serial port.

    Raises:
        InputError: If the system has no pseudo-terminals.
    """

    def __init__(self, bittle: SimulatedBittle) -> None:
        try:
            import tty
        except ImportError as error:
            raise InputError(
                "A simulated Bittle needs pseudo-terminals, which Windows lacks. Use "
                "--dry-run."
            ) from error
        self.bittle = bittle
        self._ours, self._theirs = os.openpty()
        tty.setraw(self._theirs)
        os.set_blocking(self._ours, False)
        self.port = os.ttyname(self._theirs)
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        began = time.monotonic()
        while not self._ends.is_set():
            self.bittle.advance(time.monotonic() - began)
            with suppress(BlockingIOError):
                self.bittle.receive(os.read(self._ours, 4096))
            if data := self.bittle.collect():
                _write_all(self._ours, data)
            time.sleep(_TICK)

    def close(self) -> None:
        """Switch the robot off."""
        self._ends.set()
        self._thread.join()
        os.close(self._ours)
        os.close(self._theirs)

    def __enter__(self) -> "PtyBittle":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _write_all(descriptor: int, data: bytes) -> None:
    """Write to a terminal; what a reader does not take is lost, as on a cable."""
    with suppress(BlockingIOError):
        os.write(descriptor, data)
