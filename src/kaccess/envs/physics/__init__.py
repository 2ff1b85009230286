"""The physics of environments: n simulations of one robot, on a CPU or a GPU."""

from kaccess.envs.physics.physics import Fields, Physics, check_engine, make_physics

__all__ = ["Fields", "Physics", "check_engine", "make_physics"]
