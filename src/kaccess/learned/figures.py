"""How well a model predicts moves that it has not learned from."""

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import roc_auc_score

from kaccess.base.types import Array, BoolArray

__all__ = ["Figures", "bin_chances", "measure_figures"]

_N_BINS = 15


@dataclass(frozen=True)
class Figures:
    """How well moves are predicted.

    Args:
        n_pairs: Number of moves.
        reached: Share of them that reached their goals.
        auc: Chance that a move that reached its goal was given a larger chance than
            one that did not.
        calibration_error: Mean distance of the chance given from the share that
            reached, over bins of equal numbers of moves.
        brier: Mean square of the error of the chance.
        time_error: Median relative error of the times of moves that reached.
        landing_error: Median distance of landings, in tolerances of a reached pose;
            NaN if not known.
    """

    n_pairs: int
    reached: float
    auc: float
    calibration_error: float
    brier: float
    time_error: float
    landing_error: float


def measure_figures(
    times: Array, chance: Array, predicted: Array, misses: Array | None = None
) -> Figures:
    """Compare predictions with what happened, (b,) each.

    Args:
        times: Measured times [s]; inf if not reached.
        chance: Chances given.
        predicted: Times predicted [s].
        misses: Distances of predicted landings from true ones, in tolerances.
    """
    reached = np.isfinite(times)
    error = np.abs(predicted[reached] / times[reached] - 1)
    mean, share, weight = bin_chances(reached, chance)
    return Figures(
        n_pairs=len(times),
        reached=float(reached.mean()),
        auc=float(roc_auc_score(reached, chance)),
        calibration_error=float((np.abs(mean - share) * weight).sum()),
        brier=float(np.mean((chance - reached) ** 2)),
        time_error=float(np.nanmedian(error)),
        landing_error=float("nan") if misses is None else float(np.nanmedian(misses)),
    )


def bin_chances(reached: BoolArray, chance: Array) -> tuple[Array, Array, Array]:
    """Return mean chance, share reached and weight of bins of equal numbers."""
    parts = np.array_split(np.argsort(chance, kind="stable"), _N_BINS)
    parts = [part for part in parts if len(part)]
    mean = np.array([chance[part].mean() for part in parts])
    share = np.array([reached[part].mean() for part in parts])
    weight = np.array([len(part) for part in parts]) / len(chance)
    return mean, share, weight
