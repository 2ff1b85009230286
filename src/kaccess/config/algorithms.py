"""Settings of the algorithms that learn: SAC, cloning, PPO."""

from dataclasses import dataclass, replace
from typing import Annotated

from kaccess.base.errors import InputError
from kaccess.config.by_engine import ByEngine, fit_to_engine
from kaccess.config.checks import (
    Count,
    Kind,
    NotNegative,
    Poses,
    Positive,
    Share,
    Size,
    check_fields,
    check_left_out,
    whole,
)
from kaccess.config.names import EngineName

__all__ = ["MANY_ROBOTS", "CloneConfig", "PpoConfig", "SacConfig"]


@dataclass(frozen=True, kw_only=True)
class SacConfig:
    """Settings of Soft Actor-Critic, the same for every learner."""

    gamma: Annotated[float, Kind(0, 1, below=True)] = 0.987
    """Discount factor per step [-]."""
    return_steps: Size | None = None
    """Number of steps of an n-step return. By default the task decides: 4, or 8 for
    backflips; 1 in environments of other packages."""
    hidden: tuple[Size, ...] = (256, 256)
    """Units of each hidden layer of actor and critics."""
    batch_size: Poses = 256
    """Transitions per update."""
    learning_rate: Positive = 3e-4
    """Learning rate of Adam for actor, critics and entropy coefficient [-]."""
    tau: Annotated[float, Kind(0, 1, above=True)] = 0.005
    """Polyak factor: share of the critics blended into their targets per update [-]."""
    policy_tau: Annotated[float, Kind(0, 1, above=True)] = 1.0
    """Share of the actor blended into the policy per update [-]. With 0.005, the policy
    that is tested and stored is a running mean of the actor, which wavers less; with 1
    it is the actor itself."""
    target_entropy: float | None = None
    """Target entropy of the policy [nat]; by default minus the number of actions."""
    initial_alpha: Positive = 0.02
    """Initial entropy coefficient; if small, reward has more weight at first [-]."""
    warmup_steps: Count | None = 5000
    """Steps of each learner before its first update: the warm-up. Its actions are
    random, or the guide's. None: one episode of each environment."""
    envs_per_learner: Size = 1
    """Number of environments of each learner; on a GPU, 8 train twice as fast as 1."""
    updates_per_step: Size = 1
    """Number of updates of each learner per step of each of its environments."""
    updates: Size | None = None
    """Number of updates of each learner per step of all its environments together, in
    place of `updates_per_step`: few updates on large batches, for many
    environments."""
    capacity: Count = 500_000
    """Number of transitions in each replay buffer; the oldest are overwritten."""
    compiled: bool = False
    """Compile the update on a GPU: takes 20 s, then updates run 1.5 times as fast."""

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.hidden:
            raise InputError("`hidden` must name the units of at least one layer.")
        n_before_updates = -(-self.n_warmup_steps // self.envs_per_learner)
        if self.n_return_steps > n_before_updates:
            raise InputError(
                "`return_steps` must not exceed the warm-up steps of each environment "
                f"({n_before_updates}), got {self.n_return_steps}."
            )
        if self.updates:
            given = ("updates_per_step",)
            check_left_out(self, given, "with `updates`: give one of them")
        if self.capacity < self.envs_per_learner:
            raise InputError(
                f"`capacity` must be at least `envs_per_learner` "
                f"({self.envs_per_learner}), got {self.capacity}."
            )

    @property
    def n_updates(self) -> int:
        """Number of updates of each learner per step of all its environments."""
        return self.updates or self.envs_per_learner * self.updates_per_step

    @property
    def n_return_steps(self) -> int:
        """Number of steps of an n-step return; 1 if left open."""
        return 1 if self.return_steps is None else self.return_steps

    @property
    def n_warmup_steps(self) -> int:
        """Number of steps of the warm-up; if left open, as with one environment."""
        return 5000 if self.warmup_steps is None else self.warmup_steps

    def fill_in(self, *, return_steps: int, episode_steps: int) -> "SacConfig":
        """Return these settings with all that was None filled in, for a task."""
        each_once = self.envs_per_learner * episode_steps
        return replace(
            self,
            return_steps=self.return_steps or return_steps,
            warmup_steps=self.warmup_steps or each_once,
        )


MANY_ROBOTS = SacConfig(
    envs_per_learner=64,
    updates=8,
    batch_size=1024,  # with 256, policies waver between two tests
    hidden=(128, 128),
    learning_rate=1e-3,  # with 3e-4, learning takes longer
    policy_tau=0.005,
    warmup_steps=None,  # one episode of each robot: the guide shows whole get-ups
)
"""Settings of `kaccess train`: many robots and few updates, in the manner of FastSAC
(Seo and others, 2025). Docs and results: docs/train.md."""


@dataclass(frozen=True, kw_only=True)
class CloneConfig:
    """How clones imitate the guide, without any reward."""

    rounds: Size = 1
    """Number of rounds. In the first one the guide acts alone; in the others the clone
    acts first, for a random time, and the guide takes over."""
    episodes: Poses = 512
    """Episodes of a round; in each the guide acts for the time of a test."""
    noise: Share = 0.05
    """Largest amplitude of the noise added to what the guide does; 1 is half of a
    joint's range [-]. The clone imitates what the guide would have done without it."""
    updates: Count = 4000
    """Updates of the network after each round."""
    batch_size: Poses = 512
    """Steps of the guide per update."""
    hidden: tuple[Size, ...] = (256, 128)
    """Units of each hidden layer, with ELU."""
    learning_rate: Positive = 3e-3
    """Largest learning rate of Adam; in each round it rises, then falls to 0 [-]."""
    blur: NotNegative = 0.1
    """Noise added to the observations, in their standard deviations [-]."""

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.hidden:
            raise InputError("`hidden` must name the units of at least one layer.")


@dataclass(frozen=True, kw_only=True)
class PpoConfig:
    """Settings of Proximal Policy Optimization, the same for every learner."""

    steps: Count = 3_000_000
    """Environment steps of each learner, over all its robots."""
    test_every: Count = ByEngine(100_000, warp=250_000)
    """Environment steps between two tests of the learning curve; 250,000 in warp."""
    robots: Annotated[int, whole(1, 10**6)] = ByEngine(128, warp=2048)
    """Number of robots of each learner; 2048 in warp."""
    rollout_steps: Size = ByEngine(32, warp=16)
    """Steps of each robot between two updates; 16 in warp."""
    episode_steps: Size = 100
    """Steps in an episode. Once a robot stands there is little to learn, so that
    episodes are shorter than SAC's."""
    epochs: Size = 8
    """Passes through the data of an update."""
    minibatches: Size = ByEngine(16, warp=4)
    """Parts into which the data of a pass is divided; 4 in warp."""
    gamma: Annotated[float, Kind(0, 1, below=True)] = 0.987
    """Discount factor per step [-]."""
    lam: Share = 0.95
    """Lambda of the generalized advantage estimate [-]."""
    clip: Positive = 0.2
    """Largest change of an action's probability that pays, as a share of it [-]."""
    entropy: NotNegative = 0.0
    """Weight of the entropy in the loss [-]."""
    initial_std: Positive = 0.5
    """Standard deviation of the actions at first; 1 is half of a joint's range [-].
    With 0.2, Bittle hardly learns to turn over."""
    hidden: tuple[Size, ...] = (256, 128)
    """Units of each hidden layer of actor and critic, with ELU."""
    learning_rate: Positive = 3e-4
    """Learning rate of Adam; the first one, if `desired_kl` is set [-]."""
    desired_kl: NotNegative | None = None
    """Divergence between two policies in a row that the learning rate is adapted to
    [nat]; with 0 the rate stays as it is. By default 0.01 for guided learners, which
    have something to lose, and in warp; 0 for others."""
    normalize: bool = True
    """Normalize observations by their mean and standard deviation so far."""
    clone_std: Positive = 0.1
    """Standard deviation of the actions of a guided learner when PPO begins [-]."""

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.hidden:
            raise InputError("`hidden` must name the units of at least one layer.")
        if self.minibatches > self.robots * self.rollout_steps:
            raise InputError(
                "`minibatches` must not exceed the steps of an update, `robots` times "
                f"`rollout_steps` ({self.robots * self.rollout_steps}), got "
                f"{self.minibatches}."
            )

    def fit_to(self, engine: EngineName) -> "PpoConfig":
        """Return these settings with the defaults for a simulator."""
        fitted = fit_to_engine(self, engine)
        return fitted.fill_in(adapt=engine == "warp")

    def fill_in(self, *, adapt: bool) -> "PpoConfig":
        """Return these settings with `desired_kl` filled in, if it is to adapt."""
        if not adapt or self.desired_kl is not None:
            return self
        return replace(self, desired_kl=0.01)
