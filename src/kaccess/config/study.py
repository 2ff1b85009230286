"""Settings of the stages that measure a robot: sample, access, cluster."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal, TypeVar

from kaccess.base.errors import InputError
from kaccess.config.checks import (
    Count,
    Kind,
    NotNegative,
    Poses,
    Positive,
    Seed,
    Size,
    Threads,
    check_fields,
    check_left_out,
    whole,
)
from kaccess.config.names import (
    DEFAULT_METHOD,
    DEFAULT_TASK,
    METHODS,
    Draw,
    EngineName,
    Method,
    TaskName,
)
from kaccess.config.scale import ForBittle

__all__ = [
    "AccessConfig",
    "ClusterConfig",
    "EngineConfig",
    "GetUpConfig",
    "GrowConfig",
    "RobotConfig",
    "SampleConfig",
    "StillConfig",
    "read_config",
]


@dataclass(frozen=True, kw_only=True)
class EngineConfig:
    """Which simulator runs the physics, and where."""

    engine: EngineName = "mujoco"
    """Simulator: mujoco (CPU), warp (NVIDIA GPU) or bullet (PyBullet, the paper's)."""
    threads: Threads = 0
    """CPU threads; 0 takes all."""
    device: str | None = None
    """Device of warp: cuda:1, cpu, ...; by default the first GPU."""
    solver_iterations: Size | None = None
    """Iterations of the solver of bullet in each step; by default 500 for poses and
    times, and 50, PyBullet's own, to learn and to test policies."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.solver_iterations is not None and self.engine != "bullet":
            raise InputError(
                f"`solver_iterations` is for the engine 'bullet', not for "
                f"{self.engine!r}. Leave it out, or choose 'bullet'."
            )
        if self.device is not None and self.engine != "warp":
            raise InputError(
                f"`device` is for the engine 'warp', not for {self.engine!r}. Leave it "
                "out, or choose 'warp'."
            )

    @classmethod
    def of(cls, engine: "EngineName | EngineConfig") -> "EngineConfig":
        """Return the settings given, or default settings of the engine named."""
        return engine if isinstance(engine, EngineConfig) else cls(engine=engine)

    @property
    def recorded(self) -> str:
        """The physics as a study records it, such as `bullet` or `bullet:50`."""
        if self.solver_iterations is None:
            return self.engine
        return f"{self.engine}:{self.solver_iterations}"

    @classmethod
    def of_recorded(cls, text: str, *, threads: int = 0) -> "EngineConfig":
        """Return the engine on a CPU with the physics that a study has recorded."""
        name, _, iterations = text.partition(":")
        if name != "bullet":
            return cls(threads=threads)  # the physics of warp is that of mujoco
        n_iterations = int(iterations) if iterations.isdecimal() else None
        return cls(engine="bullet", threads=threads, solver_iterations=n_iterations)


@dataclass(frozen=True, kw_only=True)
class RobotConfig:
    """What to set about a model, if what is found in it is not right."""

    stand_key: str | None = None
    """Keyframe to stand in; by default stand, standing, home or the first one. If it
    falls over, a standing posture is searched for."""
    feet: tuple[str, ...] = ()
    """Geoms or bodies that are feet; by default those that touch the floor in the
    standing pose."""
    kp: Positive | None = None
    """Stiffness of all servos [N m/rad]; by default the model's. Torque motors become
    servos that give full torque at an error of 0.4 rad."""
    kd: Positive | None = None
    """Damping of all servos [N m s/rad]; by default the model's, or kp/20 s for torque
    motors."""
    test_time: Positive | None = None
    """Time that the robot has to get up in each test [s]; by default 3 s for Bittle,
    and more for a larger robot. A humanoid may need 10 s."""
    robots_path: str | None = None
    """Folder with robots, such as a local copy of MuJoCo Menagerie, for names such as
    menagerie:unitree_go1; by default they are downloaded."""

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, kw_only=True)
class StillConfig:
    """When a robot counts as static: every speed stays low for a while."""

    linear_velocity: Positive = ForBittle(0.01, "m/s")
    """Speed of the base below which it is at rest [m/s]."""
    angular_velocity: Positive = ForBittle(0.1, "rad/s")
    """Angular speed of the base below which it is at rest [rad/s]."""
    joint_velocity: Positive = ForBittle(0.1, "rad/s")
    """Speed of a joint below which it is at rest [rad/s]."""
    window: Positive = ForBittle(0.1, "s")
    """Time for which all speeds must stay below these limits [s]."""

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, kw_only=True)
class SampleConfig:
    """How static poses are drawn: the robot is dropped and comes to rest."""

    n: Annotated[int, whole(2, 10**5)] = 1000
    """Number of poses."""
    use: Annotated[int, whole(2, 10**5)] | None = None
    """Number of poses to use: a random choice from the `n`, which depends on the seed.
    The paper draws 2400 poses and uses 1000. By default all are used."""
    seed: Seed = 0
    """Seed of the draws; a larger `n` adds poses and keeps the earlier ones."""
    draw: Draw = "move"
    """`move`: drop the robot with its standing joint positions and command random ones,
    so that it can get into every pose by moving. `teleport`: drop it with random joint
    positions, as the paper does; some legs are then where no motion could take them."""
    mirror: bool = False
    """Draw half of the poses and add their mirror images (pose 2i + 1 mirrors pose
    2i), so that half of the transition times follow from the other half."""
    drop_height: Positive | None = None
    """Height of the base at the start of the drop [m]; by default the robot's own."""
    time_limit: Positive = ForBittle(2.0, "s")
    """Drops still moving after this time are discarded [s]."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.use is not None and self.use > self.n:
            raise InputError(
                f"`use` must be at most `n` ({self.n}), the poses to choose from, got "
                f"{self.use}."
            )
        for name, value in (("n", self.n), ("use", self.use)):
            if self.mirror and value is not None and value % 2:
                raise InputError(
                    f"`{name}` must be even with `mirror`, which draws pairs, got "
                    f"{value}."
                )

    def for_others(self, n: int) -> "SampleConfig":
        """Return the settings for n other poses, drawn in the same way."""
        return replace(self, n=n, use=None, mirror=False)


@dataclass(frozen=True, kw_only=True)
class AccessConfig:
    """How the time from pose i to pose j is measured, and when j counts as reached."""

    time_limit: Positive = ForBittle(3.0, "s")
    """A robot still moving after this time has not reached pose j [s]."""
    move_time: NotNegative = 0.0
    """Time in which joint targets move to those of pose j, in a straight line [s]; with
    0 they jump, and strong servos may fling the robot."""
    joint_tol: Positive = ForBittle(0.5, "rad over joints")
    """Largest distance of the joint positions to those of pose j, L2 norm [rad]."""
    height_tol: Positive = ForBittle(0.01, "m")
    """Largest difference of base height to that of pose j [m]."""
    gravity_tol: Positive = 0.1
    """Largest distance of the unit gravity vectors in the body frame, L2 norm [-]."""

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, kw_only=True)
class GrowConfig:
    """How poses are added to the graph until the robot gets up from nearly all."""

    share: Annotated[float, Kind(0, 1, above=True)] = 0.99
    """Share of fresh poses from which the robot must stand up within the time of a
    test; then growth stops [-]."""
    most: Poses = 500
    """Largest number of poses in the posture graph."""
    tests: Annotated[int, whole(2, 10**5)] = 200
    """Number of fresh poses from which the plan is followed in each round."""
    added: Poses = 24
    """Number of poses that join in a round, at most; in the first round of a run, half
    as many more around standing."""
    patience: Count = 3
    """Number of rounds without a better result after which growth stops."""
    seed: Seed = 0
    """Seed of the fresh poses."""

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, kw_only=True)
class GetUpConfig:
    """How get-up skills are searched for: postures in a row from a trapped pose."""

    explored: Annotated[int, whole(0, 10**7)] = 6000
    """Largest number of short motions in each exploration; 0 for none. Humanoids need
    1000 to 6000."""
    skills: Size = 4
    """Largest number of skills to search for; each frees the poses that lead to it."""
    postures: Size = 5
    """Number of postures of a skill that no exploration has found."""
    candidates: Annotated[int, whole(8, 10**5)] = 256
    """Number of variations in each round; on a GPU, many more take little more time."""
    rounds: Count = 10
    """Number of rounds; each varies the best candidates of the rounds before."""
    posture_time: Positive = ForBittle(0.2, "s")
    """Typical time to go from one posture to the next [s]."""
    seed: Seed = 0
    """Seed of the draws."""

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, kw_only=True)
class ClusterConfig:
    """How poses are clustered, and how the number of clusters is chosen."""

    method: Method = DEFAULT_METHOD
    """K-Access, or another method: K-Means on gravity and joints, the same with gravity
    weighted by 2, directed k-medoids (mean access from the best centroid), directed
    Louvain, Infomap, directed spectral clustering."""
    task: TaskName = DEFAULT_TASK
    """Task whose starts are wanted: only poses that it can start from are clustered.
    Fall recovery starts from all, backflips from those rolled by less than 60 deg."""
    k: Poses | None = None
    """Number of clusters; by default the method chooses, K-Access the one with the best
    index. Louvain and Infomap always choose."""
    k_max: Annotated[int, whole(2, 10**5)] = 120
    """Largest number of clusters to try."""
    solver: Literal["swap", "alternate"] = "swap"
    """Solver of K-Access: `alternate` is the paper's Algorithm 1; `swap` then
    swaps centroids for other poses as long as this raises the index."""
    alpha: NotNegative = 1.0
    """Penalty of the index for each cluster with only one pose [-]."""
    n_init: Count = 30
    """Number of restarts of Algorithm 1 for each k."""
    n_bootstrap: Annotated[int, whole(0, 10**4)] = 0
    """Number of bootstrap resamples on which the choice of k is repeated, to see how
    stable it is. Each takes as long as the choice itself."""
    seed: Seed = 0
    """Seed of the restarts."""

    def __post_init__(self) -> None:
        check_fields(self)
        unused = METHODS[self.method].unused
        check_left_out(self, unused, f"with method {self.method}")
        if self.k is not None:
            check_left_out(self, ("k_max", "n_bootstrap"), "if `k` is given")


Config = TypeVar("Config", StillConfig, SampleConfig, AccessConfig)


def read_config(kind: type[Config], settings: Mapping[str, Any]) -> Config:
    """Return a config from stored settings, which may hold other entries too."""
    names = {field.name for field in fields(kind)}
    return kind(**{name: settings[name] for name in names & settings.keys()})
