"""The guide: a controller that stands robots up by measured moves, without learning.

The fastest routes over the accessibility graph say which pose to command next from each
pose. The guide finds the pose nearest to the robot, commands the next pose of its
route, waits for the measured time of that move, and observes again. It has the same
observations as a policy. A standing robot keeps standing or, if the task is more
than standing, performs a skill that a search has found.
"""

from collections.abc import Callable, Mapping

import numpy as np
from scipy.spatial import KDTree

from kaccess.access.graph import find_routes
from kaccess.base.errors import InputError
from kaccess.base.rotations import gravity_in_body
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import AccessConfig, ForBittle
from kaccess.envs.task import Task
from kaccess.guide.skill import find_skill
from kaccess.poses import Poses
from kaccess.study import Study

__all__ = ["Guide", "follow_guide"]

_MARGIN = ForBittle(0.1, "s")  # added to the measured time of a move
_STANDING_TIME = ForBittle(0.5, "s")  # between two observations of a standing robot
# Amplitude of the noise in a guided warm-up; 1 is half of a joint's range [-].
_NOISE = 0.35
_SKILL_NOISE = 0.1  # less, because a flight is easily disturbed


class Guide:
    """Stands n robots up, each from any pose.

    Args:
        poses: Poses of a study.
        times: (m, m) seconds from pose i to pose j; inf if no move reaches it.
        to_standing: (m,) seconds from each pose to standing; inf if no move does.
        n: Number of robots.
        task: Task of the robots; it defines their observations.
        config: Tolerances; they scale the nearest-pose distance.
        skill: (s, nu) actions from standing; needed if the task is more than standing.

    Attributes:
        noise: Amplitude of the noise that its actions tolerate; 1 is half of a joint's
            range [-].
    """

    def __init__(
        self,
        poses: Poses,
        times: Array,
        to_standing: Array,
        n: int,
        *,
        task: Task,
        config: AccessConfig | None = None,
        skill: Array | None = None,
    ) -> None:
        if skill is None and not task.to_stand:
            raise InputError(
                f"Routes end with standing, but {task.name!r} needs more. Give "
                "the guide a `skill`."
            )
        robot, scale = poses.robot, poses.robot.scale
        task, config = task.fit_to(robot), scale.fit(config or AccessConfig())
        self._task, self._n_joints = task, robot.model.nu
        self._scale = np.array([1 / config.gravity_tol, 1 / config.joint_tol])
        stand = robot.standing[None]  # the last row
        joints = np.concatenate([poses.joints, robot.get_joints(stand)])
        targets = np.concatenate([poses.joints, robot.standing_targets[None]])
        gravity = np.concatenate([poses.gravity, gravity_in_body(stand[:, 3:7])])
        self._tree = KDTree(self._embed(gravity, joints))
        self._actions = np.clip(robot.to_actions(targets), -1.0, 1.0)
        wait, margin = scale.fit(_STANDING_TIME), scale.fit(_MARGIN)
        self._next, seconds = _find_next_moves(times, to_standing, wait)
        self._steps = np.ceil((seconds + margin) * task.control_rate).astype(int)
        self.noise = _NOISE if skill is None else _SKILL_NOISE
        keep_standing = np.repeat(self._actions[-1:], self._steps[-1], axis=0)
        self._skill = keep_standing if skill is None else skill
        self._steps[-1] = len(self._skill)
        self._at = np.zeros(n, np.int64)
        self._steps_left = np.zeros(n, np.int64)

    def __len__(self) -> int:
        return len(self._at)

    @classmethod
    def of(cls, study: Study, n: int, *, task: Task) -> "Guide":
        """Return a guide for n robots from the moves and the skill of a study."""
        return cls(
            study.poses,
            study.finished_times,
            study.to_standing,
            n,
            task=task,
            config=study.access_config,
            skill=None if task.to_stand else find_skill(study, task).actions,
        )

    def act(self, obs: Array, began: BoolArray) -> Array:
        """Return the next actions, (n, nu) in [-1, 1].

        Args:
            obs: (n, d) observations.
            began: (n,) whether a new episode has just begun.
        """
        self._steps_left = np.where(began, 0, self._steps_left - 1)
        due = np.flatnonzero(self._steps_left <= 0)
        if len(due):
            gravity, joints = self._task.read_posture(obs[due], self._n_joints)
            _, self._at[due] = self._tree.query(self._embed(gravity, joints))
            self._steps_left[due] = self._steps[self._at[due]]
        actions = np.asarray(self._actions[self._next[self._at]])
        stands = self._at == len(self._next) - 1
        actions[stands] = self._skill[len(self._skill) - self._steps_left[stands]]
        return actions

    def get_state(self) -> dict[str, np.ndarray]:
        """Return the state that the next actions depend on."""
        return {"at": self._at.copy(), "steps_left": self._steps_left.copy()}

    def set_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Continue from what `get_state` returned."""
        self._at, self._steps_left = state["at"].copy(), state["steps_left"].copy()
        if (self._steps_left > self._steps[self._at]).any():
            raise InputError(
                "The guide has changed since this run began: moves under way now take "
                "less time. Train in a new study."
            )

    def _embed(self, gravity: Array, joints: Array) -> Array:
        """Return points; the closer two of them, the more similar the postures."""
        return np.concatenate(
            [gravity * self._scale[0], joints * self._scale[1]], axis=1
        )


def follow_guide(guide: Guide) -> Callable[[Array], Array]:
    """Return a policy that follows a guide, for one episode of its robots."""
    began = np.ones(len(guide), bool)

    def act(obs: Array) -> Array:
        actions = guide.act(obs, began)
        began[:] = False
        return actions

    return act


def _find_next_moves(
    times: Array, to_standing: Array, wait: float
) -> tuple[IntArray, Array]:
    """Return the pose to command from each pose, and for how long [s].

    Pose m, the last one, is standing. It is also commanded where there is no route,
    each time for `wait` [s].
    """
    m = len(times)
    route = find_routes(times, to_standing).next_pose
    goal = np.append(np.where(route < 0, m, route), m)
    seconds = np.column_stack([times, to_standing])[np.arange(m), goal[:m]]
    seconds = np.where(np.isfinite(seconds), seconds, wait)
    return goal, np.append(seconds, wait)
