"""Settings of learned accessibility."""

from dataclasses import dataclass
from typing import Annotated

from kaccess.config.checks import Count, Positive, Seed, Size, check_fields, whole

__all__ = ["LearnConfig"]


@dataclass(frozen=True, kw_only=True)
class LearnConfig:
    """How accessibility is learned from the known pairs of a study."""

    members: Annotated[int, whole(2, 100)] = 5
    """Number of networks; each holds out another share of the poses for its test."""
    width: Size = 128
    """Units of each hidden layer."""
    layers: Annotated[int, whole(1, 10)] = 3
    """Number of hidden layers."""
    passes: Positive = 8.0
    """Number of times that each network sees each pair, on average."""
    least_steps: Count = 1000
    """Least number of steps of each network, for studies with few pairs."""
    batch: Size = 1024
    """Number of pairs in each step."""
    learning_rate: Positive = 4e-3
    """Largest learning rate; it rises at first, and then falls to 0."""
    most_pairs: Count = 2_000_000
    """Most pairs to learn from; of more, as many are drawn at random."""
    seed: Seed = 0
    """Seed of all draws."""

    def __post_init__(self) -> None:
        check_fields(self)
