"""Test poses, which no learner trains on, and groups of similar ones.

There are three kinds, from random streams of their own. `curve` is for tests during
training. `final` is for tests of trained policies during development: whoever chooses
settings or policies by them has tuned to them. `held-out` is for published numbers.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from kaccess.access import accessibility
from kaccess.base.errors import InputError
from kaccess.base.types import Array, IntArray
from kaccess.config import DEFAULT_METHOD, Draw, EngineConfig
from kaccess.engines import make_engine
from kaccess.envs.task import Task
from kaccess.poses import Poses, Stream, draw_poses
from kaccess.starts import InitialStates
from kaccess.study import Study
from kaccess.study.start_times import estimate_between
from kaccess.study.starts import load_states

__all__ = [
    "TestPoses",
    "choose_poses",
    "find_other_draw",
    "find_test_poses",
    "get_test_poses",
    "group_poses",
]

_Kind = Literal["curve", "final", "held-out"]
_STREAM = {
    "curve": Stream.CURVE,
    "final": Stream.FINAL,
    "held-out": Stream.HELD_OUT,
}
_CHOICE = 1000  # marks the random stream of `choose_poses`
_N_CLUSTERED = 200  # test poses whose cluster is found; moves from all centroids: slow
# Poses drawn for each test pose: tried in turn until the task can start from enough.
_DRAWN_PER_TEST = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class TestPoses:
    """Test poses that may have to be stored.

    Args:
        poses: Poses to start from.
        drawn: New poses to be stored; None if they are stored already.
        path: File to store them in.
    """

    __test__ = False  # for pytest, which takes it for a test case

    poses: Poses
    drawn: InitialStates | None
    path: Path

    def store(self) -> Poses:
        """Store them if they are new, and return them."""
        if self.drawn is not None:
            self.drawn.save(self.path)
        return self.poses


def get_test_poses(
    study: Study,
    task: Task,
    kind: _Kind,
    n: int,
    *,
    draw: Draw | None = None,
    n_threads: int = 0,
) -> Poses:
    """Return n test poses that the task can start from; new ones are stored."""
    found = find_test_poses(study, task, kind, n, draw=draw, n_threads=n_threads)
    return found.store()


def find_test_poses(
    study: Study,
    task: Task,
    kind: _Kind,
    n: int,
    *,
    draw: Draw | None = None,
    n_threads: int = 0,
) -> TestPoses:
    """Return n test poses that the task can start from; nothing is stored yet.

    They are drawn like the poses of the study but from another random stream, and
    belong in `tests/<kind>.npz`. Two kinds have no pose in common. The first poses are
    the same for every n.

    Args:
        study: Study.
        task: Task to start.
        kind: Test that the poses are for.
        n: Number of poses.
        draw: Way to draw the poses, if not that of the study; then they belong in
            `tests/<kind>-<draw>.npz`.
        n_threads: CPU threads; 0 takes all.
    """
    robot, drawn = study.robot, None
    other = find_other_draw(study, draw)
    name = f"{kind}-{other}" if other else kind
    path = study.path / "tests" / f"{name}.npz"
    known = load_states(study, path) if path.exists() else None
    for times_as_many in _DRAWN_PER_TEST:
        n_drawn = max(times_as_many * n, 2)  # sampling draws at least two
        if known is None or len(known) < n_drawn:
            known = drawn = _draw(study, kind, n_drawn, draw, n_threads)
        qpos = known.qpos[task.qualifies(known.qpos)][:n]
        if len(qpos) == n:
            contacts = robot.find_contacts(qpos)[0]
            return TestPoses(Poses(robot, qpos, contacts), drawn, path)
    raise InputError(
        f"{task.name!r} can start from fewer than one in {_DRAWN_PER_TEST[-1]} poses "
        f"({len(qpos)} found, {n} needed). Test on fewer poses, or accept more of them "
        "in the task's `qualifies`."
    )


def choose_poses(study: Study, poses: Poses, n: int, *, number: int) -> Array:
    """Return n of these poses, (n, nq), for the test of this number.

    Each number has its own random stream, so interrupted runs have the same tests.
    """
    seed = int(study.settings["sample"]["seed"])
    rng = np.random.default_rng([seed, number, Stream.CURVE, _CHOICE])
    return poses.qpos[rng.choice(len(poses), n, replace=False)]


def find_other_draw(study: Study, draw: Draw | None) -> str:
    """Return a way to draw test poses, or an empty text if it is that of the study."""
    return "" if draw in (None, study.sampling.draw) else str(draw)


def _draw(
    study: Study, kind: str, n: int, draw: Draw | None, n_threads: int
) -> InitialStates:
    """Draw poses in the simulator of the study's poses."""
    own = study.sampling
    config = replace(own.for_others(n), draw=draw or own.draw)
    recorded = study.settings["sample"].get("engine", "")
    physics = EngineConfig.of_recorded(recorded, threads=n_threads)
    engine = make_engine(physics, study.robot, study.still)
    drawn, _ = draw_poses(study.robot, config, engine=engine, stream=_STREAM[kind])
    names = tuple(f"{kind} pose {index}" for index in range(n))
    return InitialStates.uniform(drawn.qpos, names=names, model=study.robot.fingerprint)


def group_poses(study: Study, poses: Poses, *, n_threads: int) -> dict[str, np.ndarray]:
    """Return the group of each pose, (n,): by `contact`, and by `cluster` if known.

    Contact means the parts on the ground. The cluster of a pose is that of the centroid
    which reaches it soonest, if K-Access has clustered the study. To find it takes
    a move from every centroid, so only the first m poses have a cluster, (m,).
    """
    parts = np.array(poses.robot.parts)
    contact = [" + ".join(parts[touches]) for touches in poses.contacts]
    groups = {"contact": np.array(contact)}
    clusters = study.clusterings.get(DEFAULT_METHOD)
    if clusters:
        first = poses.qpos[:_N_CLUSTERED]
        homes = _find_clusters(study, clusters.centroids, first, n_threads=n_threads)
        names = [f"{home}" if home >= 0 else "none" for home in homes]
        groups["cluster"] = np.array(names)
    return groups


def _find_clusters(
    study: Study, centroids: IntArray, qpos: Array, *, n_threads: int
) -> IntArray:
    """Return the cluster of each pose; -1 if no centroid reaches it in one move."""
    starts = study.poses.qpos[centroids]
    times = estimate_between(study, starts, qpos, n_threads=n_threads)
    from kaccess.cluster import KAccess  # it takes seconds to load

    clusters = KAccess.restore(centroids).predict(accessibility(times))
    return np.where(np.isfinite(times).any(axis=0), clusters, -1)
