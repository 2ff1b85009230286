"""Population SAC: many independent learners as one program, in any vector env."""

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        "Training needs torch, which is not installed. Run "
        "`pip install 'kaccess[train]'`."
    ) from error

from kaccess.policy import Policy
from kaccess.train.checkpoint import Checkpoint, load_checkpoint
from kaccess.train.export import export_onnx
from kaccess.train.loop import Evaluate, Trained, TrainProgress, train
from kaccess.train.policy import Policies, load_policies
from kaccess.train.population import Experience, Population
from kaccess.train.run import WarmUp
from kaccess.train.sac import Shape

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
