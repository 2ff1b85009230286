"""A guide: it gets robots to stand by moves that were measured, without any learning.

The fastest routes over the accessibility graph say which pose to command next from each
pose. A robot that may be anywhere is taken for the pose it is most like; once the time
of a move is over, it is looked at again. All that a guide needs to know of a robot is
what a policy sees as well. Robots that stand keep standing or, where a task asks for
more, do what a search has found to do it: a skill.
"""

from collections.abc import Callable, Mapping

import numpy as np
from scipy.spatial import KDTree

from kaccess.access.graph import find_routes
from kaccess.config import AccessConfig, from_settings
from kaccess.envs.task import Task
from kaccess.errors import InputError
from kaccess.poses import Poses
from kaccess.rotations import gravity_in_body
from kaccess.skill import find_skill
from kaccess.stored import finished_times, load_poses
from kaccess.study import Study
from kaccess.types import Array, BoolArray, IntArray

__all__ = ["Guide", "GuidedWarmUp", "following"]

_PATIENCE = 0.1  # [s], that a move may take longer than it was measured to take
_STANDING_TIME = 0.5  # [s], between two looks at a robot that stands
# Of warm-up actions around the guide's, in halves of a joint's range [-].
_NOISE = 0.35
_SKILL_NOISE = 0.1  # postures that follow upon one another in flight bear less


class Guide:
    """Gets n robots to stand, each from wherever it is, and on from there.

    Args:
        poses: Poses of a study.
        times: (m, m) seconds from pose i to pose j; inf is no move.
        to_standing: (m,) seconds from each pose to standing; likewise.
        n: Number of robots.
        task: What they are at, in whose way they see.
        config: When a pose counts as reached: the measure of what is like what.
        skill: (s, nu) actions from standing; needed where the task is not to stand.

    Attributes:
        noise: How much its actions bear, in halves of a joint's range [-].
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
                f"Routes lead to standing, and {task.name!r} asks for more. Give the "
                "guide a `skill`."
            )
        robot, config = poses.robot, config or AccessConfig()
        self._task, self._n_joints = task, robot.model.nu
        self._scale = np.array([1 / config.gravity_tol, 1 / config.joint_tol])
        stand = robot.standing[None]
        joints = np.concatenate([poses.joints, robot.joints(stand)])  # standing is last
        gravity = np.concatenate([poses.gravity, gravity_in_body(stand[:, 3:7])])
        self._tree = KDTree(self._place(gravity, joints))
        self._actions = np.clip(robot.actions(joints), -1.0, 1.0)
        self._next, seconds = _next_moves(times, to_standing)
        self._steps = np.ceil((seconds + _PATIENCE) * task.control_rate).astype(int)
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
        """Return a guide for n robots by the moves of a study, and its skill."""
        return cls(
            load_poses(study),
            finished_times(study),
            study.to_standing,
            n,
            task=task,
            config=from_settings(AccessConfig, study.settings.get("access", {})),
            skill=None if task.to_stand else find_skill(study, task).actions,
        )

    def act(self, obs: Array, began: BoolArray) -> Array:
        """Return the next actions, (n, nu) in [-1, 1].

        Args:
            obs: (n, d) what the robots see.
            began: (n,) whether an episode has just begun.
        """
        self._steps_left = np.where(began, 0, self._steps_left - 1)
        due = np.flatnonzero(self._steps_left <= 0)
        if len(due):
            gravity, joints = self._task.posture(obs[due], self._n_joints)
            _, self._at[due] = self._tree.query(self._place(gravity, joints))
            self._steps_left[due] = self._steps[self._at[due]]
        actions = np.asarray(self._actions[self._next[self._at]])
        stands = self._at == len(self._next) - 1
        actions[stands] = self._skill[len(self._skill) - self._steps_left[stands]]
        return actions

    def get_state(self) -> dict[str, np.ndarray]:
        """Return all that the next actions depend on."""
        return {"at": self._at.copy(), "steps_left": self._steps_left.copy()}

    def set_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from what `get_state` returned."""
        self._at, self._steps_left = state["at"].copy(), state["steps_left"].copy()
        if (self._steps_left > self._steps[self._at]).any():
            raise InputError(
                "The guide of this run has changed since it began: moves that are "
                "under way take less time now. Train into a new study."
            )

    def _place(self, gravity: Array, joints: Array) -> Array:
        """Return points that are as far apart as postures are unlike."""
        return np.concatenate(
            [gravity * self._scale[0], joints * self._scale[1]], axis=1
        )


class GuidedWarmUp:
    """Actions before learning: some robots are guided, others do anything.

    Guided ones do nearly what the guide says: noise shows learners more than one way.

    Args:
        guide: For as many robots as there are `rows`.
        rows: The robots that are guided.
    """

    def __init__(self, guide: Guide, rows: IntArray) -> None:
        self._guide, self._rows = guide, rows

    def act(self, obs: Array, random: Array, began: BoolArray) -> Array:
        """Return actions of all robots, (n, nu), given random ones in [-1, 1]."""
        actions, rows = random.copy(), self._rows
        guided = self._guide.act(obs[rows], began[rows])
        actions[rows] = np.clip(guided + self._guide.noise * random[rows], -1.0, 1.0)
        return actions

    def get_state(self) -> dict[str, np.ndarray]:
        """Return all that the next actions depend on."""
        return self._guide.get_state()

    def set_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from what `get_state` returned."""
        self._guide.set_state(state)


def following(guide: Guide) -> Callable[[Array], Array]:
    """Return a policy that does what a guide says, for one episode of its robots."""
    began = np.ones(len(guide), bool)

    def act(obs: Array) -> Array:
        actions = guide.act(obs, began)
        began[:] = False
        return actions

    return act


def _next_moves(times: Array, to_standing: Array) -> tuple[IntArray, Array]:
    """Return the pose to command from each pose and from standing, and how long.

    The last pose, m, is standing. It is also what is tried where no route leads there.
    """
    m = len(times)
    following = find_routes(times, to_standing).following
    goal = np.append(np.where(following < 0, m, following), m)
    seconds = np.column_stack([times, to_standing])[np.arange(m), goal[:m]]
    seconds = np.where(np.isfinite(seconds), seconds, _STANDING_TIME)
    return goal, np.append(seconds, _STANDING_TIME)
