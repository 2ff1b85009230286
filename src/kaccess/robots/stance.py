"""The standing pose of a robot: upright, at rest, on its feet alone.

It is where a keyframe comes to rest under its targets. If every keyframe falls over, or
there is none, a search looks for a posture that stands.
"""

import logging
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.rotations import gravity_in_body, quat_from_roll_pitch
from kaccess.base.types import Array, BoolArray
from kaccess.config import AccessConfig, StillConfig
from kaccess.robots.contacts import find_floor, find_floor_contacts, find_limbs
from kaccess.robots.hold import Held, hold

if TYPE_CHECKING:
    from kaccess.robots.robot import Robot

__all__ = ["Stance", "find_stance", "measure_standing", "place_on_floor"]

logger = logging.getLogger(__name__)

_STANDING_KEYS = ("stand", "standing", "home")
_HOLD_TIME = 3.0  # [s] for Bittle
_MAX_TILT = math.radians(15)  # [rad], as for the strict success of tasks
_LEAST_HEIGHT = 0.7  # [-], of the height at the start: below, legs gave way
_STIFFER = (3.0, 10.0, 100.0)  # [-], to see whether stiffer servos would hold it
_NUDGE = math.radians(1)  # [rad], that a standing robot must bear
_CLOSE = 0.25  # [-], share of the tolerances of a reached pose
_SPEED_FACTOR = 3.0  # [-], on the speeds of a robot at rest: its joints may tremble


@dataclass(frozen=True, eq=False)
class Stance:
    """How a robot stands.

    Args:
        qpos: (nq,) standing state; if the robot cannot stand, the state it was tried
            in first.
        targets: (nu,) joint targets that hold it.
        feet: Geoms that touch the floor.
        how: Where the pose is from, or why there is none, such as `its keyframe home`.
        stands: Whether the robot stands in it.
    """

    qpos: Array
    targets: Array
    feet: tuple[int, ...]
    how: str
    stands: bool = True

    def as_settings(self) -> dict[str, Any]:
        """Return the stance as JSON can hold it."""
        return {
            "qpos": self.qpos.tolist(),
            "targets": self.targets.tolist(),
            "feet": list(self.feet),
            "how": self.how,
            "stands": self.stands,
        }

    @classmethod
    def from_settings(cls, stored: dict[str, Any]) -> "Stance":
        """Return the stance that `as_settings` described."""
        return cls(
            qpos=np.array(stored["qpos"], np.float64),
            targets=np.array(stored["targets"], np.float64),
            feet=tuple(stored["feet"]),
            how=str(stored["how"]),
            stands=bool(stored["stands"]),
        )

    def check(self, model: mujoco.MjModel) -> None:
        """Raise `ValueError` if it does not belong to a model."""
        if self.qpos.shape != (model.nq,) or self.targets.shape != (model.nu,):
            raise ValueError(
                f"`qpos` must have {model.nq} numbers, `targets` {model.nu}"
            )
        if not all(0 <= foot < model.ngeom for foot in self.feet):
            raise ValueError(f"`feet` must be geoms, from 0 to {model.ngeom - 1}")


@dataclass(frozen=True, eq=False)
class _Posture:
    """A state on the floor, and targets to hold in it."""

    how: str
    written: Array
    qpos: Array
    targets: Array


def find_stance(robot: "Robot") -> Stance:
    """Return how a robot stands, by its keyframes or by a search."""
    postures = list(_list_postures(robot))
    first = postures[0]
    floor = find_floor(robot.model)
    if floor is None:
        how = "its ground is not one plane"
        return Stance(first.written, first.targets, (), how, stands=False)
    judge = Judge(robot, floor)
    for posture in postures:
        held, stands = judge.hold(posture.qpos[None], posture.targets[None])
        if stands[0]:
            return _settle(judge, posture, held)
    from kaccess.robots.search import search_stance

    logger.info(
        "%s falls over in its keyframe and its zero pose: looking for a posture that "
        "stands",
        robot.name,
    )
    found = search_stance(robot, judge, first.qpos, first.targets)
    if found is None:
        how = _explain_fall(robot, floor, postures)
        return Stance(first.qpos, first.targets, (), how, stands=False)
    qpos, targets = found
    feet = judge.find_feet(qpos)
    return Stance(_centre(qpos), targets, feet, "a posture found by search")


def _explain_fall(robot: "Robot", floor: int, postures: "list[_Posture]") -> str:
    """Say why a robot falls over: its servos may be too soft."""
    for factor in _STIFFER:
        model = robot.model.__copy__()
        model.actuator_gainprm[:, 0] *= factor
        model.actuator_biasprm[:, 1:3] *= factor
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST  # for stiff ones
        judge = Judge(replace(robot, model=model), floor)
        for posture in postures:
            if judge.hold(posture.qpos[None], posture.targets[None])[1][0]:
                return (
                    "its servos are too soft to hold it upright; "
                    f"{factor:g} times as stiff, it stands in {posture.how}"
                )
    return "it falls over in every posture tried, a search included"


def measure_standing(robot: "Robot", qpos: Array) -> float:
    """Return the height of the centre of mass in a state, put on the floor [m]."""
    floor = find_floor(robot.model)
    data = _make_data(robot, qpos if floor is None else place_on_floor(robot, qpos))
    base = robot.model.jnt_bodyid[0]
    return float(data.subtree_com[base, 2] - _find_floor_height(robot, floor))


def place_on_floor(robot: "Robot", qpos: Array) -> Array:
    """Return a state, (nq,), with its lowest part on the floor."""
    floor = find_floor(robot.model)
    if floor is None or not len(robot.ground_geoms):
        return qpos
    data, placed = _make_data(robot, qpos), qpos.copy()
    far = 10.0 * float(robot.drop_height) + 10.0
    placed[2] -= min(
        mujoco.mj_geomDistance(robot.model, data, floor, int(geom), far, None)
        for geom in robot.ground_geoms
    )
    return placed


def reference_key(robot: "Robot") -> int | None:
    """Return the keyframe of the standing pose; None if the model has none."""
    names = [robot.model.key(key).name for key in range(robot.model.nkey)]
    wanted = robot.config.stand_key
    if wanted is not None:
        if wanted not in names:
            known = ", ".join(name for name in names if name) or "none"
            raise InputError(
                f"{robot.name} has no keyframe {wanted!r} to stand in; its keyframes: "
                f"{known}. Choose one of them with `stand_key`, or leave it out."
            )
        return names.index(wanted)
    named = [names.index(name) for name in _STANDING_KEYS if name in names]
    return next(iter([*named, *range(len(names))]), None)


def _list_postures(robot: "Robot") -> Iterator[_Posture]:
    """Yield postures to try: a keyframe under its `ctrl` and its joints, then zero."""
    key = reference_key(robot)
    if key is not None:
        qpos, ctrl = robot.model.key_qpos[key].copy(), robot.model.key_ctrl[key].copy()
        joints = robot.get_joints(qpos[None])[0]
        name = robot.model.key(key).name
        how = f"its keyframe {name!r}" if name else "its first keyframe"
        placed = place_on_floor(robot, qpos)
        if ctrl.any() or not joints.any():  # a keyframe without `ctrl` has zeros
            yield _Posture(how, qpos, placed, ctrl)
        yield _Posture(how, qpos, placed, joints)
    if robot.config.stand_key is None:
        zero = robot.model.qpos0.copy()
        joints = robot.get_joints(zero[None])[0]
        yield _Posture("its zero pose", zero, place_on_floor(robot, zero), joints)


class Judge:
    """Holds postures of a robot, and says which of them stand.

    Args:
        robot: Robot.
        floor: Geom of its floor.
    """

    def __init__(self, robot: "Robot", floor: int) -> None:
        self._robot, self._floor = robot, floor
        self._height = _find_floor_height(robot, floor)
        self._still = robot.rough_scale.fit(StillConfig())
        self._seconds = _HOLD_TIME * math.sqrt(robot.rough_scale.length)
        self._may_touch = _find_limb_ends(robot)

    def hold(self, qpos: Array, targets: Array) -> tuple[Held, BoolArray]:
        """Hold targets, (b, nu), from states at rest, (b, nq).

        Returns:
            `(held, stands)`: the robots at the end, and which of them stand, (b,).
            Those must stand a second time, after a nudge: some fall over very slowly,
            or are balanced on a point.
        """
        held = self._hold(qpos, targets)
        stands = self._stands(held, qpos)
        rows = np.flatnonzero(stands)
        if len(rows):
            again = self._hold(_nudge(held.qpos[rows]), targets[rows])
            stands[rows] = self._stands(again, qpos[rows])
        return held, stands

    def _hold(self, qpos: Array, targets: Array) -> Held:
        return hold(
            self._robot.model, qpos, targets, seconds=self._seconds, floor=self._height
        )

    def _stands(self, held: Held, start: Array) -> BoolArray:
        """Return which robots stand at the end, (b,)."""
        still, qvel = self._still, np.abs(held.qvel) / _SPEED_FACTOR
        quiet = (
            (qvel[:, :3].max(axis=1) < still.linear_velocity)
            & (qvel[:, 3:6].max(axis=1) < still.angular_velocity)
            & (qvel[:, 6:].max(axis=1, initial=0.0) < still.joint_velocity)
        )
        upright = -gravity_in_body(held.qpos[:, 3:7])[:, 2] > math.cos(_MAX_TILT)
        high = held.qpos[:, 2] - self._height > _LEAST_HEIGHT * (
            start[:, 2] - self._height
        )
        stands = ~held.failed & quiet & upright & high
        for row in np.flatnonzero(stands):
            feet = self.find_feet(held.qpos[row])
            stands[row] = len(feet) > 0 and self._may_touch[list(feet)].all()
        return np.asarray(stands)

    def find_feet(self, qpos: Array) -> tuple[int, ...]:
        """Return the geoms that touch the floor in a state, (nq,)."""
        data = _make_data(self._robot, qpos)
        return tuple(map(int, find_floor_contacts(data, self._floor)))


def _settle(judge: Judge, posture: _Posture, held: Held) -> Stance:
    """Return the stance of a posture that stands.

    A keyframe that is close to where it comes to rest is taken as it is written.
    """
    rest, feet = held.qpos[0], judge.find_feet(held.qpos[0])
    if _is_close(judge, posture.written, rest):
        return Stance(posture.written, posture.targets, feet, posture.how)
    return Stance(_centre(rest), posture.targets, feet, posture.how)


def _nudge(qpos: Array) -> Array:
    """Return states, (b, nq), tilted a little, forwards and sideways."""
    nudged, tilt = qpos.copy(), quat_from_roll_pitch(np.array(_NUDGE), np.array(_NUDGE))
    for state in nudged:
        mujoco.mju_mulQuat(state[3:7], tilt, state[3:7].copy())
    return nudged


def _centre(qpos: Array) -> Array:
    """Return a state, (nq,), above the origin."""
    centred = qpos.copy()
    centred[:2] = 0.0
    return centred


def _is_close(judge: Judge, qpos: Array, rest: Array) -> bool:
    robot = judge._robot
    tolerance = robot.rough_scale.fit(AccessConfig())
    joints = robot.get_joints(np.array([qpos, rest]))
    gravity = gravity_in_body(np.array([qpos[3:7], rest[3:7]]))
    return bool(
        abs(qpos[2] - rest[2]) < _CLOSE * tolerance.height_tol
        and np.linalg.norm(joints[0] - joints[1]) < _CLOSE * tolerance.joint_tol
        and np.linalg.norm(gravity[0] - gravity[1]) < _CLOSE * tolerance.gravity_tol
    )


def _find_limb_ends(robot: "Robot") -> BoolArray:
    """Return which geoms may be feet, (ngeom,): limbs given, else the ends of limbs."""
    model = robot.model
    limbs = find_limbs(model, np.arange(model.ngeom))
    if robot.given_feet is not None:
        return np.isin(limbs, limbs[list(robot.given_feet)])
    bodies = np.unique(model.body_weldid)
    parents = model.body_weldid[model.body_parentid[bodies]]
    return np.asarray(~np.isin(limbs, parents))


def _make_data(robot: "Robot", qpos: Array) -> mujoco.MjData:
    data = mujoco.MjData(robot.model)
    data.qpos[:] = qpos
    mujoco.mj_fwdPosition(robot.model, data)
    return data


def _find_floor_height(robot: "Robot", floor: int | None) -> float:
    """Return the height of the floor [m]; 0 if the ground is not one plane."""
    if floor is None:
        return 0.0
    data = mujoco.MjData(robot.model)
    mujoco.mj_kinematics(robot.model, data)
    return float(data.geom_xpos[floor, 2])
