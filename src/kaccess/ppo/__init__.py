"""Proximal Policy Optimization by rsl_rl: one learner with many robots.

Curves, tests, checkpoints and policies are in the same files as those of `sac`.
"""

import os

# rsl_rl imports GitPython, which must not insist on git being installed.
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")

try:
    import rsl_rl  # noqa: F401
except ImportError as error:
    raise ImportError(
        "Training by PPO needs rsl_rl, which is not installed. Run "
        "`pip install 'kaccess[ppo]'`."
    ) from error

from kaccess.ppo.policies import PpoPolicies
from kaccess.ppo.run import Cloned, PpoPlan, PpoRun
from kaccess.ppo.train import train
from kaccess.ppo.vector import HostEnv, RobotsEnv

__all__ = [
    "Cloned",
    "HostEnv",
    "PpoPlan",
    "PpoPolicies",
    "PpoRun",
    "RobotsEnv",
    "train",
]
