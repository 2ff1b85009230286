"""What came of policies, as text."""

from collections.abc import Iterable, Sequence

import numpy as np

from kaccess.learning import ROUTES, Evaluation
from kaccess.stats import wilson

__all__ = ["format_evaluations"]

_FEWEST = 5  # poses in a group that is called the worst


def format_evaluations(found: Sequence[Evaluation], *, under: str = "") -> str:
    """Return one line for each kind of starts, over its seeds, and the best seeds.

    Args:
        found: What came of each policy.
        under: The conditions of the test.
    """
    width = max(len("starts"), *(len(each.kind) for each in found))
    kinds = dict.fromkeys(each.kind for each in found)
    head = (
        f"{'starts':<{width}}  seeds  reward (SD)    success in 3 s (95 %)    loose    "
        "best seed  time [s]  work [J]  worst cluster"
    )
    lines = [
        _line(kind, [each for each in found if each.kind == kind], width)
        for kind in kinds
    ]
    n = found[0].summary.n
    note = f"From {n} poses that no policy has learned from, 3 s each"
    note += f", under {under}." if under else "."
    if ROUTES in kinds:
        note += f" {ROUTES}: the moves of the study's graph, nothing learned."
    return "\n".join([head, *lines, "", note])


def _line(kind: str, runs: Sequence[Evaluation], width: int) -> str:
    sums = [run.summary for run in runs]
    hits = sum(round(each.success.value * each.n) for each in sums)
    success = wilson(hits, sum(each.n for each in sums))
    loose = np.mean([each.success_loose.value for each in sums])
    best = max(each.success.value for each in sums)
    interval = f"{success.value:.1%} ({success.low:.1%} to {success.high:.1%})"
    reward = (
        f"{_mean(s.reward for s in sums):.1f} ({_mean(s.reward_sd for s in sums):.1f})"
    )
    return (
        f"{kind:<{width}}  {len(runs):5d}  {reward:<13}  {interval:<23}  {loose:6.1%}  "
        f"{best:9.1%}  {_mean(s.time for s in sums):8.2f}  "
        f"{_mean(s.energy for s in sums):8.2f}  {_worst(runs)}"
    )


def _mean(values: Iterable[float]) -> float:
    """Return the mean of what is known; NaN if nothing is."""
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else np.nan


def _worst(runs: Sequence[Evaluation]) -> str:
    """Return the cluster from which the fewest poses succeed, over all seeds."""
    hits: dict[str, list[int]] = {}
    for run in runs:
        for group in run.groups.get("cluster", ()):
            counts = hits.setdefault(group.name, [0, 0])
            counts[0] += round(group.success.value * group.n)
            counts[1] += group.n
    large = {k: (a / n, n) for k, (a, n) in hits.items() if n >= _FEWEST * len(runs)}
    if not large:
        return "-"
    name = min(large, key=lambda k: large[k][0])
    return f"{name}: {large[name][0]:.1%} of {large[name][1] // len(runs)}"
