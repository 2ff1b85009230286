"""The simulations behind environments: n worlds with one robot each."""

from kaccess.envs.physics.physics import Physics, make_physics

__all__ = ["Physics", "make_physics"]
