"""What a study adds to population SAC: learners, their starts, the guided warm-up."""

from kaccess.training.learners import Learner, make_learners
from kaccess.training.train import train_learners
from kaccess.training.warm_up import GuidedWarmUp

__all__ = [
    "GuidedWarmUp",
    "Learner",
    "make_learners",
    "train_learners",
]
