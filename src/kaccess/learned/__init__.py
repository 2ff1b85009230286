"""Learned accessibility: predicts moves between any two poses, seen or not."""

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        "Learned accessibility needs torch, which is not installed. Run "
        "`pip install 'kaccess[train]'`."
    ) from error

from kaccess.learned.figures import Figures, measure_figures
from kaccess.learned.fit import fit_model
from kaccess.learned.model import AccessModel, Prediction
from kaccess.learned.moves import Moves, read_moves
from kaccess.learned.predict import (
    learn_access,
    predict_clusters,
    predict_times,
    read_model,
)

__all__ = [
    "AccessModel",
    "Figures",
    "Moves",
    "Prediction",
    "fit_model",
    "learn_access",
    "measure_figures",
    "predict_clusters",
    "predict_times",
    "read_model",
    "read_moves",
]
