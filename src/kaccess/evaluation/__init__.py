"""How well policies do: test poses, scores, learning curves and their comparison."""

from kaccess.evaluation.curves import Curves, load_curves
from kaccess.evaluation.evaluate import Evaluation
from kaccess.evaluation.pose_test import PoseTest, Scores, Summary, summarize

__all__ = [
    "Curves",
    "Evaluation",
    "PoseTest",
    "Scores",
    "Summary",
    "load_curves",
    "summarize",
]
