"""Robots: their MJCF files, and the properties that the package reads from them."""

from kaccess.robots.mirror import Mirror, find_mirror
from kaccess.robots.registry import ROBOTS, RobotSpec, load_robot
from kaccess.robots.robot import Robot
from kaccess.robots.stance import Stance

__all__ = [
    "ROBOTS",
    "Mirror",
    "Robot",
    "RobotSpec",
    "Stance",
    "find_mirror",
    "load_robot",
]
