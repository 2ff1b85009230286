"""The physics of environments: n simulations of one robot, in any simulator."""

from kaccess.envs.physics.physics import Fields, Physics, make_physics

__all__ = ["Fields", "Physics", "make_physics"]
