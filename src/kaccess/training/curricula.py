"""Curricula along the routes of a study: states that the guide passes through."""

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import EngineConfig, EngineName
from kaccess.envs.conditions import Conditions
from kaccess.envs.curriculum import AlongRoutes, Curriculum, RollIn, RouteStates
from kaccess.envs.episodes import Episodes
from kaccess.envs.robots_batch import MAX_DEPTH
from kaccess.envs.task import Task
from kaccess.evaluation.pose_test import place_test_poses
from kaccess.evaluation.rollout import roll_out
from kaccess.guide import Guide, follow_guide
from kaccess.starts import ALONG, ROLLIN, InitialStates
from kaccess.study import Study

__all__ = ["follow_routes", "make_curricula"]

_MOST_ROUTES = 256  # routes that are followed; each costs 75 control steps
_SEED = 20  # of the choice of their starts
_KINDS: dict[str, type[Curriculum]] = {ALONG: AlongRoutes, ROLLIN: RollIn}


def make_curricula(
    prefix: str,
    at_rest: InitialStates,
    study: Study,
    task: Task,
    *,
    n: int,
    conditions: Conditions | None = None,
    engine: EngineName | EngineConfig = "mujoco",
) -> list[Curriculum]:
    """Return n new curricula along the routes that begin in some resting starts.

    Args:
        prefix: Its kind, `along-` or `rollin-`.
        at_rest: Resting starts.
        study: Study whose guide is followed.
        task: Task to learn.
        n: Number of curricula, one for each learner.
        conditions: Differences from the physics of the study; by default none.
        engine: Name of the engine, or its settings.
    """
    n_routes = min(_MOST_ROUTES, len(at_rest))
    qpos = at_rest.sample(np.random.default_rng(_SEED), n_routes)
    routes = follow_routes(study, qpos, task, conditions=conditions, engine=engine)
    return [_KINDS[prefix](at_rest, routes) for _ in range(n)]


def follow_routes(
    study: Study,
    qpos: Array,
    task: Task,
    *,
    conditions: Conditions | None = None,
    engine: EngineName | EngineConfig = "mujoco",
) -> RouteStates:
    """Let the guide act from n states at rest, (n, nq), and return its way to success.

    Robots that the guide does not stand up within the time of a test are left out.
    """
    robot, conditions = study.robot, conditions or Conditions()
    guide = Guide.of(study, len(qpos), task=task)
    episodes = Episodes(task, robot, len(qpos), conditions=conditions, engine=engine)
    n_steps = round(robot.test_seconds * episodes.task.control_rate)
    placed = place_test_poses(qpos, robot, conditions)
    pages = [
        _read(episodes)
        for _ in roll_out(episodes, follow_guide(guide), placed, n_steps)
    ]
    states, velocities, targets, depth, success = (
        np.stack(column, axis=1) for column in zip(*pages, strict=True)
    )
    done_at = _find_success(success)
    step = np.arange(n_steps + 1)
    kept = step <= done_at[:, None]
    kept &= depth <= robot.scale.fit(MAX_DEPTH)
    kept[~kept[:, 0]] = False  # each route begins with its start
    if not kept.any():
        raise InputError(
            f"The guide of {study.path} stands up from none of {len(qpos)} starts, so "
            f"there are no routes to start along. Train from starts without `{ALONG}` "
            f"and `{ROLLIN}`, such as --starts rnd."
        )
    return RouteStates(
        states[kept],
        velocities[kept],
        targets[kept],
        elapsed=np.broadcast_to(step, kept.shape)[kept],
        remaining=(done_at[:, None] - step)[kept],
    )


def _read(episodes: Episodes) -> tuple[Array, Array, Array, Array, BoolArray]:
    robots, now = episodes.robots, episodes.robots.readings
    success = np.asarray(episodes.get_info()["success"], bool)
    return robots.qpos, robots.qvel, now.target.copy(), -now.distance.copy(), success


def _find_success(success: BoolArray) -> IntArray:
    """Return the step from which each robot succeeds to the end; -1 if it does not.

    Args:
        success: (n, t) whether each robot succeeds after each step.
    """
    n_at_end = success[:, ::-1].cumprod(axis=1).sum(axis=1)
    first = success.shape[1] - n_at_end
    return np.where(n_at_end > 0, first, -1)
