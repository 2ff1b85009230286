"""How often does a simulated Bittle get up over the protocol, and under what faults?

python experiments/simulated_bittle.py --out results/hardware/simulated_bittle.csv

Both controllers of `kaccess deploy`, from fresh poses of `bittle-real`, with the
shipped routes and the shipped policy. A robot counts as up if it really stands in the
simulation at the end, whatever its IMU says.
"""

import csv
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro

from kaccess import sample_poses
from kaccess.base.stats import wilson
from kaccess.base.types import Array
from kaccess.config import SimulateConfig
from kaccess.deploy.deploy import SHIPPED
from kaccess.deploy.loop import run_policy
from kaccess.deploy.network import Network
from kaccess.deploy.routes import follow_routes
from kaccess.deploy.session import Session
from kaccess.deploy.simulated import SimulatedBittle, VirtualLink
from kaccess.deploy.skills import load_shipped
from kaccess.deploy.watchdog import StopError
from kaccess.robots import Robot, load_robot

FAULTS: Mapping[str, Mapping[str, float]] = {
    "none": {"latency": 0.0, "quantum": 0.0},
    "whole degrees": {"latency": 0.0},
    "latency 20 ms": {"latency": 0.02},
    "latency 40 ms": {"latency": 0.04},
    "latency 80 ms": {"latency": 0.08},
    "jitter 40 ms": {"latency": 0.02, "jitter": 0.04},
    "servo lag 50 ms": {"servo_lag": 0.05},
    "servo lag 100 ms": {"servo_lag": 0.1},
    "IMU at 5 Hz": {"imu_interval": 0.2},
    "0.2 % of bytes lost": {"dropped": 0.002},
    "all together": {
        "latency": 0.04,
        "jitter": 0.02,
        "servo_lag": 0.05,
        "imu_interval": 0.2,
        "dropped": 0.0005,
    },
}


FULL_SPEED = 300.0  # [deg] in a control step: no limit
UNPACED = ("none", "latency 20 ms")  # faults with which commands are not paced too


@dataclass(frozen=True)
class Config:
    """Size of the experiment."""

    poses: int = 50
    """Fresh poses."""
    seed: int = 1000
    """Their seed; the shipped routes were made from others."""
    out: Path | None = None
    """CSV file to write."""


def main(config: Config) -> None:
    """Try both controllers under each fault, and print a row each."""
    robot = load_robot("bittle-real")
    qpos = sample_poses(robot, config.poses, seed=config.seed).qpos
    flat = find_flat(robot, config.seed + 1)
    rows = []
    for controller in ("routes", "policy", "policy, not paced"):
        for name, fault in FAULTS.items():
            if controller.endswith("paced") and name not in UNPACED:
                continue
            rows.append(try_fault(controller, name, fault, robot, qpos))
            print("; ".join(f"{key} {value}" for key, value in rows[-1].items()))
            if config.out:
                write(config.out, rows)
    for controller in ("routes", "policy"):
        rows.append(try_fault(controller, "flat on its back", {}, robot, flat))
        print("; ".join(f"{key} {value}" for key, value in rows[-1].items()))
    if config.out:
        write(config.out, rows)


def find_flat(robot: Robot, seed: int) -> Array:
    """Return states flat on the back, of 300 drawn, (n, nq)."""
    poses = sample_poses(robot, 300, seed=seed)
    _, y, z = poses.gravity.T
    return np.asarray(poses.qpos[(z > 0.97) & (np.abs(y) < 0.05)])


def try_fault(
    controller: str, name: str, fault: Mapping[str, float], robot: Robot, qpos: Array
) -> dict[str, object]:
    began = time.process_time()
    ups, seconds, wrong = 0, [], 0
    for seed, start in enumerate(qpos):
        config = SimulateConfig(seed=seed, **fault)  # type: ignore[arg-type]  # floats
        up, said, taken = get_up(controller, config, robot, start)
        ups += up
        wrong += up != said
        seconds += [taken] if up else []
    share = wilson(ups, len(qpos))
    return {
        "controller": controller,
        "fault": name,
        "up": f"{ups} of {len(qpos)}",
        "low": f"{share.low:.3f}",
        "high": f"{share.high:.3f}",
        "median seconds": f"{np.median(seconds):.1f}" if seconds else "",
        "wrongly reported": wrong,
        "cpu seconds": f"{time.process_time() - began:.0f}",
    }


def get_up(
    controller: str, config: SimulateConfig, robot: Robot, qpos: Array
) -> tuple[bool, bool, float]:
    """Return whether the robot stands, whether it was said to, and the time [s]."""
    bittle = SimulatedBittle(config, qpos, robot=robot)
    session = Session(VirtualLink(bittle), robot)
    try:
        session.connect()
        if controller == "routes":
            outcome = follow_routes(session, load_shipped(), attempts=5)
        else:
            network = Network(SHIPPED / "fall-recovery.onnx")
            pace = FULL_SPEED if controller.endswith("paced") else None
            outcome = run_policy(session, network, seconds=8.0, pace=pace)
        said = outcome.up
    except StopError:
        said = False
    return bittle.stands, said, bittle.now


def write(path: Path, rows: list[dict[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main(tyro.cli(Config))
