"""Settings of the stages that learn: search, train, evaluate, play."""

from dataclasses import dataclass
from typing import Annotated, Literal

from kaccess.base.errors import InputError
from kaccess.config.checks import (
    Count,
    Index,
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
    "EvaluateConfig",
    "PlayConfig",
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
