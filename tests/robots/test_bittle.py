"""Bittle's model has the measured weights, heights, signs, rest poses, symmetry."""

import mujoco
import numpy as np
import pytest

from kaccess.config import StillConfig
from kaccess.engines.still import is_quiet
from kaccess.robots import find_mirror, load_robot

LEGS = ("lf", "rf", "rr", "lr")
# Stock OpenCat postures: front and rear shoulder, front and rear knee [deg].
POSTURES = {
    "balance": (30, 30, 30, 30),
    "calib": (0, 0, 0, 0),
    "rest": (75, 75, -55, -55),
    "sit": (45, 105, 45, -45),
    "stretch": (-75, 30, 60, 0),
    "lifted": (60, 75, 45, 75),
    "dropped": (-75, 45, 60, -30),
    "landing": (60, 80, -20, -30),
}


def hold(model, key, seconds):
    """Simulate a keyframe with its targets."""
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key(key).id)
    for _ in range(round(seconds / model.opt.timestep)):
        mujoco.mj_step(model, data)
    return data


def forward(model, joints_deg):
    data = mujoco.MjData(model)
    data.qpos[2] = 1.0  # clear of the ground
    data.qpos[7:] = np.radians(joints_deg)
    mujoco.mj_forward(model, data)
    return data


def sensor(data, name):
    return data.sensor(name).data


def test_masses_are_the_measured_ones(bittle):
    model = bittle.model
    assert mujoco.mj_getTotalmass(model) == pytest.approx(0.2735, rel=0.01)
    thighs = [model.body(f"{leg}_thigh").mass[0] for leg in LEGS]
    np.testing.assert_allclose(thighs, 0.006)
    assert model.body("torso").mass[0] == pytest.approx(0.1935)


def test_the_centre_of_mass_of_the_torso_follows_from_its_weighed_parts(bittle):
    """Frame, shoulder servos, battery and head, each at its CAD position [g, mm]."""
    mass = np.array([77.0, 42.8, 55.0, 18.7])
    place = np.array([[0.7, 4.5], [0, 3.0], [6.0, -4.0], [63.4, 27.3]])
    centre = mass @ place / mass.sum() / 1000
    np.testing.assert_allclose(
        bittle.model.body("torso").ipos[[0, 2]], centre, atol=0.001
    )


def test_eight_position_actuators_are_in_the_order_of_qpos(bittle):
    assert bittle.joint_names == tuple(
        f"{leg}_{joint}" for leg in LEGS for joint in ("shoulder", "knee")
    )
    np.testing.assert_array_equal(bittle.joint_adr, np.arange(7, 15))
    np.testing.assert_allclose(bittle.model.actuator_forcerange, [[-0.29, 0.29]] * 8)
    assert bittle.timestep == pytest.approx(1 / 300)


def test_joint_ranges_are_those_of_the_paper_and_the_measured_ones(bittle):
    paper = np.degrees(bittle.joint_range).reshape(4, 2, 2)
    np.testing.assert_allclose(paper, [[[-150, 150], [-60, 240]]] * 4)
    real = np.degrees(load_robot("bittle-real").joint_range).reshape(4, 2, 2)
    np.testing.assert_allclose(real[:2], [[[-125, 70], [-60, 125]]] * 2)
    np.testing.assert_allclose(real[2:], [[[-35, 125], [-45, 125]]] * 2)


def test_the_two_bittles_differ_in_their_joint_ranges_only(bittle):
    real = load_robot("bittle-real")
    assert real.fingerprint != bittle.fingerprint
    model = real.model.__copy__()
    model.jnt_range[:] = bittle.model.jnt_range
    model.actuator_ctrlrange[:] = bittle.model.actuator_ctrlrange
    same = type(real)("same", model, real.drop_height)
    assert same.fingerprint == bittle.fingerprint


def test_in_the_zero_pose_each_foot_is_ahead_of_its_knee(bittle):
    data = forward(bittle.model, [0] * 8)
    for leg in LEGS:
        knee = data.joint(f"{leg}_knee").xanchor
        shoulder = data.joint(f"{leg}_shoulder").xanchor
        foot = data.geom(f"{leg}_foot").xpos
        np.testing.assert_allclose(knee[[0, 2]] - shoulder[[0, 2]], [0, -0.046])
        np.testing.assert_allclose(foot - knee, [0.048, 0, 0], atol=1e-9)


def test_positive_angles_move_thighs_back_and_stretch_knees(bittle):
    zero, turned = forward(bittle.model, [0] * 8), forward(bittle.model, [20, 0] * 4)
    stretched = forward(bittle.model, [0, 90] * 4)
    for leg in LEGS:
        before, after = (d.joint(f"{leg}_knee").xanchor[0] for d in (zero, turned))
        assert after < before - 0.01
        knee = stretched.joint(f"{leg}_knee").xanchor
        foot = stretched.geom(f"{leg}_foot").xpos
        np.testing.assert_allclose(foot - knee, [0, 0, -0.048], atol=1e-9)


def test_shoulder_axes_are_where_they_are_in_the_cad_model(bittle):
    data = forward(bittle.model, [0] * 8)
    anchors = [data.joint(f"{leg}_shoulder").xanchor - [0, 0, 1] for leg in LEGS]
    np.testing.assert_allclose(np.abs(anchors), [[0.0525, 0.0485, 0]] * 4, atol=1e-9)


def test_bittle_stands_still_at_the_measured_height(bittle):
    data = hold(bittle.model, "stand", 2.0)
    assert is_quiet(data.qvel, StillConfig())
    assert data.qpos[2] == pytest.approx(0.087, abs=0.003)
    assert data.qpos[3] == pytest.approx(1.0, abs=0.001)
    assert all(sensor(data, f"{leg}_foot_touch") > 0 for leg in LEGS)
    assert sensor(data, "torso_touch") == 0


@pytest.mark.parametrize(
    ("key", "gravity"),
    [
        ("belly", [0, 0, -1]),
        ("back", [0, 0, 1]),
        ("left", [0, 1, 0]),
        ("right", [0, -1, 0]),
        ("kneel", [0.46, 0, -0.89]),
        ("straight", [0, 0, -1]),
        ("spread", [0, 0, -1]),
        ("crouch", [0, 0, -1]),
    ],
)
def test_bittle_is_at_rest_in_every_other_keyframe(bittle, key, gravity):
    data = hold(bittle.model, key, 2.0)
    assert is_quiet(data.qvel, StillConfig())
    np.testing.assert_allclose(-sensor(data, "up"), gravity, atol=0.2)
    start = bittle.model.key(key).qpos
    np.testing.assert_allclose(data.qpos[2:], start[2:], atol=0.005)


@pytest.mark.parametrize("posture", POSTURES)
def test_stock_postures_have_no_self_contact(bittle, posture):
    front, rear, front_knee, rear_knee = POSTURES[posture]
    joints = [front, front_knee] * 2 + [rear, rear_knee] * 2
    assert forward(bittle.model, joints).ncon == 0


@pytest.mark.parametrize(
    ("joint", "limit", "direction"),
    [
        ("lf_shoulder", 70, 1),
        ("lf_knee", -60, -1),
        ("rr_shoulder", -35, -1),
        ("rr_knee", -45, -1),
    ],
)
def test_legs_touch_the_body_near_the_measured_limits(bittle, joint, limit, direction):
    """From the zero pose, within 20 degrees: the limits were measured by hand."""
    index = bittle.joint_names.index(joint)
    joints = np.zeros(8)
    joints[index] = limit
    assert forward(bittle.model, joints).ncon == 0
    joints[index] = limit + 20 * direction
    assert forward(bittle.model, joints).ncon > 0


def test_sensors_measure_what_rewards_need(bittle):
    data = forward(bittle.model, [0, 90] * 4)
    np.testing.assert_allclose(sensor(data, "up"), [0, 0, 1], atol=1e-9)
    assert sensor(data, "position")[2] == pytest.approx(1.0)
    feet = [sensor(data, f"{leg}_foot_distance")[0] for leg in LEGS]
    np.testing.assert_allclose(feet, 1.0 - 0.046 - 0.048 - 0.0055)
    assert sensor(data, "torso_distance")[0] == pytest.approx(1.0 - 0.0124)
    assert sensor(data, "gyro").shape == (3,)
    data.ctrl[:] = bittle.joint_range[:, 1]
    mujoco.mj_forward(bittle.model, data)
    torques = [sensor(data, f"{name}_torque")[0] for name in bittle.joint_names]
    np.testing.assert_allclose(torques, 0.29)


def test_mirrored_states_move_as_mirror_images(bittle):
    """Half a second of a fall to the ground, with moving legs."""
    mirror, model = find_mirror(bittle), bittle.model
    rng = np.random.default_rng(0)
    qpos = np.array(model.key("stand").qpos)[None]
    qpos[:, 2] = 0.12
    qpos[:, 3:7] = [0.9, 0.3, 0.2, 0.0] / np.linalg.norm([0.9, 0.3, 0.2, 0.0])
    targets = rng.uniform(*bittle.joint_range.T)[None]

    ends = []
    for start, target in (
        (qpos, targets),
        (mirror.reflect_qpos(qpos), mirror.reflect_joints(targets)),
    ):
        data = mujoco.MjData(model)
        data.qpos[:], data.ctrl[:] = start[0], target[0]
        for _ in range(150):
            mujoco.mj_step(model, data)
        ends.append(np.array(data.qpos)[None])
    assert np.abs(ends[0] - qpos).max() > 0.05
    np.testing.assert_allclose(mirror.reflect_qpos(ends[0]), ends[1], atol=1e-6)
