"""Imitation: a network learns by regression what a guide does (behaviour cloning).

In later rounds the clone itself acts first and the guide takes over, so that the guide
shows what to do where the clone goes. Files are those of `sac`.
"""

from kaccess.clone.clone import Clone, Demonstrations, Network
from kaccess.clone.policies import NetworkPolicies
from kaccess.clone.run import ClonePlan, CloneRun, Show
from kaccess.clone.train import load_clone, train

__all__ = [
    "Clone",
    "ClonePlan",
    "CloneRun",
    "Demonstrations",
    "Network",
    "NetworkPolicies",
    "Show",
    "load_clone",
    "train",
]
