"""Readings set by hand: robots that stand still, with changes."""

import numpy as np

from kaccess.envs.readings import make_readings

HEIGHT = 0.086
STANDING = np.full(8, 0.5)


def make_standing(n=1, **changes):
    """Return readings of n robots that stand still, with some fields changed."""
    now = make_readings(
        n, 8, 4, standing_height=HEIGHT, standing_joints=STANDING, time_step=0.04
    )
    now.height[:] = HEIGHT
    now.gravity[:] = [0, 0, -1]
    now.joints[:] = now.target[:] = STANDING
    now.foot_touches[:] = True
    for name, value in changes.items():
        getattr(now, name)[:] = value
    return now


def judge(task, now, memory=None):
    """Return the reward terms by name, (n,) each, and the memory."""
    n = len(now.height)
    memory = np.zeros((n, len(task.memory))) if memory is None else memory
    terms = np.full((n, len(task.terms)), np.nan)
    task.judge(now, np.arange(n), memory, terms)
    return dict(zip(task.terms, terms.T, strict=True)), memory


def tilt_gravity(degrees, axis="pitch"):
    """Return gravity in the frame of a body that is tilted by an angle."""
    a = np.radians(degrees)
    if axis == "pitch":
        return [np.sin(a), 0, -np.cos(a)]
    return [0, -np.sin(a), -np.cos(a)]
