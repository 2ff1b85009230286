"""Servos: position actuators of stiffness kp and damping kd, one on each driven joint.

All stages command joint targets, so other actuators become servos on their joints. A
torque motor gives full torque at an error of 0.4 rad, or is as stiff as m g L (weight
times standing height) if that is more. Its damping is a twentieth of its stiffness. A
model without actuators gets a servo on each joint.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import BoolArray
from kaccess.config import RobotConfig

__all__ = ["SCALAR_JOINTS", "add_servos", "is_servo"]

SCALAR_JOINTS = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
_JOINT_KINDS = (
    int(mujoco.mjtTrn.mjTRN_JOINT),
    int(mujoco.mjtTrn.mjTRN_JOINTINPARENT),
)
_FULL_TORQUE_ERROR = 0.4  # [rad], at which a motor gives all its torque
_LEAST_ERROR = 0.05  # [rad], the same of the stiffest motors
_DAMPING_TIME = 0.05  # [s], of the damping over the stiffness
# A torque limit beyond this multiple of m g L is a placeholder: it limits nothing.
_MOST_TORQUE = 20.0


@dataclass(frozen=True)
class _Servo:
    """A servo on a joint: stiffness, damping and torque limit (inf for none).

    It has a range of targets if the actuator has one; else that of its joint.
    """

    joint: int
    kp: float
    kd: float
    limit: float
    targets: tuple[float, float] | None = None


def is_servo(model: mujoco.MjModel) -> BoolArray:
    """Return whether each actuator is a plain servo on a joint of its own, (nu,)."""
    on_joint = model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT
    joints = np.where(on_joint, model.actuator_trnid[:, 0], 0)
    alone = np.bincount(joints, minlength=model.njnt)[joints] == 1
    return np.asarray(
        on_joint
        & np.isin(model.jnt_type[joints], SCALAR_JOINTS)
        & (model.actuator_gear[:, 0] == 1.0)
        & (model.actuator_dyntype == mujoco.mjtDyn.mjDYN_NONE)
        & _holds_position(model)
        & alone
    )


def add_servos(
    spec: mujoco.MjSpec, model: mujoco.MjModel, config: RobotConfig, *, height: float
) -> list[str]:
    """Turn the actuators of a spec into servos, and return what was changed.

    Args:
        spec: Model to change.
        model: The same model, compiled.
        config: Stiffness and damping, if the user has set them.
        height: Height of the standing robot [m], for joints without torque limits.
    """
    given = config.kp is not None or config.kd is not None
    if model.nu and is_servo(model).all() and not given:
        return []
    weight = float(mujoco.mj_getTotalmass(model) * 9.81 * height)
    notes = []
    if not model.nu:
        notes = _add_to_joints(spec, model, config, weight)
    else:
        notes = _convert(spec, model, config, weight)
    if spec.option.integrator == mujoco.mjtIntegrator.mjINT_EULER:
        # Euler's method is unstable with the damping of servos on light links.
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    return notes


def _holds_position(model: mujoco.MjModel) -> BoolArray:
    """Return which actuators pull towards their control, (nu,)."""
    return np.asarray(
        (model.actuator_gaintype == mujoco.mjtGain.mjGAIN_FIXED)
        & (model.actuator_biastype == mujoco.mjtBias.mjBIAS_AFFINE)
        & (model.actuator_gainprm[:, 0] > 0)
        & np.isclose(model.actuator_biasprm[:, 1], -model.actuator_gainprm[:, 0])
    )


def _takes_targets(model: mujoco.MjModel) -> BoolArray:
    """Return which of these have a position as control, (nu,), not a velocity."""
    integrates = model.actuator_dyntype == mujoco.mjtDyn.mjDYN_INTEGRATOR
    return np.asarray(_holds_position(model) & ~integrates)


def _convert(
    spec: mujoco.MjSpec, model: mujoco.MjModel, config: RobotConfig, weight: float
) -> list[str]:
    """Turn each actuator into a servo on its joint."""
    joints = [_find_joint(model, actuator) for actuator in range(model.nu)]
    keep = _choose_one_per_joint(model, joints)
    holds = _holds_position(model)
    servos = {each: _make_servo(model, each, joints[each], weight) for each in keep}
    ratios = {each: _get_ratio(model, each) for each in keep}
    _convert_keys(spec, model, joints, keep, ratios)
    for number, actuator in enumerate(list(spec.actuators)):  # ids change by deletion
        if number in servos:
            _write(spec, actuator, model, _set_gains(servos[number], config))
        else:
            spec.delete(actuator)
    return _describe([servos[each] for each in keep], holds[keep], config)


def _add_to_joints(
    spec: mujoco.MjSpec, model: mujoco.MjModel, config: RobotConfig, weight: float
) -> list[str]:
    """Add a servo to each joint that no constraint couples to another."""
    coupled = set(_find_coupled(model))
    scalar = np.flatnonzero(np.isin(model.jnt_type, SCALAR_JOINTS))
    servos = [
        _make_gains(model, int(joint), np.inf, weight)
        for joint in scalar
        if int(joint) not in coupled
    ]
    for key in spec.keys:
        joints = [model.jnt_qposadr[servo.joint] for servo in servos]
        key.ctrl = model.key_qpos[spec.keys.index(key)][joints] if model.nkey else []
    for servo in servos:
        _write(spec, spec.add_actuator(), model, _set_gains(servo, config))
    if not servos:
        return []
    gains = _say_gains(servos)
    return [f"It has no actuators, so {len(servos)} joints got servos{gains}."]


def _find_joint(model: mujoco.MjModel, actuator: int) -> int:
    """Return the joint that an actuator drives, also through a tendon."""
    kind, target = model.actuator_trntype[actuator], model.actuator_trnid[actuator, 0]
    joint = -1
    if kind in _JOINT_KINDS:
        joint = int(target)
    elif kind == mujoco.mjtTrn.mjTRN_TENDON and model.tendon_num[target] == 1:
        wrap = model.tendon_adr[target]
        if model.wrap_type[wrap] == mujoco.mjtWrap.mjWRAP_JOINT:
            joint = int(model.wrap_objid[wrap])
    if joint < 0 or model.jnt_type[joint] not in SCALAR_JOINTS:
        name = model.actuator(actuator).name or f"number {actuator}"
        raise InputError(
            f"its actuator {name!r} cannot become a servo: it must drive one hinge or "
            f"slide, but drives {_describe_target(model, actuator)}. Replace it with "
            "<position joint=.../>."
        )
    return joint


def _describe_target(model: mujoco.MjModel, actuator: int) -> str:
    kind = mujoco.mjtTrn(model.actuator_trntype[actuator])
    target = int(model.actuator_trnid[actuator, 0])
    if kind == mujoco.mjtTrn.mjTRN_TENDON:
        return f"the tendon {model.tendon(target).name!r} over several joints"
    if int(kind) in _JOINT_KINDS:
        return f"the ball or free joint {model.joint(target).name!r}"
    return f"a {kind.name.removeprefix('mjTRN_').lower()}"


def _choose_one_per_joint(model: mujoco.MjModel, joints: Sequence[int]) -> list[int]:
    """Return one actuator of each joint, preferably one that holds a position."""
    holds = _holds_position(model)
    chosen: dict[int, int] = {}
    for actuator in sorted(range(len(joints)), key=lambda each: not holds[each]):
        chosen.setdefault(joints[actuator], actuator)
    return sorted(chosen.values())


def _get_ratio(model: mujoco.MjModel, actuator: int) -> float:
    """Return the gear ratio between an actuator and its joint."""
    ratio = float(model.actuator_gear[actuator, 0])
    if model.actuator_trntype[actuator] == mujoco.mjtTrn.mjTRN_TENDON:
        tendon = model.actuator_trnid[actuator, 0]
        ratio *= float(model.wrap_prm[model.tendon_adr[tendon]])
    if ratio == 0:
        name = model.actuator(actuator).name or f"number {actuator}"
        raise InputError(
            f"its actuator {name!r} has gear 0 and moves nothing. Remove it."
        )
    return ratio


def _make_servo(
    model: mujoco.MjModel, actuator: int, joint: int, weight: float
) -> _Servo:
    """Return the servo that takes the place of an actuator."""
    ratio = abs(_get_ratio(model, actuator))
    limit = np.inf
    if model.actuator_forcelimited[actuator]:
        limit = float(np.abs(model.actuator_forcerange[actuator]).max()) * ratio
    if _holds_position(model)[actuator]:
        kp = float(model.actuator_gainprm[actuator, 0]) * ratio**2
        kd = max(-float(model.actuator_biasprm[actuator, 2]), 0.0) * ratio**2
        kd += _sum_damping(model, joint)
        return _Servo(joint, kp, kd, limit, _find_targets(model, actuator))
    if model.actuator_ctrllimited[actuator]:
        gain = abs(float(model.actuator_gainprm[actuator, 0]))
        most = float(np.abs(model.actuator_ctrlrange[actuator]).max())
        limit = min(limit, gain * most * ratio)
    return _make_gains(model, joint, limit, weight)


def _sum_damping(model: mujoco.MjModel, joint: int) -> float:
    """Return the damping by velocity actuators beside a servo; they are left out."""
    damps = (
        (model.actuator_biastype == mujoco.mjtBias.mjBIAS_AFFINE)
        & (model.actuator_biasprm[:, 1] == 0)
        & (model.actuator_biasprm[:, 2] < 0)
    )
    return sum(
        -float(model.actuator_biasprm[each, 2]) * _get_ratio(model, each) ** 2
        for each in map(int, np.flatnonzero(damps))
        if _find_joint(model, each) == joint
    )


def _find_targets(model: mujoco.MjModel, actuator: int) -> tuple[float, float] | None:
    """Return the range of the joint targets of an actuator; None if it has none."""
    if not (model.actuator_ctrllimited[actuator] and _takes_targets(model)[actuator]):
        return None
    low, high = sorted(
        float(end) / _get_ratio(model, actuator)
        for end in model.actuator_ctrlrange[actuator]
    )
    return low, high


def _make_gains(
    model: mujoco.MjModel, joint: int, limit: float, weight: float
) -> _Servo:
    """Return a servo with gains that follow from its torque limit."""
    if model.jnt_actfrclimited[joint]:
        limit = min(limit, float(np.abs(model.jnt_actfrcrange[joint]).max()))
    if not 0 < limit < _MOST_TORQUE * weight:
        limit = weight
    # Two ankles hold a robot upright only if each is about as stiff as m g L.
    stiff = min(weight, limit / _LEAST_ERROR)
    kp = max(limit / _FULL_TORQUE_ERROR, stiff)
    return _Servo(joint, kp, kp * _DAMPING_TIME, limit)


def _set_gains(servo: _Servo, config: RobotConfig) -> _Servo:
    kp = servo.kp if config.kp is None else config.kp
    kd = servo.kd if config.kp is None else kp * _DAMPING_TIME
    return replace(servo, kp=kp, kd=kd if config.kd is None else config.kd)


def _write(
    spec: mujoco.MjSpec,
    actuator: mujoco.MjsActuator,
    model: mujoco.MjModel,
    servo: _Servo,
) -> None:
    """Make an actuator of a spec a servo."""
    joint = model.joint(servo.joint)
    actuator.set_to_position(kp=servo.kp, kv=servo.kd)
    actuator.trntype = mujoco.mjtTrn.mjTRN_JOINT
    actuator.target = joint.name
    actuator.name = actuator.name or f"{joint.name}_servo"
    actuator.gear[:] = [1, 0, 0, 0, 0, 0]
    actuator.inheritrange = 0.0
    targets = servo.targets
    if targets is None and model.jnt_limited[servo.joint]:
        targets = tuple(model.jnt_range[servo.joint])
    actuator.ctrllimited = targets is not None
    actuator.ctrlrange = targets or (0.0, 0.0)
    has_limit = bool(np.isfinite(servo.limit))
    actuator.forcelimited = has_limit
    actuator.forcerange = [-servo.limit, servo.limit] if has_limit else [0, 0]


def _convert_keys(
    spec: mujoco.MjSpec,
    model: mujoco.MjModel,
    joints: Sequence[int],
    keep: Sequence[int],
    ratios: dict[int, float],
) -> None:
    """Give keyframes the targets of servos: old targets, or the joint positions."""
    has_target = _takes_targets(model)
    for number, key in enumerate(spec.keys):
        ctrl = [
            model.key_ctrl[number, each] / ratios[each]
            if has_target[each]
            else model.key_qpos[number, model.jnt_qposadr[joints[each]]]
            for each in keep
        ]
        key.ctrl, key.act = ctrl, []


def _find_coupled(model: mujoco.MjModel) -> Iterator[int]:
    """Yield the joints that an equality constraint makes follow another one."""
    for number in range(model.neq):
        if model.eq_type[number] == mujoco.mjtEq.mjEQ_JOINT:
            yield int(model.eq_obj1id[number])


def _describe(
    servos: Sequence[_Servo],
    holds: BoolArray,
    config: RobotConfig,
) -> list[str]:
    """Say which actuators became servos."""
    used = [_set_gains(servo, config) for servo in servos]
    motors = [servo for servo, is_held in zip(used, holds, strict=True) if not is_held]
    notes = []
    if motors:
        notes.append(f"{len(motors)} motors became servos{_say_gains(motors)}")
    n_other = len(servos) - len(motors)
    if n_other and (config.kp is not None or config.kd is not None):
        notes.append(f"{len(used)} servos have the gains given{_say_gains(used)}")
    elif n_other:
        notes.append(f"{n_other} position actuators became plain servos, without gears")
    return [f"{note}." for note in notes]


def _say_gains(servos: Sequence[_Servo]) -> str:
    """Return the ranges of stiffness and damping as text."""
    return f" (kp {_say_range([each.kp for each in servos])} N m/rad, kd " + (
        f"{_say_range([each.kd for each in servos])} N m s/rad)"
    )


def _say_range(values: Sequence[float]) -> str:
    low, high = f"{min(values):.3g}", f"{max(values):.3g}"
    return low if low == high else f"{low} to {high}"
