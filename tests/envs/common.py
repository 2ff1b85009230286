"""Settings that tests of environments share, and an action that holds a pose."""

from kaccess.config import EngineConfig

FAST = {"engine": EngineConfig(threads=1)}
ALL = "torque=0.7,friction=0.5,mass=1.3,slope=5,delay=0.08"


def hold(robot, qpos):
    """Return the action that holds the joints of a state."""
    low, high = robot.joint_range.T
    return (2 * robot.get_joints(qpos[None])[0] - low - high) / (high - low)
