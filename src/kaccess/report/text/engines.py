"""A comparison of engines as text."""

from collections.abc import Mapping

from kaccess.access.agreement import Agreement, EngineComparison, Transfer
from kaccess.base.tables import format_table
from kaccess.report.text.numbers import format_share

__all__ = ["format_engines"]


def format_engines(comparison: EngineComparison) -> str:
    """Return tables that show how well engines agree."""
    n, agreements = len(comparison.poses), _keep_one_order(comparison)
    sensitive = (
        f"Sensitive: {comparison.touchy:.2%} of the pairs end differently on the first "
        "engine if the poses are nudged by 1e-6 rad."
    )
    return "\n\n".join(
        [
            f"All {n * n - n:,} pairs of {n} poses.",
            _format_speed(comparison),
            _format_agreements(agreements),
            "\n".join([sensitive, *_describe_sensitive(agreements)]),
            _format_transfers(comparison.transfers),
        ]
    )


def _keep_one_order(comparison: EngineComparison) -> dict[str, Agreement]:
    """Return the agreements of each two engines in one order, not in both."""
    order = list(comparison.reached)
    return {
        f"{first}, {second}": comparison.agreements[f"{first}, {second}"]
        for place, first in enumerate(order)
        for second in order[place + 1 :]
    }


def _format_speed(comparison: EngineComparison) -> str:
    n = len(comparison.poses)
    rows = [
        [name, f"{n * (n - 1) / seconds:.0f}", f"{comparison.reached[name]:.1%}"]
        for name, seconds in comparison.seconds.items()
    ]
    return format_table(("engine", "pairs/s", "reached"), rows)


def _format_agreements(agreements: Mapping[str, Agreement]) -> str:
    head = (
        *("1st, 2nd", "agree", "only 1st", "only 2nd", "same time"),
        "2nd later by [s] (5, 25, 50, 75, 95 %)",
    )
    rows = [
        [
            names,
            f"{found.same / found.n_pairs:.2%}",
            f"{found.only_first}",
            f"{found.only_second}",
            format_share(found.same_time, found.both),
            " ".join(f"{value:+.3f}" for value in found.later),
        ]
        for names, found in agreements.items()
    ]
    return format_table(head, rows)


def _describe_sensitive(agreements: Mapping[str, Agreement]) -> list[str]:
    return [
        f"{names}: of the {found.n_pairs - found.same} pairs that differ, "
        f"{found.touchy} are sensitive."
        for names, found in agreements.items()
    ]


def _format_transfers(transfers: Mapping[str, Transfer]) -> str:
    """Return how good the clusters of the first engine are on the second."""
    head = (
        *("1st, 2nd", "k of 1st", "index on 1st", "on 2nd"),
        *("coverage on 1st", "on 2nd"),
    )
    rows = [
        [
            names,
            f"{moved.k}",
            f"{moved.index:.2f}",
            f"{moved.other_index:.2f}",
            f"{moved.coverage:.1%}",
            f"{moved.other_coverage:.1%}",
        ]
        for names, moved in transfers.items()
    ]
    return format_table(head, rows)
