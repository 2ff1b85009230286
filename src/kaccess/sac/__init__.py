"""Population SAC: many independent learners as one program, in any vector env."""

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        "Training needs torch, which is not installed. Run "
        "`pip install 'kaccess[train]'`."
    ) from error

from kaccess.sac.checkpoint import Checkpoint, find_owners, load_checkpoint
from kaccess.sac.learners import Shape
from kaccess.sac.loop import Trained, train
from kaccess.sac.plan import CurveTests, Evaluate, Plan, RunFolder, WarmUp
from kaccess.sac.policies import Policies, load_policies
from kaccess.sac.population import Experience, Population
from kaccess.sac.trainable import PolicySet

__all__ = [
    "Checkpoint",
    "CurveTests",
    "Evaluate",
    "Experience",
    "Plan",
    "Policies",
    "PolicySet",
    "Population",
    "RunFolder",
    "Shape",
    "Trained",
    "WarmUp",
    "find_owners",
    "load_checkpoint",
    "load_policies",
    "train",
]
