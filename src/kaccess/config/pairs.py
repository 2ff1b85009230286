"""Settings of a study in which only some pairs are estimated."""

import re
from dataclasses import dataclass
from math import ceil
from typing import Annotated, Literal

from kaccess.base.errors import InputError
from kaccess.config.checks import Kind, Seed, check_fields, check_left_out

__all__ = ["PairGoal", "PairsConfig"]

PairGoal = Literal["all", "clusters", "routes", "coverage"]
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)(%?)")


@dataclass(frozen=True, kw_only=True)
class PairsConfig:
    """Which pairs are estimated: all, or those that matter for a goal."""

    pairs: str | None = None
    """Estimate at most this share of the pairs, such as 5%, or this number, such as
    20000: only those that matter. By default all pairs are estimated."""
    goal: PairGoal = "all"
    """What the pairs must serve: `clusters`, `routes` to standing, `all` for both, or
    `coverage` of starts."""
    starts: str = "kaccess"
    """Clustering whose centroids are the starts, for the goal `coverage`."""
    confidence: Annotated[float, Kind(0, 1, above=True, below=True)] | None = None
    """Stop early, at this confidence that other pairs would change little: no further
    command raises the mean value by 0.002, each centroid rests on measured pairs, or
    the interval of the coverage is 2 points wide."""
    seed: Seed = 0
    """Seed of the poses that are tried."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.pairs is None:
            unused = ("goal", "starts", "confidence", "seed")
            check_left_out(self, unused, "without `pairs`")
            return
        if not self.starts_matter:
            check_left_out(self, ("starts",), f"with goal {self.goal}")
        self.count(2)

    @property
    def starts_matter(self) -> bool:
        """Whether the pairs depend on `starts`."""
        return self.goal == "coverage"

    @property
    def is_all(self) -> bool:
        """Whether all pairs are estimated."""
        return self.pairs in (None, "100%")

    def count(self, n: int) -> int:
        """Return how many pairs of n poses are estimated at most."""
        found, n_pairs = _NUMBER.fullmatch(self.pairs or ""), n * (n - 1)
        value = float(found[1]) if found else 0.0
        if found is None or value <= 0 or (found[2] and value > 100):
            raise InputError(
                "`pairs` must be a share up to 100%, such as 5%, or a number of pairs, "
                f"such as 20000, got {self.pairs!r}."
            )
        wanted = ceil(value / 100 * n_pairs) if found[2] else int(value)
        return min(max(wanted, 1), n_pairs)
