"""Settings of the stages that learn: search, train, evaluate, play."""

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from kaccess.base.errors import InputError
from kaccess.config.by_engine import ByEngine, fit_to_engine
from kaccess.config.checks import (
    Count,
    Index,
    Kind,
    NotNegative,
    Poses,
    Positive,
    Seed,
    Share,
    Size,
    check_fields,
    check_left_out,
    whole,
)
from kaccess.config.names import (
    DEFAULT_TASK,
    ROUTES,
    Draw,
    EngineName,
    ObserveName,
    TaskName,
)
from kaccess.config.scale import ForBittle

__all__ = [
    "MANY_ROBOTS",
    "CloneConfig",
    "EvaluateConfig",
    "PlayConfig",
    "PpoConfig",
    "SacConfig",
    "SkillConfig",
    "TrainConfig",
]


@dataclass(frozen=True, kw_only=True)
class SkillConfig:
    """How a skill is searched for, by the cross-entropy method."""

    task: TaskName = "backflip"
    """Task that the skill must do, starting from standing."""
    postures: Size = 3
    """Number of postures, each held for a while; then the robot stands."""
    seconds: Positive = ForBittle(1.8, "s")
    """Duration of the skill, including standing at its end [s]."""
    candidates: Annotated[int, whole(2, 10**5)] = 256
    """Number of candidates in each round."""
    rounds: Count = 50
    """Number of rounds; each draws candidates around the best of the previous one."""
    noise: Share = 0.1
    """Amplitude of the noise added to actions in the second half of the rounds, so that
    the skill found is robust; 1 is half of a joint's range [-]."""
    seed: Seed = 0
    """Seed of the draws."""

    def __post_init__(self) -> None:
        check_fields(self)


# Among those that hold 95 % success soonest, and need no clusters: docs/results.md.
# Clones need more poses than most studies have: docs/clone.md.
_BEST_STARTS = {"sac": "guided-rnd", "ppo": "guided-fresh", "clone": "fresh"}
_INSTEAD_OF_EPISODES = {"ppo": "ppo.steps", "clone": "clone.rounds"}


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """What learners learn, where they start, and for how long they train."""

    task: TaskName = DEFAULT_TASK
    """Task to learn."""
    algorithm: Literal["sac", "ppo", "clone"] = "sac"
    """How it is learned: sac (all learners at once), ppo (one learner after the other,
    each with many robots; needs the extra `ppo`), or clone (imitation of the guide,
    without reward)."""
    starts: tuple[str, ...] = ()
    """Kinds of starts, one or more: ka, km, wkm, 9-pose, 1-pose, rnd, fresh, drop, or a
    mixture such as ka+rnd:0.2. With the prefix guided-, as in guided-rnd, SAC learners
    follow the routes of the accessibility graph during their warm-up. Once standing,
    they follow the skill that `kaccess search` found, if the task needs one. By default
    guided-rnd for SAC, guided-fresh for PPO and fresh for clones: they are among the
    fastest and need no clusters. PPO has no warm-up: there a guided- learner begins as
    a clone of the guide. With along-, as in along-rnd, episodes begin along the routes,
    almost standing at first. With rollin-, the guide acts at the beginning of an
    episode, for less and less time."""
    seeds: Size = 3
    """Number of seeds for each kind of starts; each seed is one learner."""
    first_seed: Seed = 0
    """First seed: set it to add learners later, or on another machine."""
    episodes: Count = 600
    """Episodes of each SAC learner, over all its robots; 1600 in the paper."""
    episode_steps: Count | None = None
    """Steps of an episode of a SAC learner; by default 150, or those of a test if it
    takes longer; 300 in the paper. Shorter episodes see more starts and more draws of
    conditions."""
    test_every: Count = 50
    """Episodes of a SAC learner between two tests of the learning curve."""
    test_poses: Poses = 100
    """Number of poses of each of these tests; no learner trains on them."""
    test_anew: bool = True
    """Draw the poses of each test anew, from five times as many, so that nobody is
    lucky twice. Otherwise all tests have the same poses."""
    engine: EngineName = "mujoco"
    """Simulator to learn in: mujoco; bullet (PyBullet, the paper's); or warp, for
    thousands of robots on a GPU, which stay there if PPO learns."""
    test_engine: EngineName | None = None
    """Simulator of the tests of the learning curve, if not that of the training: warp
    (GPU) for many learners. Learners in warp are tested in mujoco by default."""
    conditions: str = ""
    """Conditions of training and tests, if not those of the study, such as
    torque=0.6,delay=0.04. Names: torque, friction, mass, slope, delay, filter, gain,
    damping, comx, comy, comz, latency, jitter, offset, backlash, rounding, sag, noise,
    bias, drift."""
    randomize: bool = False
    """Draw all conditions that are not given for each robot and episode, from ranges
    for a real robot: the same as --conditions randomize=1."""
    observe: ObserveName = "joints"
    """What policies observe: joints (gravity, angular velocity, joint positions); imu
    (the last commands in place of joint positions, four steps of everything), for a
    robot without joint sensors; history (both, of four steps)."""

    @property
    def tested_in(self) -> EngineName:
        """Simulator of the tests of the learning curve."""
        return self.test_engine or self.host_engine

    @property
    def host_engine(self) -> EngineName:
        """Simulator of what is computed before and beside the training."""
        return "mujoco" if self.engine == "warp" else self.engine

    def __post_init__(self) -> None:
        check_fields(self)
        if self.engine == "warp" and self.algorithm == "clone":
            raise InputError(
                "The guide acts in mujoco or bullet, so clones do not learn in warp. "
                "Leave out `--engine warp`."
            )
        if self.algorithm in _INSTEAD_OF_EPISODES:
            instead = _INSTEAD_OF_EPISODES[self.algorithm]
            because = f"with `--algorithm {self.algorithm}`: set `{instead}`"
            check_left_out(self, ("episodes", "test_every"), because)
        starts = self.starts or (_BEST_STARTS[self.algorithm],)
        if self.algorithm == "clone":  # all of them are guided
            starts = tuple(each.removeprefix("guided-") for each in starts)
        object.__setattr__(self, "starts", starts)
        if len(set(self.starts)) < len(self.starts):
            raise InputError(
                f"`starts` must name each kind once, got {' '.join(self.starts)}."
            )


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


@dataclass(frozen=True, kw_only=True)
class EvaluateConfig:
    """Which policies are tested, from how many poses, and under what conditions."""

    task: TaskName = DEFAULT_TASK
    """Task that the policies learned."""
    trained_under: str = ""
    """Test the policies trained with these `--conditions`; by default those trained
    without any."""
    conditions: str | None = None
    """Conditions of the test, such as friction=0.3,slope=10; by default those of the
    training. Write nominal for none."""
    best: bool = False
    """Test the policy with the best result on the learning curve of each learner, not
    the last one. The curve and this test use different poses."""
    poses: Poses = 500
    """Number of test poses."""
    held_out: bool = False
    """Take test poses that are kept for the numbers that you publish. Choose settings
    and policies by the others."""
    draw: Draw | None = None
    """How test poses are drawn, move or teleport; by default like those of the study.
    See `sample`."""

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def tested_under(self) -> str:
        """Conditions of the test."""
        return self.trained_under if self.conditions is None else self.conditions


@dataclass(frozen=True, kw_only=True)
class PlayConfig:
    """Which motion is shown: a policy's, or the move from one pose to another."""

    run: str | None = None
    """Learner of the study, such as ka/seed-0; or routes, to follow the fastest routes
    of the study's graph, without learning."""
    transition: tuple[Index, Index] | None = None
    """Numbers of two poses of the study: show the move from the first to the second,
    not a policy."""
    task: TaskName = DEFAULT_TASK
    """Task that the policy learned."""
    trained_under: str = ""
    """Conditions of its training, as in `evaluate`."""
    conditions: str | None = None
    """Conditions of the motion shown, as in `evaluate`."""
    best: bool = False
    """Show the learner's best policy, as in `evaluate`."""
    pose: Index | None = None
    """Number of the start pose. By default the first test pose of the study; for the
    shipped policy, the first fresh pose in which the robot lies on its back."""
    poses: Poses = 100
    """Number of fresh poses that the shipped policy is tested on."""
    seed: Seed = 0
    """Seed of the fresh poses."""
    seconds: Positive = ForBittle(4.0, "s")
    """Length of the motion [s]."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.transition is not None:
            unused = ("run", "task", "trained_under", "conditions", "pose", "poses")
            check_left_out(self, (*unused, "seed"), "with `transition`")
        if self.best and (self.run in (None, ROUTES) or self.transition is not None):
            raise InputError("`--best` needs `--run LEARNER`, such as --run ka/seed-0.")

    @property
    def shown_under(self) -> str:
        """Conditions of the motion shown."""
        return self.trained_under if self.conditions is None else self.conditions
