"""Learned accessibility in words."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kaccess.learned.predict import LearnedAccess

__all__ = ["format_learned"]


def format_learned(learned: "LearnedAccess") -> str:
    """Return how well a model predicts moves between poses that it has not seen."""
    figures = learned.figures
    rows = {
        "learned from": f"{learned.n_pairs:,} pairs",
        "tested on": f"{figures.n_pairs:,} pairs of unseen poses, "
        f"{figures.reached:.1%} reached",
        "AUC of arrival": f"{figures.auc:.3f}",
        "calibration error": f"{figures.calibration_error:.3f}",
        "error of times": f"{figures.time_error:.1%} (median)",
        "error of landings": f"{figures.landing_error:.1f} tolerances (median)",
        "model": str(learned.path),
    }
    if figures.landing_error != figures.landing_error:  # NaN: no landings are known
        del rows["error of landings"]
    return "\n".join(f"{name:<19}{text}" for name, text in rows.items())
