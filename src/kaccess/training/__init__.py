"""Training on a study: its learners, their starts, and the guided warm-up."""

from kaccess.training.clone import train_clones
from kaccess.training.learners import Learner, make_learners
from kaccess.training.ppo import train_by_ppo
from kaccess.training.train import train_learners
from kaccess.training.warm_up import GuidedWarmUp

__all__ = [
    "GuidedWarmUp",
    "Learner",
    "make_learners",
    "train_by_ppo",
    "train_clones",
    "train_learners",
]
