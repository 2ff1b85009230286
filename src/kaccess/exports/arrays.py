"""What the file of exported starts holds, by name; docs/export.md lists it."""

import json

import numpy as np

from kaccess.access import Plan
from kaccess.base.errors import InputError
from kaccess.base.rotations import gravity_in_body
from kaccess.robots import Robot
from kaccess.robots.servos import SCALAR_JOINTS
from kaccess.starts import InitialStates
from kaccess.study import Study

__all__ = ["describe_routes", "describe_source", "describe_states"]

_Arrays = dict[str, np.ndarray]


def describe_states(robot: Robot, states: InitialStates) -> _Arrays:
    """Return the states, their probabilities, and the joints in the order of qpos.

    The states are at rest, so all velocities are zero. `root_velocity` is in the world
    frame, as most frameworks want it; qvel has the angular velocity in the body frame.
    """
    k = len(states)
    return {
        "qpos": states.qpos,
        "qvel": np.zeros((k, robot.model.nv)),
        "root_velocity": np.zeros((k, 6)),
        "weights": states.weights,
        "names": np.array(states.names),
        "joint_names": np.array(_list_joints(robot)),
    }


def _list_joints(robot: Robot) -> list[str]:
    """Return the names of all joints but the free one, in the order of qpos.

    Raises:
        InputError: If a joint has no name, or more than one degree of freedom.
    """
    joints = [robot.model.joint(joint) for joint in range(1, robot.model.njnt)]
    for joint in joints:
        if not (np.isin(joint.type, SCALAR_JOINTS).all() and joint.name):
            what = "no name" if not joint.name else "more than one degree of freedom"
            raise InputError(
                f"Joint {joint.name or joint.id!r} of {robot.name} has {what}: other "
                "frameworks find joints by name, each with one position. Change it in "
                "the model, and make a new study."
            )
    return [joint.name for joint in joints]


def describe_routes(robot: Robot, states: InitialStates, plan: Plan) -> _Arrays:
    """Return the tables of the guide, and its first targets from each state."""
    gravity = gravity_in_body(states.qpos[:, 3:7])
    command, *_ = plan.choose(gravity, robot.get_joints(states.qpos))
    return {
        "next_targets": plan.commands.postures[command],
        "next_seconds": plan.commands.seconds[command],
        "target_names": np.array(robot.joint_names),
        **plan.list_tables(),
    }


def describe_source(study: Study, starts: str) -> _Arrays:
    """Return where the states come from: robot, hash of its model, versions, study."""
    source = {
        "robot": study.robot.name,
        "file": study.settings["robot"],
        "study": str(study.path),
        "starts": starts,
        "versions": study.settings["versions"],
        "sample": study.settings["sample"],
    }
    return {
        "model": np.array(study.robot.fingerprint),
        "source": np.array(json.dumps(source)),
    }
