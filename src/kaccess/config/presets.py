"""Sizes of a whole run, from seconds to an hour."""

from collections.abc import Mapping
from dataclasses import dataclass

from kaccess.config.algorithms import MANY_ROBOTS, SacConfig
from kaccess.config.checks import Poses, check_fields
from kaccess.config.learning import TrainConfig
from kaccess.config.names import PresetName
from kaccess.config.study import GetUpConfig, GrowConfig

__all__ = ["PRESETS", "Preset"]


@dataclass(frozen=True, kw_only=True)
class Preset:
    """Sizes of a whole run."""

    poses: Poses
    """Number of poses."""
    pairs: str | None = None
    """Share of the pairs that is estimated, such as 20%; None for all of them."""
    search: GetUpConfig | None = None
    """How skills are searched for where moves do not suffice; None for no search."""
    growth: GrowConfig | None = None
    """How the posture graph grows; None for no growth."""
    train: TrainConfig | None = None
    """A short training at the end; None for no training."""
    sac: SacConfig = MANY_ROBOTS
    """Settings of that training."""
    test_poses: Poses = 100
    """Number of poses from which its policies are tested."""

    def __post_init__(self) -> None:
        check_fields(self)


PRESETS: Mapping[PresetName, Preset] = {
    "tiny": Preset(poses=20),
    "fast": Preset(
        poses=200,
        pairs="20%",
        search=GetUpConfig(),
        growth=GrowConfig(),
        train=TrainConfig(algorithm="clone", seeds=1, test_poses=20),
    ),
    "quick": Preset(
        poses=200,
        search=GetUpConfig(),
        growth=GrowConfig(),
        train=TrainConfig(
            starts=("guided-rnd", "rnd"),
            seeds=1,
            episodes=300,
            test_every=50,
            test_poses=20,
        ),
    ),
    "paper": Preset(poses=1000, search=GetUpConfig(), growth=GrowConfig(most=1500)),
}
"""Sizes of a whole run, by name."""
