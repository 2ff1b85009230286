import dataclasses

import numpy as np
import pytest

from kaccess import (
    AccessConfig,
    InputError,
    accessibility,
    estimate_times,
    load_robot,
)
from kaccess.access import (
    Outcome,
    check_mirror,
    estimate_pairs,
    estimate_rows,
    estimate_to_standing,
    split_rows,
)
from kaccess.access.estimate import is_close
from kaccess.base.rotations import gravity_in_body
from kaccess.config import SampleConfig
from kaccess.engines import Settled
from kaccess.poses import Poses, draw_poses


class FakeEngine:
    """Moves the joints to their targets in one second, within the time limit."""

    batch_size = 4

    def __init__(self, robot, *, time=1.0, diverged=False):
        self.robot, self.time, self.diverged = robot, time, diverged

    def settle(self, qpos, targets, *, time_limit, progress=None):
        end = qpos.copy()
        end[:, self.robot.joint_adr] = targets
        time = np.full(len(qpos), self.time if self.time <= time_limit else np.inf)
        return Settled(end, time, np.full(len(qpos), self.diverged))


def make_poses(robot, heights, joints):
    qpos = np.repeat(robot.standing[None], len(heights), axis=0)
    qpos[:, 2] = heights
    qpos[:, robot.joint_adr] = joints
    return Poses(robot, qpos, np.ones((len(qpos), len(robot.parts)), bool))


def test_hand_solved_times(tiny):
    """Poses 0 and 1 have one height. Joints always arrive, heights never change."""
    poses = make_poses(tiny, [0.1, 0.1, 0.2], [[0, 0], [1, 1], [0, 0]])
    times = estimate_times(poses, engine=FakeEngine(tiny))
    inf = np.inf
    np.testing.assert_array_equal(times, [[0, 1, inf], [1, 0, inf], [inf, inf, 0]])
    assert times.dtype == np.float32


@pytest.mark.parametrize(
    ("engine", "outcome"),
    [
        ({"time": 1.0}, Outcome.REACHED),
        ({"time": 4.0}, Outcome.RESTLESS),
        ({"time": np.inf, "diverged": True}, Outcome.DIVERGED),
    ],
)
def test_the_outcome_tells_why_a_goal_is_not_reached(tiny, engine, outcome):
    poses = make_poses(tiny, [0.1, 0.1], [[0, 0], [1, 1]])
    got = estimate_rows(
        poses, range(2), AccessConfig(), engine=FakeEngine(tiny, **engine)
    )
    assert got.outcomes[0, 1] == outcome
    assert np.isfinite(got.times[0, 1]) == (outcome == Outcome.REACHED)
    np.testing.assert_array_equal(got.times.diagonal(), 0.0)
    np.testing.assert_array_equal(got.outcomes.diagonal(), Outcome.REACHED)


def test_a_goal_is_reached_if_joints_height_and_gravity_are_close(bittle):
    config = AccessConfig()
    goal = bittle.standing[None]

    def close(change):
        qpos = goal.copy()
        change(qpos)
        return bool(is_close(bittle, qpos, goal, config)[0])

    def joints(rad):
        return lambda q: q.__setitem__((0, slice(7, 9)), q[0, 7:9] + rad / np.sqrt(2))

    def height(m):
        return lambda q: q.__setitem__((0, 2), q[0, 2] + m)

    def roll(rad):
        return lambda q: q.__setitem__(
            (0, slice(3, 5)), [np.cos(rad / 2), np.sin(rad / 2)]
        )

    assert close(joints(0.49)) and not close(joints(0.51))
    assert close(height(-0.0099)) and not close(height(-0.0101))
    assert close(roll(0.099)) and not close(roll(0.101))


def test_the_matrix_equals_simulations_of_single_pairs(poses, engine, access_config):
    """A plain double loop over pairs gives the same matrix, bit for bit."""
    times = estimate_times(poses, access_config, engine=engine)
    robot = poses.robot
    for i in range(3):
        for j in range(len(poses)):
            if i == j:
                continue
            end = engine.settle(
                poses.qpos[[i]], poses.joints[[j]], time_limit=access_config.time_limit
            )
            gravity = gravity_in_body(end.qpos[:, 3:7]) - poses.gravity[j]
            reached = (
                np.isfinite(end.time[0])
                and np.linalg.norm(robot.get_joints(end.qpos)[0] - poses.joints[j])
                < 0.5
                and abs(end.qpos[0, 2] - poses.height[j]) < 0.01
                and np.linalg.norm(gravity) < 0.1
            )
            assert times[i, j] == np.float32(end.time[0] if reached else np.inf)
    assert 0 < np.isfinite(times).mean() < 1


def test_the_split_into_tiles_does_not_change_results(poses, engine, access_config):
    whole = estimate_rows(poses, range(10), access_config, engine=engine)
    parts = [
        estimate_rows(poses, rows, access_config, engine=engine)
        for rows in (range(0, 4), range(4, 5), range(5, 10))
    ]
    np.testing.assert_array_equal(whole.times, np.concatenate([p.times for p in parts]))
    np.testing.assert_array_equal(
        whole.outcomes, np.concatenate([p.outcomes for p in parts])
    )


@pytest.mark.parametrize("n", [2, 3, 10, 999, 1000, 5000])
def test_tiles_cover_all_rows_and_start_at_even_ones(n):
    tiles = split_rows(n)
    assert [row for rows in tiles for row in rows] == list(range(n))
    assert all(rows.start % 2 == 0 for rows in tiles)
    assert len(tiles[0]) * n <= max(2048, 2 * n)


def test_progress_counts_all_pairs(tiny):
    poses = make_poses(tiny, [0.1, 0.1, 0.2], [[0, 0], [1, 1], [0, 0]])
    calls = []
    estimate_times(
        poses,
        engine=FakeEngine(tiny),
        progress=lambda done, total: calls.append((done, total)),
    )
    assert calls[-1] == (9, 9)


def test_standing_is_reached_from_standing_but_not_from_the_back(bittle, engine):
    qpos = np.stack([bittle.standing, np.array(bittle.model.key("back").qpos)])
    poses = Poses(bittle, qpos, bittle.find_contacts(qpos)[0])
    got = estimate_to_standing(poses, AccessConfig(), engine=engine)
    assert got.times[0] < 0.5
    assert np.isinf(got.times[1])  # from the back, one move is not enough
    assert got.outcomes.tolist() == [Outcome.REACHED, Outcome.ELSEWHERE]


def test_to_stand_is_to_reach_the_standing_joints_and_height(tiny):
    """Joints always arrive, so a pose at the standing height reaches standing."""
    height = tiny.standing[2]
    poses = make_poses(tiny, [height, height + 0.1], [[1, 1], [0, 0]])
    got = estimate_to_standing(poses, AccessConfig(), engine=FakeEngine(tiny))
    np.testing.assert_array_equal(got.times, [1.0, np.inf])


def test_there_is_no_standing_goal_if_the_standing_state_falls(bittle, engine, poses):
    toppled = bittle.standing
    toppled[3:7] = [0.7, 0.3, 0.6, 0.2]
    stance = dataclasses.replace(bittle.stance, qpos=toppled)
    robot = load_robot("bittle", stance=stance)
    fallen = Poses(robot, poses.qpos, poses.contacts)
    assert estimate_to_standing(fallen, AccessConfig(), engine=engine) is None


def test_there_is_no_standing_goal_if_the_robot_cannot_stand(bittle, engine, poses):
    stance = dataclasses.replace(bittle.stance, stands=False)
    robot = load_robot("bittle", stance=stance)
    fallen = Poses(robot, poses.qpos, poses.contacts)
    assert estimate_to_standing(fallen, AccessConfig(), engine=engine) is None


def test_accessibility_is_an_exponential_with_a_minimum():
    times = np.array([[0, 1.0], [np.inf, np.nan]], np.float32)
    access = accessibility(times)
    np.testing.assert_allclose(access, [[1, np.exp(-1)], [1e-8, np.nan]], rtol=1e-6)
    assert access.dtype == np.float32
    np.testing.assert_allclose(accessibility(np.array([0, 40])), [1, 1e-8])


def test_rows_derived_by_symmetry_equal_simulated_rows(bittle, engine):
    """They are equal except for a few pairs that rounding decides."""
    config = SampleConfig(n=12, mirror=True)
    poses, _ = draw_poses(bittle, config, engine=engine)
    limits = AccessConfig(time_limit=2.0)
    derived = estimate_rows(poses, range(12), limits, engine=engine)
    plain = Poses(bittle, poses.qpos, poses.contacts)
    simulated = estimate_rows(plain, range(12), limits, engine=engine)
    np.testing.assert_array_equal(derived.times[::2], simulated.times[::2])
    agree = np.isfinite(derived.times) == np.isfinite(simulated.times)
    assert agree.mean() >= 0.95
    both = np.isfinite(derived.times) & np.isfinite(simulated.times)
    difference = np.abs(derived.times[both] - simulated.times[both])
    assert np.quantile(difference, 0.9) < 0.01


class LopsidedEngine(FakeEngine):
    """As `FakeEngine`, but never at rest from pose 0, and slower from pose 2.

    A pose is known by its first joint: index times 0.001 rad.
    """

    n_lost = 0

    def settle(self, qpos, targets, *, time_limit, progress=None):
        settled = super().settle(qpos, targets, time_limit=time_limit)
        index = np.round(self.robot.get_joints(qpos)[:, 0] / 1e-3)
        settled.time[index == 0] = np.inf
        settled.time[index == 2] += 0.25
        self.n_lost += int((index == 0).sum())
        return settled


def test_the_mirror_check_counts_pairs_that_differ_from_their_mirror_image(tiny):
    n = 100
    joints = np.stack([1e-3 * np.arange(n), np.zeros(n)], axis=1)
    plain = make_poses(tiny, np.full(n, 0.1), joints)
    poses = Poses(tiny, plain.qpos, plain.contacts, mirrored=True)
    engine = LopsidedEngine(tiny)
    found = check_mirror(poses, AccessConfig(), engine=engine, n_pairs=400)
    assert 0 < engine.n_lost < 20  # pairs from pose 0, or from its mirror image
    assert (found.pairs, found.agreeing) == (400, 400 - engine.n_lost)
    assert found.largest_difference == pytest.approx(0.25)


def test_the_mirror_check_accepts_mirrored_poses_and_refuses_others(bittle, engine):
    config = SampleConfig(n=12, mirror=True)
    poses, _ = draw_poses(bittle, config, engine=engine)
    good = check_mirror(poses, AccessConfig(), engine=engine, n_pairs=60)
    assert good.agreeing >= 58  # 57 are required
    shuffled = Poses(bittle, np.roll(poses.qpos, 1, axis=0), poses.contacts, True)
    with pytest.raises(InputError, match=r"only \d+ of 60 agree"):
        check_mirror(shuffled, AccessConfig(), engine=engine, n_pairs=60)


def test_pairs_can_be_given_in_any_order(poses, engine, access_config):
    source, goal = np.array([4, 2, 2]), np.array([1, 2, 7])
    some = estimate_pairs(poses, source, goal, access_config, engine=engine)
    rows = estimate_rows(poses, range(10), access_config, engine=engine)
    np.testing.assert_array_equal(some.times, rows.times[source, goal])


@pytest.mark.parametrize("n", [3, 24, 500, 1000, 1024, 1025, 10_000, 20_000])
def test_tiles_of_studies_of_usual_size_have_about_2048_pairs(n):
    assert len(split_rows(n)[0]) == min(n, max(2, 2048 // n // 2 * 2))


@pytest.mark.parametrize("n", [20_001, 50_000, 99_999, 100_000])
def test_a_large_study_has_at_most_10000_tiles(n):
    tiles = split_rows(n)
    assert 5000 < len(tiles) <= 10_000
    assert [row for tile in tiles for row in tile] == list(range(n))
    assert all(len(tile) % 2 == 0 for tile in tiles[:-1])
