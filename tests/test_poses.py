import dataclasses

import numpy as np
import pytest

import kaccess.poses
from kaccess import InputError, SampleConfig, make_engine, sample_poses
from kaccess.engines import Settled
from kaccess.engines.mujoco import MujocoEngine
from kaccess.poses import draw_poses
from kaccess.robots import Robot, find_mirror


def test_poses_are_at_rest_on_the_ground_at_the_origin(any_robot):
    poses = sample_poses(any_robot, 8, seed=1)
    assert poses.qpos.shape == (8, any_robot.model.nq)
    np.testing.assert_array_equal(poses.qpos[:, :2], 0.0)
    assert poses.contacts.any(axis=1).all()
    np.testing.assert_allclose(np.linalg.norm(poses.gravity, axis=1), 1.0)
    assert (poses.height > 0).all()
    # A robot that holds the joints of a pose stays there: servos may sag a little.
    held = make_engine("mujoco", any_robot).settle(
        poses.qpos, poses.joints, time_limit=2.0
    )
    assert np.isfinite(held.time).all()
    assert np.abs(held.qpos[:, 2] - poses.height).max() < 0.02


def test_poses_have_no_yaw(poses):
    """The body's x axis has no y component."""
    w, x, y, z = poses.qpos[:, 3:7].T
    forward_y = 2 * (x * y + w * z)
    np.testing.assert_allclose(forward_y, 0.0, atol=1e-9)


def test_a_seed_gives_the_same_poses_for_any_batch_size(bittle, engine, poses):
    for n_threads, n_slots in ((1, 5), (2, 64)):
        other = MujocoEngine(bittle, n_threads=n_threads, n_slots=n_slots)
        again = sample_poses(bittle, 10, seed=3, engine=other)
        np.testing.assert_array_equal(again.qpos, poses.qpos)


def test_a_larger_n_keeps_the_earlier_poses(bittle, engine, poses):
    more = sample_poses(bittle, 70, seed=3, engine=engine)
    np.testing.assert_array_equal(more.qpos[:10], poses.qpos)
    np.testing.assert_array_equal(more.contacts[:10], poses.contacts)


def test_another_seed_gives_other_poses(bittle, engine, poses):
    other = sample_poses(bittle, 10, seed=4, engine=engine)
    assert (other.qpos != poses.qpos).any(axis=1).all()


@pytest.mark.parametrize("draw", ["move", "teleport"])
def test_every_candidate_is_counted(bittle, engine, draw):
    config = SampleConfig(n=20, draw=draw)
    _, draws = draw_poses(bittle, config, engine=engine)
    counts = dataclasses.asdict(draws)
    assert counts.pop("drawn") == sum(counts.values())
    assert draws.kept == 20
    assert (draws.colliding > 0) == (draw == "teleport")


def test_teleported_poses_keep_the_drawn_joints(tiny):
    config = SampleConfig(n=30, draw="teleport")
    poses, _ = draw_poses(tiny, config, engine=make_engine("mujoco", tiny))
    drawn = np.random.default_rng([0, 0])
    drawn.uniform(size=128)  # roll and pitch of a block come first
    joints = drawn.uniform(*tiny.joint_range.T, (64, 2))
    gap = np.abs(poses.joints[:, None] - joints[None]).max(axis=2).min(axis=1)
    assert np.median(gap) < 0.1


class FakeEngine:
    """Joints move half-way to their targets, and robots rest on the ground.

    Args:
        restless: Rows that do not come to rest in the first call.
        airborne: Rows that come to rest in the air in the first call.
    """

    batch_size = 2048

    def __init__(self, robot, *, restless=(), airborne=()):
        self.robot, self.calls = robot, []
        self.restless, self.airborne = list(restless), list(airborne)

    def settle(self, qpos, targets, *, time_limit):
        self.calls.append((qpos.copy(), targets.copy()))
        end = qpos.copy()
        end[:, 2] = 0.03
        end[:, 3:7] = [1, 0, 0, 0]
        end[:, self.robot.joint_adr] += targets
        end[:, self.robot.joint_adr] /= 2
        time = np.zeros(len(qpos))
        if len(self.calls) == 1:
            time[self.restless] = np.inf
            end[self.airborne, 2] = 5.0
        return Settled(end, time, np.zeros(len(qpos), bool))


def test_a_move_starts_standing_and_then_holds_the_joints_reached(tiny):
    engine = FakeEngine(tiny)
    config = SampleConfig(n=10, drop_height=0.7)
    poses, _ = draw_poses(tiny, config, engine=engine)
    (start, commanded), (lying, held) = engine.calls
    np.testing.assert_array_equal(start[:, 2], 0.7)
    standing = tiny.get_joints(tiny.standing[None])
    np.testing.assert_array_equal(tiny.get_joints(start), standing.repeat(64, axis=0))
    np.testing.assert_allclose(tiny.get_joints(lying), (standing + commanded) / 2)
    np.testing.assert_array_equal(held, tiny.get_joints(lying))
    np.testing.assert_allclose(poses.joints, held[:10])


def test_candidates_that_do_not_rest_on_the_ground_are_discarded(tiny):
    engine = FakeEngine(tiny, restless=[0, 3], airborne=[1])
    poses, draws = draw_poses(tiny, SampleConfig(n=10), engine=engine)
    kept = [2, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    standing = tiny.get_joints(tiny.standing[None])
    expected = (standing + engine.calls[0][1][kept]) / 2
    np.testing.assert_allclose(poses.joints, expected)
    assert (draws.drawn, draws.restless, draws.airborne) == (13, 2, 1)


def test_teleported_robots_do_not_start_in_self_collision(bittle):
    engine = FakeEngine(bittle)
    _, draws = draw_poses(bittle, SampleConfig(n=8, draw="teleport"), engine=engine)
    assert draws.colliding > 0
    for start, targets in engine.calls:
        assert not bittle.find_contacts(start)[1].any()
        np.testing.assert_array_equal(bittle.get_joints(start), targets)


def test_orientations_are_drawn_as_in_the_paper(tiny):
    roll, pitch, joints = kaccess.poses._draw(tiny, 0, range(100), 0)
    assert len(roll) == 6400
    for values, half in ((roll, np.pi), (pitch, np.pi / 2)):
        assert -half <= values.min() < -0.99 * half
        assert 0.99 * half < values.max() <= half
    low, high = tiny.joint_range.T
    np.testing.assert_allclose(joints.min(axis=0), low, atol=0.01)
    np.testing.assert_allclose(joints.max(axis=0), high, atol=0.01)


def test_some_of_the_poses_are_used_the_same_each_time(tiny):
    engine = make_engine("mujoco", tiny)
    everything, drawn = draw_poses(tiny, SampleConfig(n=30), engine=engine)
    config = SampleConfig(n=30, use=12)
    used, draws = draw_poses(tiny, config, engine=engine)
    again, _ = draw_poses(tiny, config, engine=engine)
    np.testing.assert_array_equal(used.qpos, again.qpos)
    drawn_qpos = everything.qpos.tolist()
    rows = [drawn_qpos.index(qpos) for qpos in used.qpos.tolist()]
    assert len(set(rows)) == 12 and rows == sorted(rows)
    assert rows != list(range(12))  # a random choice, not the first ones
    assert draws == drawn and len(used.contacts) == 12
    other, _ = draw_poses(tiny, dataclasses.replace(config, seed=1), engine=engine)
    assert not np.array_equal(other.qpos, used.qpos)


def test_pairs_stay_together_if_only_some_are_used(bittle, engine):
    config = SampleConfig(n=12, use=4, mirror=True)
    poses, _ = draw_poses(bittle, config, engine=engine)
    mirror = find_mirror(bittle)
    assert len(poses) == 4 and poses.mirrored
    np.testing.assert_array_equal(
        poses.qpos[1::2], mirror.reflect_qpos(poses.qpos[::2])
    )


def test_mirrored_poses_come_in_pairs(bittle, engine):
    config = SampleConfig(n=8, mirror=True)
    poses, _ = draw_poses(bittle, config, engine=engine)
    single = sample_poses(bittle, 4, engine=engine)
    np.testing.assert_array_equal(poses.qpos[::2], single.qpos)
    mirror = find_mirror(bittle)
    np.testing.assert_array_equal(poses.qpos[1::2], mirror.reflect_qpos(single.qpos))
    np.testing.assert_allclose(poses.roll[1::2], -poses.roll[::2])
    other = {"lf": "rf", "rf": "lf", "lr": "rr", "rr": "lr"}
    partner = [
        bittle.parts.index(other.get(part[:2], part[:2]) + part[2:])
        for part in bittle.parts
    ]
    np.testing.assert_array_equal(poses.contacts[1::2], poses.contacts[::2, partner])


def test_a_robot_that_never_rests_is_an_error(tiny):
    model = tiny.model.__copy__()
    model.opt.gravity[:] = 0.0
    model.opt.wind[:] = [5.0, 0, 0]
    model.opt.density = 100.0
    robot = Robot("kite", model, 0.3)
    with pytest.raises(InputError, match=r"kite hardly ever comes to rest: of \d+"):
        sample_poses(robot, 500, config=SampleConfig(time_limit=0.2))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n": 1}, "`n` must be at least 2, got 1"),
        ({"n": 3, "mirror": True}, "`n` must be even"),
        ({"n": 8, "use": 3, "mirror": True}, "`use` must be even"),
        ({"n": 8, "use": 9}, r"`use` must be at most `n` \(8\).* got 9"),
        ({"n": 8, "use": 1}, "`use` must be at least 2, got 1"),
        ({"seed": -1}, "`seed` must not be negative"),
        ({"time_limit": 0.0}, "`time_limit` must be positive"),
        ({"drop_height": -1.0}, "`drop_height` must be positive"),
    ],
)
def test_settings_that_cannot_work_are_an_error(settings, message):
    with pytest.raises(InputError, match=message):
        SampleConfig(**settings)


def test_streams_of_a_seed_have_different_poses(tiny):
    """Poses for training, and poses for tests."""
    engine = make_engine("mujoco", tiny)
    config = SampleConfig(n=70)  # more than one block
    sets = [draw_poses(tiny, config, engine=engine, stream=s)[0].qpos for s in range(3)]
    for one in range(3):
        for other in range(one):
            gap = np.abs(sets[one][:, None] - sets[other][None]).max(axis=2)
            assert gap.min() > 1e-6
