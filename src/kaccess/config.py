"""Every setting of every stage. Standard library only: `kaccess --help` stays fast."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeVar

from kaccess.errors import InputError

__all__ = [
    "FLOOR",
    "AccessConfig",
    "ClusterConfig",
    "Draw",
    "EngineName",
    "Method",
    "SacConfig",
    "SampleConfig",
    "SkillConfig",
    "StillConfig",
    "TaskName",
    "TrainConfig",
    "from_settings",
]

FLOOR = 1e-8  # accessibility of what was not reached: the paper, section III-B
_LARGEST = 1e6  # seconds, metres, radians: beyond this something is mistyped

Draw = Literal["move", "teleport"]
EngineName = Literal["mujoco", "warp", "bullet"]
TaskName = Literal["fall-recovery", "backflip", "stand"]
Method = Literal[
    "kaccess",
    "kmeans",
    "weighted-kmeans",
    "kmedoids",
    "louvain",
    "infomap",
    "spectral",
]


@dataclass(frozen=True, kw_only=True)
class StillConfig:
    """When a robot counts as static: slow in every respect, for a while."""

    linear_velocity: float = 0.01
    """Speed of the base below which it is at rest [m/s]."""
    angular_velocity: float = 0.1
    """Angular speed of the base below which it is at rest [rad/s]."""
    joint_velocity: float = 0.1
    """Speed below which each joint is at rest [rad/s]."""
    window: float = 0.1
    """Time for which all of them must stay at rest [s]."""

    def __post_init__(self) -> None:
        _check_positive(
            linear_velocity=self.linear_velocity,
            angular_velocity=self.angular_velocity,
            joint_velocity=self.joint_velocity,
            window=self.window,
        )


@dataclass(frozen=True, kw_only=True)
class SampleConfig:
    """How static poses are drawn: the robot is dropped and comes to rest."""

    n: int = 1000
    """Number of poses."""
    seed: int = 0
    """Seed of the draws; a larger `n` adds poses and keeps the earlier ones."""
    draw: Draw = "move"
    """`move`: drop with the standing joints and command the random ones, so that every
    pose is one the robot can get into. `teleport`: drop with the random joints, as the
    paper does; it puts legs where no motion could take them."""
    mirror: bool = False
    """Draw half of the poses and add their mirror images (2i + 1 mirrors 2i), so that
    half of the transition times follow from the other half."""
    drop_height: float | None = None
    """Height of the base at the start of the drop [m]; by default the robot's own."""
    time_limit: float = 2.0
    """A drop that is not static within this time is dropped [s]."""

    def __post_init__(self) -> None:
        if self.n < 2:
            raise InputError(f"`n` must be at least 2 poses, got {self.n}.")
        _check_seed(seed=self.seed)
        if self.mirror and self.n % 2:
            raise InputError(
                f"`n` must be even with `mirror`, which draws pairs, got {self.n}."
            )
        _check_positive(time_limit=self.time_limit)
        if self.drop_height is not None:
            _check_positive(drop_height=self.drop_height)


@dataclass(frozen=True, kw_only=True)
class AccessConfig:
    """How the time from pose i to pose j is measured, and when j counts as reached."""

    time_limit: float = 3.0
    """A robot that is not static within this time has not reached pose j [s]."""
    joint_tol: float = 0.5
    """Largest distance of the joint positions to those of pose j, L2 norm [rad]."""
    height_tol: float = 0.01
    """Largest difference of base height to that of pose j [m]."""
    gravity_tol: float = 0.1
    """Largest distance of the unit gravity vectors in the body frame, L2 norm [-]."""

    def __post_init__(self) -> None:
        _check_positive(
            time_limit=self.time_limit,
            joint_tol=self.joint_tol,
            height_tol=self.height_tol,
            gravity_tol=self.gravity_tol,
        )


@dataclass(frozen=True, kw_only=True)
class ClusterConfig:
    """How poses are clustered, and by what the number of clusters is chosen."""

    method: Method = "kaccess"
    """K-Access, or a rival: K-Means on gravity and joints, the same with gravity
    weighted by 2, directed k-medoids (mean access from the best centroid), directed
    Louvain, Infomap, directed spectral clustering."""
    k: int | None = None
    """Number of clusters; by default the one with the best index of the method."""
    k_max: int = 120
    """Largest number of clusters to choose from."""
    solver: Literal["swap", "alternate"] = "swap"
    """Of K-Access: `alternate` is the paper's Algorithm 1; `swap` goes on from it."""
    alpha: float = 1.0
    """Penalty of the index for each cluster of one pose [-]."""
    n_init: int = 30
    """Starts of Algorithm 1 for each k."""
    n_bootstrap: int = 0
    """Resamples of the poses on which the choice of k is repeated, to see how sure it
    is; each costs as much as the choice itself."""
    seed: int = 0
    """Seed of the starts."""

    def __post_init__(self) -> None:
        if self.k is not None and self.k < 1:
            raise InputError(f"`k` must be at least 1, got {self.k}.")
        if self.k_max < 2:
            raise InputError(f"`k_max` must be at least 2, got {self.k_max}.")
        if self.n_init < 1:
            raise InputError(f"`n_init` must be at least 1, got {self.n_init}.")
        _check_seed(seed=self.seed)
        if self.n_bootstrap < 0 or (self.n_bootstrap and self.k is not None):
            raise InputError(
                "`n_bootstrap` must not be negative, and goes with the choice of k, "
                f"not with a given `k`, got {self.n_bootstrap}."
            )


@dataclass(frozen=True, kw_only=True)
class SkillConfig:
    """How a skill is searched for, by the cross-entropy method."""

    task: TaskName = "backflip"
    """What it is to do, from standing."""
    postures: int = 3
    """Postures, each held for a while; standing comes after them."""
    seconds: float = 1.8
    """How long it takes, the rest after it included [s]."""
    candidates: int = 256
    """Trials in each round."""
    rounds: int = 50
    """Rounds, each around the best of the one before."""
    noise: float = 0.1
    """Noise on all actions in the second half of the rounds, in halves of a joint's
    range, so that what is found can bear some [-]."""
    seed: int = 0
    """Of the draws."""

    def __post_init__(self) -> None:
        _check_counts(postures=self.postures, rounds=self.rounds)
        _check_positive(seconds=self.seconds)
        if self.candidates < 2:
            raise InputError(f"`candidates` must be at least 2, got {self.candidates}.")
        if not 0 <= self.noise <= 1:
            raise InputError(f"`noise` must lie in [0, 1], got {self.noise}.")
        _check_seed(seed=self.seed)


# What reached 95 % success in the fewest episodes: docs/results.md.
_BEST_STARTS = "guided-rnd"


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """What is learned, from which starts, and for how long."""

    task: TaskName = "fall-recovery"
    """What to learn."""
    starts: tuple[str, ...] = ()
    """Where episodes start, one or more: ka, km, wkm, 9-pose, 1-pose, rnd, or mixtures
    such as ka+rnd:0.2. Learners from guided-rnd and the like first follow routes of the
    accessibility graph to standing (for backflips, and from there what search found).
    By default what learns fastest: guided-rnd."""
    seeds: int = 3
    """Learners for each kind of starts."""
    first_seed: int = 0
    """Seed of the first of them: to add learners later, or on another machine."""
    episodes: int = 1600
    """Episodes of each learner; the paper's."""
    test_every: int = 50
    """Episodes between two tests for the learning curve."""
    test_poses: int = 100
    """Poses to test on, none of which is learned from."""
    test_engine: Literal["mujoco", "warp"] = "mujoco"
    """Simulator of these tests: mujoco (CPU) or, for many learners, warp (GPU)."""
    conditions: str = ""
    """What differs from the study, in learning and in its tests, such as
    torque=0.6,delay=0.04: of torque, friction, mass, slope, delay."""

    def __post_init__(self) -> None:
        _check_counts(
            seeds=self.seeds,
            episodes=self.episodes,
            test_every=self.test_every,
            test_poses=self.test_poses,
        )
        _check_seed(first_seed=self.first_seed)
        if not self.starts:
            object.__setattr__(self, "starts", (_BEST_STARTS,))
        if len(set(self.starts)) < len(self.starts):
            raise InputError(
                f"`starts` must name each kind once, got {' '.join(self.starts)}."
            )


@dataclass(frozen=True, kw_only=True)
class SacConfig:
    """How policies are learned: Soft Actor-Critic, the same for every learner."""

    gamma: float = 0.987
    """Discount of what comes a step later [-]."""
    return_steps: int | None = None
    """Steps whose rewards are added up before the critics say what comes after: n-step
    returns; by default what suits the task, 4 or for backflips 8, and 1 elsewhere."""
    hidden: tuple[int, ...] = (256, 256)
    """Units of each hidden layer, of actor and critics."""
    batch_size: int = 256
    """Transitions in each update."""
    learning_rate: float = 3e-4
    """Step size of Adam: actor, critics and entropy coefficient [-]."""
    tau: float = 0.005
    """Share of the critics that their targets take over in each update [-]."""
    target_entropy: float | None = None
    """Entropy that the entropy coefficient steers to [nat]; by default minus the
    number of actions."""
    initial_alpha: float = 0.02
    """Entropy coefficient to begin with: the less, the sooner reward counts [-]."""
    warmup_steps: int = 5000
    """Steps of each learner with random actions, before its first update."""
    envs_per_learner: int = 1
    """Environments in which each learner acts at once: 8 are twice as fast as 1 on a
    GPU."""
    updates_per_step: int = 1
    """Updates of each learner for each step of each of its environments."""
    capacity: int = 500_000
    """Transitions that each learner remembers; the oldest are forgotten."""
    compiled: bool = False
    """Whether to compile the update, on a GPU: takes 20 s, then it is 1.5 times as
    fast."""

    def __post_init__(self) -> None:
        if not 0 <= self.gamma < 1:
            raise InputError(f"`gamma` must lie in [0, 1), got {self.gamma}.")
        if not 0 < self.tau <= 1:
            raise InputError(f"`tau` must lie in (0, 1], got {self.tau}.")
        if not self.hidden or min(self.hidden) < 1:
            raise InputError(
                "`hidden` must name the units of at least one layer, "
                f"got {self.hidden}."
            )
        _check_positive(
            learning_rate=self.learning_rate, initial_alpha=self.initial_alpha
        )
        _check_counts(
            return_steps=self.n_return_steps,
            batch_size=self.batch_size,
            warmup_steps=self.warmup_steps,
            envs_per_learner=self.envs_per_learner,
            updates_per_step=self.updates_per_step,
            capacity=self.capacity,
        )
        n_before_updates = -(-self.warmup_steps // self.envs_per_learner)
        if self.n_return_steps > n_before_updates:
            raise InputError(
                "`return_steps` must be at most the steps of a robot in the warm-up "
                f"({n_before_updates}), got {self.n_return_steps}."
            )
        if self.capacity < self.envs_per_learner:
            raise InputError(
                f"`capacity` must be at least `envs_per_learner` "
                f"({self.envs_per_learner}), got {self.capacity}."
            )

    @property
    def n_return_steps(self) -> int:
        """Steps of a return."""
        return 1 if self.return_steps is None else self.return_steps

    def suited(self, *, return_steps: int) -> "SacConfig":
        """Return these settings, those that were left open as they suit a task."""
        if self.return_steps is not None:
            return self
        return replace(self, return_steps=return_steps)


Config = TypeVar("Config", StillConfig, SampleConfig, AccessConfig)


def from_settings(kind: type[Config], settings: Mapping[str, Any]) -> Config:
    """Return settings as a study holds them, which may have others beside them."""
    names = {field.name for field in fields(kind)}
    return kind(**{name: settings[name] for name in names & settings.keys()})


def _check_positive(**settings: float) -> None:
    for name, value in settings.items():
        if not 0 < value < _LARGEST:
            raise InputError(
                f"`{name}` must be positive and below {_LARGEST:g}, got {value}."
            )


def _check_seed(**settings: int) -> None:
    for name, value in settings.items():
        if value < 0:
            raise InputError(f"`{name}` must not be negative, got {value}.")


def _check_counts(**settings: int) -> None:
    for name, value in settings.items():
        if value < 1:
            raise InputError(f"`{name}` must be at least 1, got {value}.")
