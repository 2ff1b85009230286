"""A comparison of engines as text."""

from kaccess.access.agreement import Agreement, EngineComparison, Transfer

__all__ = ["format_engines"]


def format_engines(comparison: EngineComparison) -> str:
    """Return how far engines agree, as tables."""
    n, agreements = len(comparison.poses), _in_one_order(comparison)
    return "\n".join(
        [
            f"All {n * n - n:,} pairs of {n} poses.",
            "",
            f"{'engine':<10}  pairs/s  reached",
            *(
                f"{name:<10}  {n * (n - 1) / seconds:7.0f}  "
                f"{comparison.reached[name]:7.1%}"
                for name, seconds in comparison.seconds.items()
            ),
            "",
            f"{'1st, 2nd':<16}  agree    only 1st  only 2nd  same time  "
            "2nd later by [s] (5, 25, 50, 75, 95 %)",
            *(_agreement_line(names, found) for names, found in agreements.items()),
            "",
            f"Touchy: {comparison.touchy:.2%} of the pairs turn out differently on the "
            "first engine when the poses are nudged by 1e-6 rad.",
            *(_touchy_line(names, found) for names, found in agreements.items()),
            "",
            f"{'1st, 2nd':<16}  k of 1st  its index  on 2nd  its coverage  on 2nd",
            *(
                _transfer_line(names, transfer)
                for names, transfer in comparison.transfers.items()
            ),
        ]
    )


def _in_one_order(comparison: EngineComparison) -> dict[str, Agreement]:
    order = list(comparison.reached)
    return {
        f"{first}, {second}": comparison.agreements[f"{first}, {second}"]
        for place, first in enumerate(order)
        for second in order[place + 1 :]
    }


def _agreement_line(names: str, found: Agreement) -> str:
    later = " ".join(f"{value:+.3f}" for value in found.later)
    return (
        f"{names:<16}  {found.same / found.n_pairs:<7.2%}  {found.only_first:8d}  "
        f"{found.only_second:8d}  {found.same_time / max(found.both, 1):9.1%}  {later}"
    )


def _touchy_line(names: str, found: Agreement) -> str:
    differing = found.n_pairs - found.same
    return f"{names}: of the {differing} pairs that differ, {found.touchy} are touchy."


def _transfer_line(names: str, moved: Transfer) -> str:
    return (
        f"{names:<16}  {moved.k:8d}  {moved.index:9.2f}  {moved.other_index:6.2f}  "
        f"{moved.coverage:12.1%}  {moved.other_coverage:6.1%}"
    )
