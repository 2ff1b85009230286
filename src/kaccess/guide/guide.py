"""The guide: a controller that stands robots up by measured moves, without learning.

A plan says which pose to command in any posture. The guide commands it, waits until
the robot rests or for the time that such a move takes, and observes again. It has the
same observations as a policy. Tasks smooth the targets of a policy, moves were measured
without that; so the guide commands beyond its target, and the smoothed target is right
at once. A standing robot keeps standing or, if the task is more
than standing, performs a skill that a search has found.

Plans are made from where moves ended (`kaccess.access.Plan`). Studies made before that
was stored have a plan of fastest routes over the moves that reached their goals.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np
from scipy.spatial import KDTree

from kaccess.access import Attempts, Commands, find_routes
from kaccess.base.errors import InputError
from kaccess.base.rotations import gravity_in_body
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import AccessConfig, ForBittle
from kaccess.envs.task import Task
from kaccess.guide.skill import find_skill
from kaccess.poses import Poses
from kaccess.robots import Robot
from kaccess.study import Study

__all__ = ["FastestRoutes", "Guide", "MovePlan", "follow_guide"]

_MARGIN = ForBittle(0.1, "s")  # added to the measured time of a move
# A robot whose joints and gravity vector change more slowly is at rest [rad/s, 1/s].
_SLOW = ForBittle(0.3, "rad/s")
_LEAST_TIME = ForBittle(0.16, "s")  # a robot needs to leave the pose it rests in
_STANDING_TIME = ForBittle(0.5, "s")  # between two observations of a standing robot
# Amplitude of the noise in a guided warm-up; 1 is half of a joint's range [-].
_NOISE = 0.35
_SKILL_NOISE = 0.1  # less, because a flight is easily disturbed


class MovePlan(Protocol):
    """Says what to command in any posture; the last node and command are standing."""

    commands: Commands

    @property
    def n_nodes(self) -> int:
        """Number of poses and standing."""
        ...

    def choose(
        self, gravity: Array, joints: Array, tried: Attempts | None = None
    ) -> tuple[IntArray, Array, IntArray]:
        """Return what to command in postures, (b, 3) and (b, nu).

        Args:
            gravity: (b, 3) gravity vectors in the body frame.
            joints: (b, nu) joint positions [rad].
            tried: What the robots have tried before.

        Returns:
            `(command, seconds, nearest)`, (b,) each: number of the command, time of the
            move [s], and nearest node.
        """
        ...


class FastestRoutes:
    """A plan by the fastest routes over moves that reached their goals.

    Args:
        poses: m poses.
        times: (m, m) seconds from pose i to pose j; inf if no move reaches it.
        to_standing: (m,) seconds from each pose to standing; inf if no move does.
        config: Tolerances; they scale the nearest-pose distance.
    """

    def __init__(
        self, poses: Poses, times: Array, to_standing: Array, config: AccessConfig
    ) -> None:
        robot, config = poses.robot, poses.robot.scale.fit(config)
        targets = np.concatenate([poses.joints, robot.standing_targets[None]])
        self.commands = Commands.to(targets, config.move_time)
        self.n_nodes = len(targets)
        self._scale = np.array([1 / config.gravity_tol, 1 / config.joint_tol])
        stand = robot.standing[None]  # the last row
        joints = np.concatenate([poses.joints, robot.get_joints(stand)])
        gravity = np.concatenate([poses.gravity, gravity_in_body(stand[:, 3:7])])
        self._tree = KDTree(self._embed(gravity, joints))
        wait = robot.scale.fit(_STANDING_TIME)
        self._next, self._seconds = _find_next_moves(times, to_standing, wait)

    def choose(
        self, gravity: Array, joints: Array, tried: Attempts | None = None
    ) -> tuple[IntArray, Array, IntArray]:
        """Return the next move of the route of the nearest pose."""
        _, nearest = self._tree.query(self._embed(gravity, joints))
        nearest = np.asarray(nearest)
        return *self.follow(nearest), nearest

    def follow(self, nearest: IntArray) -> tuple[IntArray, Array]:
        """Return the next command of each node's route, and its time [s]."""
        return self._next[nearest], self._seconds[nearest]

    def _embed(self, gravity: Array, joints: Array) -> Array:
        """Return points; the closer two of them, the more similar the postures."""
        return np.concatenate(
            [gravity * self._scale[0], joints * self._scale[1]], axis=1
        )


class Guide:
    """Stands n robots up, each from any pose.

    Args:
        plan: Says what to command in any posture.
        robot: Robot of the plan.
        n: Number of robots.
        task: Task of the robots; it defines their observations.
        skill: (s, nu) actions from standing; needed if the task is more than standing.

    Attributes:
        noise: Amplitude of the noise that its actions tolerate; 1 is half of a joint's
            range [-].
        are_slow: (n,) which robots were at rest when it last acted.
    """

    def __init__(
        self,
        plan: MovePlan,
        robot: Robot,
        n: int,
        *,
        task: Task,
        skill: Array | None = None,
    ) -> None:
        if skill is None and not task.to_stand:
            raise InputError(
                f"Routes end with standing, but {task.name!r} needs more. Give "
                "the guide a `skill`."
            )
        self._plan, self._robot, self._task = plan, robot, task.fit_to(robot)
        self._margin, self._least_time, self._slow = robot.scale.fit(
            (_MARGIN, _LEAST_TIME, _SLOW)
        )
        self.noise = _NOISE if skill is None else _SKILL_NOISE
        self._skill = self._keep_standing() if skill is None else skill
        self._command: IntArray = np.zeros(n, np.int64)
        self._joints: Array = np.zeros((n, robot.model.nu))  # when the move began
        self._stands = np.zeros(n, bool)
        self._steps: IntArray = np.zeros(n, np.int64)  # since the move began
        self._steps_left: IntArray = np.zeros(n, np.int64)
        self._posture: Array = np.full((n, 3 + robot.model.nu), np.nan)  # last seen
        self._target: Array = np.zeros((n, robot.model.nu))  # smoothed, as an action
        self._tried = Attempts.none(n, robot.model.nu)
        self.are_slow = np.zeros(n, bool)

    def __len__(self) -> int:
        return len(self._command)

    @classmethod
    def of(cls, study: Study, n: int, *, task: Task) -> "Guide":
        """Return a guide for n robots from the moves and the skill of a study."""
        times = study.finished_times
        plan: MovePlan = study.plan or FastestRoutes(
            study.poses, times, study.to_standing, study.access_config
        )
        skill = None if task.to_stand else find_skill(study, task).actions
        return cls(plan, study.robot, n, task=task, skill=skill)

    def act(self, obs: Array, began: BoolArray) -> Array:
        """Return the next actions, (n, nu) in [-1, 1].

        Args:
            obs: (n, d) observations.
            began: (n,) whether a new episode has just begun.
        """
        self._begin(np.flatnonzero(began), obs[began])
        self._steps_left = np.where(began, 0, self._steps_left - 1)
        self._steps = self._steps + 1
        self._steps_left[self._find_rested(obs)] = 0
        due = np.flatnonzero(self._steps_left <= 0)
        if len(due):
            self._look(due, obs[due])
        motion = self._plan.commands.start(self._command, self._joints)
        seconds = (self._steps + 1) / self._task.control_rate
        goal = self._robot.to_actions(motion.at(np.arange(len(self)), seconds))
        share = self._task.low_pass
        actions = (np.clip(goal, -1.0, 1.0) - share * self._target) / (1 - share)
        stands = self._stands
        actions[stands] = self._skill[len(self._skill) - self._steps_left[stands]]
        actions = np.clip(actions, -1.0, 1.0)
        self._target = share * self._target + (1 - share) * actions
        return np.asarray(actions)

    def _begin(self, rows: IntArray, obs: Array) -> None:
        """Begin new episodes of some robots: their targets are their joints."""
        _, joints = self._task.read_posture(obs, self._robot.model.nu)
        self._target[rows] = self._robot.to_actions(joints)
        self._tried.forget(rows)

    def _find_rested(self, obs: Array) -> BoolArray:
        """Return which robots have come to rest, so that their moves are over, (n,)."""
        gravity, joints = self._task.read_posture(obs, self._robot.model.nu)
        posture = np.concatenate([gravity, joints], axis=1)
        change = np.abs(posture - self._posture).max(axis=1)
        self._posture = posture
        rate = self._task.control_rate
        self.are_slow = change * rate < self._slow
        moved = self._steps / rate >= self._get_durations() + self._least_time
        return np.asarray(self.are_slow & moved & ~self._stands)

    def _get_durations(self) -> Array:
        """Return for how long the targets of each robot's command move [s], (n,)."""
        return np.asarray(self._plan.commands.seconds[self._command].sum(axis=1))

    def _look(self, due: IntArray, obs: Array) -> None:
        """Choose the next moves of some robots."""
        gravity, joints = self._task.read_posture(obs, self._robot.model.nu)
        tried = self._tried[due]
        command, seconds, nearest = self._plan.choose(gravity, joints, tried)
        stands = nearest == self._plan.n_nodes - 1
        stands &= command == len(self._plan.commands) - 1
        lies = ~stands
        self._tried.add(due[lies], gravity[lies], joints[lies], command[lies])
        steps = self._count_steps(seconds)
        self._command[due], self._stands[due] = command, stands
        self._joints[due], self._steps[due] = joints, 0
        self._steps_left[due] = np.where(stands, len(self._skill), steps)

    def _count_steps(self, seconds: Array) -> IntArray:
        """Return the control steps of moves that take some time [s]."""
        steps = np.ceil((seconds + self._margin) * self._task.control_rate)
        return np.asarray(steps.astype(np.int64))

    def _keep_standing(self) -> Array:
        """Return the actions of standing until the next observation."""
        wait = np.array([self._robot.scale.fit(_STANDING_TIME)])
        standing = self._robot.to_actions(self._robot.standing_targets[None])
        return np.repeat(standing, self._count_steps(wait)[0], axis=0)

    def get_state(self) -> dict[str, np.ndarray]:
        """Return the state that the next actions depend on."""
        return {
            "command": self._command.copy(),
            "joints": self._joints.copy(),
            "steps": self._steps.copy(),
            "stands": self._stands.copy(),
            "steps_left": self._steps_left.copy(),
            "posture": self._posture.copy(),
            "target": self._target.copy(),
            **{
                f"tried_{name}": each.copy() for name, each in vars(self._tried).items()
            },
            "n_commands": np.array(len(self._plan.commands)),
        }

    def set_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Continue from what `get_state` returned."""
        self._steps_left = state["steps_left"].copy()
        if "at" in state and isinstance(self._plan, FastestRoutes):
            # Older versions stored the nearest node.
            self._command, _ = self._plan.follow(state["at"])
            self._stands = state["at"] == self._plan.n_nodes - 1
        else:
            self._command = state["command"].copy()
            self._stands = state["stands"].astype(bool)
        if "joints" in state:  # older versions had no moves that take time
            self._joints, self._steps = state["joints"].copy(), state["steps"].copy()
        if "posture" in state:  # older versions waited for the time of the move
            self._posture = state["posture"].copy()
        if "target" in state:  # older versions did not reckon with smoothed targets
            self._target = state["target"].copy()
            self._tried = Attempts(
                *(state[f"tried_{name}"].copy() for name in vars(self._tried))
            )
        n_commands = len(self._plan.commands)
        if state.get("n_commands", n_commands) != n_commands:
            # The graph has grown, and commands have other numbers: choose again.
            self._command[:], self._steps_left[:], self._stands[:] = 0, 0, False
        if (self._steps_left[self._stands] > len(self._skill)).any():
            raise InputError(
                "The guide has changed since this run began: its skill is shorter now. "
                "Train in a new study."
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
