import numpy as np
import pytest

from kaccess.base.rotations import quat_from_roll_pitch
from kaccess.envs import Backflip, RobotsBatch
from tests.envs.common import FAST
from tests.envs.hand import judge, make_standing, tilt_gravity


def turn_over(task, *, turns, n_steps, memory=None, airborne=False, sign=-1.0):
    """Rotate about y with the feet off the floor; return the sums of the terms."""
    totals, step = {}, sign * 2 * np.pi * turns / n_steps
    for k in range(1, n_steps + 1):
        now = make_standing(
            gravity=tilt_gravity(np.degrees(k * step)),
            turn=[0, step, 0],
            foot_touches=False,
            body_touches=not airborne,
            distance=0.05 if airborne else 0.0,
        )
        terms, memory = judge(task, now, memory)
        for name, term in terms.items():
            totals[name] = totals.get(name, 0.0) + term[0]
    return totals, memory


def land(task, memory, n_steps=5):
    """Stand on the feet; return the reward for landing."""
    earned = 0.0
    for _ in range(n_steps):
        terms, memory = judge(task, make_standing(), memory)
        earned += terms["landed"][0]
    return earned, memory


EARNED = ("turn", "flight")


def get_memory(task, memory, name):
    return memory[0, task.memory.index(name)]


def test_a_backflip_that_is_landed_counts():
    task = Backflip()
    totals, memory = turn_over(task, turns=1, n_steps=10, airborne=True)
    assert totals["turn"] == pytest.approx(8 * 0.75)  # the first quarter earns nothing
    assert totals["flight"] == pytest.approx(20.0)
    assert totals["landed"] == 0.0
    assert not any(each[0] for each in task.has_succeeded(memory))
    earned, memory = land(task, memory)
    assert earned == 20.0
    assert get_memory(task, memory, "turns") == get_memory(task, memory, "flips") == 1
    assert all(each[0] for each in task.has_succeeded(memory))


def test_a_roll_over_the_ground_is_only_a_loose_success():
    task = Backflip()
    totals, memory = turn_over(task, turns=1, n_steps=20)
    assert totals["turn"] == pytest.approx(8 * 0.75)
    assert totals["flight"] == 0.0
    _, memory = land(task, memory)
    assert [each[0] for each in task.has_succeeded(memory)] == [False, True]


def test_flips_in_a_row_are_counted():
    task, memory = Backflip(), None
    for n in (1, 2, 3):
        _, memory = turn_over(task, turns=1, n_steps=9, memory=memory, airborne=True)
        _, memory = land(task, memory, n_steps=8)
        assert get_memory(task, memory, "turns") == n


def test_a_double_flip_counts_twice():
    task = Backflip()
    _, memory = turn_over(task, turns=2, n_steps=20, airborne=True)
    assert land(task, memory)[0] == 40.0


def test_forward_turns_earn_nothing():
    task = Backflip()
    forward, memory = turn_over(task, turns=1, n_steps=12, airborne=True, sign=1.0)
    assert forward["turn"] == forward["flight"] == 0.0
    earned, memory = land(task, memory)
    assert earned == 0.0
    assert not task.has_succeeded(memory)[1][0]
    _, memory = turn_over(task, turns=1, n_steps=12, memory=memory, airborne=True)
    assert land(task, memory)[0] == 20.0  # earlier turns do not count


def test_rocking_earns_nothing():
    task, memory, total = Backflip(), None, 0.0
    for rate in [-0.7, -0.7, 0.7, 0.7] * 5:  # by 80 degrees
        now = make_standing(turn=[0, rate, 0], gravity=tilt_gravity(30))
        terms, memory = judge(task, now, memory)
        total += terms["turn"][0]
    assert total == 0.0


def test_each_part_of_a_turn_is_rewarded_once():
    """Turn back by a quarter and repeat it: only angles beyond the maximum earn."""
    task = Backflip()
    first, memory = turn_over(task, turns=0.5, n_steps=10)
    back, memory = turn_over(task, turns=0.25, n_steps=5, memory=memory, sign=1.0)
    again, memory = turn_over(task, turns=0.5, n_steps=10, memory=memory)
    assert first["turn"] == pytest.approx(8 * 0.25)
    assert back["turn"] == 0.0
    assert again["turn"] == pytest.approx(8 * 0.25)


def test_turns_are_rewarded_a_little_beyond_a_full_one():
    totals, _ = turn_over(Backflip(), turns=2, n_steps=40)
    assert totals["turn"] == pytest.approx(8 * (7.2 / (2 * np.pi) - 0.25))


def test_one_large_hop_earns_more_than_many_small_ones():
    """Each hop is landed; on the floor the robot turns forwards again."""
    task, earned = Backflip(), []
    for n_hops in (1, 4):
        memory, total = None, 0.0
        for _ in range(n_hops):
            hop = {"turns": 0.4 / n_hops, "n_steps": 4, "memory": memory}
            totals, memory = turn_over(task, airborne=True, **hop)
            back, memory = turn_over(task, sign=1.0, **hop | {"memory": memory})
            total += sum(each[name] for each in (totals, back) for name in EARNED)
            _, memory = land(task, memory, n_steps=2)
        earned.append(total)
    assert earned[0] == pytest.approx(20 * 0.4**2 + 8 * 0.15)
    assert earned[1] == pytest.approx(20 * 0.4**2 / 4)


def test_half_a_turn_is_no_flip():
    task = Backflip()
    _, memory = turn_over(task, turns=0.45, n_steps=6, airborne=True)
    assert land(task, memory)[0] == 0.0


def test_half_a_turn_and_a_roll_to_the_feet_earn_nothing_for_turning():
    """The reward for turning in the air stays: it leads to flips."""
    task = Backflip()
    totals, memory = turn_over(task, turns=0.5, n_steps=6, airborne=True)
    assert totals["turn"] == pytest.approx(8 * 0.25)
    total = totals["turn"] + totals["lost"]
    for roll in (90, 30, 0):  # from its back over its side
        gravity = [0, np.sin(np.radians(roll)), -np.cos(np.radians(roll))]
        terms, memory = judge(task, make_standing(gravity=gravity), memory)
        total += terms["lost"][0]
    assert total == pytest.approx(0.0)
    assert get_memory(task, memory, "angle") == 0.0
    _, memory = turn_over(task, turns=0.5, n_steps=6, memory=memory, airborne=True)
    assert land(task, memory)[0] == 0.0


def test_a_fall_after_forward_turns_costs_nothing():
    task = Backflip()
    _, memory = turn_over(task, turns=0.3, n_steps=6, airborne=True, sign=1.0)
    terms, memory = judge(task, make_standing(gravity=[0, 1, 0]), memory)
    assert terms["lost"][0] == 0.0
    assert get_memory(task, memory, "furthest") == 0.0


def test_landed_turns_cannot_be_lost():
    task = Backflip()
    _, memory = turn_over(task, turns=1, n_steps=10, airborne=True)
    _, memory = land(task, memory)
    terms, _ = judge(task, make_standing(gravity=[0, 1, 0]), memory)
    assert terms["lost"][0] == 0.0


def test_a_turn_is_landed_after_80_ms_on_the_feet():
    task = Backflip()
    for changes in (
        {"body_touches": True},
        {"foot_touches": [True, False, False, False]},
        {"gravity": tilt_gravity(-26)},
    ):
        _, memory = turn_over(task, turns=1, n_steps=10, airborne=True)
        for _ in range(8):
            _, memory = judge(task, make_standing(**changes), memory)
        assert get_memory(task, memory, "turns") == 0, changes
    _, memory = land(task, memory, n_steps=1)
    assert get_memory(task, memory, "turns") == 0
    assert get_memory(task, land(task, memory, n_steps=1)[1], "turns") == 1


def test_spinning_on_its_side_is_not_turning_over():
    now = make_standing(turn=[0, -0.8, 0], gravity=[0, 1, 0])
    terms, memory = judge(Backflip(), now)
    assert terms["turn"][0] == pytest.approx(0.0)
    assert get_memory(Backflip(), memory, "angle") == pytest.approx(0.0)


def test_standing_earns_little():
    """Otherwise it would be best never to flip: 25 steps of a flip earn 26."""
    terms, _ = judge(Backflip(), make_standing())
    assert {name: term[0] for name, term in terms.items()} == pytest.approx(
        {
            "turn": 0.0,
            "flight": 0.0,
            "landed": 0.0,
            "lost": 0.0,
            "height": 0.02,
            "orientation": 0.02,
            "straight": 0.05,
            "torque": 0.02,
            "action_difference": 0.01,
        }
    )
    assert 25 * sum(terms.values())[0] < 5.0


@pytest.mark.parametrize(
    ("term", "changes", "value"),
    [
        ("straight", {"angular_velocity": [2, 9, 4]}, 0.05 * np.exp(-1)),
        ("torque", {"torque": 0.1}, 0.02 * np.exp(-0.4)),
        ("action_difference", {"target": 0.75}, 0.01 * np.exp(-0.5)),
        ("height", {"height": 0.066}, 0.02 * np.exp(-0.8)),
        ("orientation", {"gravity": [0, 0, 1]}, 0.02 * np.exp(-20)),
    ],
)
def test_other_terms_equal_those_computed_by_hand(term, changes, value):
    assert judge(Backflip(), make_standing(**changes))[0][term][0] == pytest.approx(
        value
    )


def test_a_backward_spin_in_the_air_is_measured(bittle):
    """In the physics: in free fall, spinning nose up at 12 rad/s, for 0.4 s."""
    task, batch = Backflip(), RobotsBatch(bittle, 1, **FAST)
    qpos = bittle.standing[None].copy()
    qpos[:, 2] = 2.0
    batch.reset(qpos)
    state = batch.get_state()
    state[:, 1 + bittle.model.nq + 4] = -12.0
    batch.set_state(state)
    held = (bittle.standing[7:] - batch._middle) / batch._half
    memory, total, nose = None, 0.0, []
    for _ in range(10):
        batch.step(held[None])
        terms, memory = judge(task, batch.readings, memory)
        total += terms["flight"][0]
        nose.append(batch.readings.gravity[0, 0])
    assert nose[0] < -0.2  # gravity points to the tail: the nose is up
    angle = get_memory(task, memory, "angle")
    assert angle == pytest.approx(12 * 0.4, rel=0.15)
    assert angle == get_memory(task, memory, "air_angle")
    assert total == pytest.approx(20 * (angle / (2 * np.pi)) ** 2)


def test_starts_must_be_rolled_by_less_than_60_degrees():
    roll = np.radians([0, 59, 61, -59, -61, 180])
    qpos = np.zeros((6, 15))
    qpos[:, 3:7] = quat_from_roll_pitch(roll, np.full(6, 0.4))
    np.testing.assert_array_equal(
        Backflip().qualifies(qpos), [True, True, False, True, False, False]
    )
