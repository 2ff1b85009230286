"""Population SAC: many independent learners as one program, in any vector env."""

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        "Training needs torch, which is not installed. Run "
        "`pip install 'kaccess[train]'`."
    ) from error

from kaccess.policies import export_onnx
from kaccess.policies.policy import Policy
from kaccess.sac.checkpoint import Checkpoint, load_checkpoint
from kaccess.sac.loop import Evaluate, Trained, TrainProgress, train
from kaccess.sac.policies import Policies, load_policies
from kaccess.sac.population import Experience, Population
from kaccess.sac.run import WarmUp
from kaccess.sac.sac import Shape

__all__ = [
    "Checkpoint",
    "Evaluate",
    "Experience",
    "Policies",
    "Policy",
    "Population",
    "Shape",
    "TrainProgress",
    "Trained",
    "WarmUp",
    "export_onnx",
    "load_checkpoint",
    "load_policies",
    "train",
]
