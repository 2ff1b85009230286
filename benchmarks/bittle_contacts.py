"""Why Bittle's contacts are stiffer than MuJoCo's default: legs sink into the body.

python benchmarks/bittle_contacts.py      # takes 23 s on two cores
"""

import mujoco
import numpy as np

from kaccess import load_robot
from kaccess.base.rotations import quat_from_roll_pitch
from kaccess.base.types import Array
from kaccess.engines.mujoco import MujocoEngine
from kaccess.poses import _draw
from kaccess.robots import Robot

DEEP = 0.0025  # depth of a deep contact [m]
N_BLOCKS = 16  # blocks of 64 random commands


def measure_deep(robot: Robot, qpos: Array) -> float:
    """Return the share of states with a deep contact of the robot with itself."""
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
        deep = measure_deep(robot, ends[0].qpos)
        print(f"{solref:6.2f}  {deep:5.1%}  " + "  ".join(f"{m:5.1%}" for m in moving))


if __name__ == "__main__":
    main()
