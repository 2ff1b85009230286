"""Why Bittle's contacts are stiffer than MuJoCo's default: legs that sink into it.

python benchmarks/bittle_contacts.py      # 23 s on two cores
"""

import mujoco
import numpy as np

from kaccess import load_robot
from kaccess.base.rotations import quat_from_roll_pitch
from kaccess.base.types import Array
from kaccess.engines.mujoco import MujocoEngine
from kaccess.poses import _draw
from kaccess.robots import Robot

DEEP = 0.0025  # [m] of penetration
N_BLOCKS = 16  # of 64 commands each


def self_penetrating(robot: Robot, qpos: Array) -> float:
    """Return the share of states in which parts are deep in one another."""
    data, deep = mujoco.MjData(robot.model), 0
    for state in qpos:
        data.qpos[:] = state
        mujoco.mj_fwdPosition(robot.model, data)
        own = (data.contact.geom != 0).all(axis=1)
        deep += bool((data.contact.dist[own] < -DEEP).any())
    return deep / len(qpos)


def main() -> None:
    bittle = load_robot("bittle")
    roll, pitch, joints = _draw(bittle, 0, range(N_BLOCKS))
    start = np.repeat(bittle.standing[None], len(roll), axis=0)
    start[:, 2], start[:, 3:7] = bittle.drop_height, quat_from_roll_pitch(roll, pitch)
    print("solref  deep   not at rest in 2 s   4 s   8 s")
    for solref in (0.02, 0.01):
        model = bittle.model.__copy__()
        model.geom_solref[:, 0] = solref
        robot = Robot("bittle", model, bittle.drop_height)
        engine = MujocoEngine(robot)
        ends = [engine.settle(start, joints, time_limit=t) for t in (2.0, 4.0, 8.0)]
        moving = [1 - np.isfinite(end.time).mean() for end in ends]
        deep = self_penetrating(robot, ends[0].qpos)
        print(f"{solref:6.2f}  {deep:5.1%}  " + "  ".join(f"{m:5.1%}" for m in moving))


if __name__ == "__main__":
    main()
