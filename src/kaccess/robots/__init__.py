"""Robots: an MJCF file each, and what the rest of the package reads off it."""

from kaccess.robots.mirror import Mirror, find_mirror
from kaccess.robots.registry import ROBOTS, RobotSpec, load_robot
from kaccess.robots.robot import Robot

__all__ = ["ROBOTS", "Mirror", "Robot", "RobotSpec", "find_mirror", "load_robot"]
