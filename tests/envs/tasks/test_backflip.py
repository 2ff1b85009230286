import numpy as np
import pytest

from kaccess.base.rotations import quat_from_roll_pitch
from kaccess.envs import Backflip, RobotsBatch
from tests.envs.hand import judge, standing, tilted


def turn_over(task, *, turns, n_steps, memory=None, airborne=False, sign=-1.0):
    """Rotate by hand about y, the feet off the ground; return the terms added up."""
    totals, step = {}, sign * 2 * np.pi * turns / n_steps
    for k in range(1, n_steps + 1):
        now = standing(
            gravity=tilted(np.degrees(k * step)),
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
    """Stand on the feet; return what landing earns."""
    earned = 0.0
    for _ in range(n_steps):
        terms, memory = judge(task, standing(), memory)
        earned += terms["landed"][0]
    return earned, memory


EARNED = ("turn", "flight")


def remembered(task, memory, name):
    return memory[0, task.memory.index(name)]


def test_a_backflip_that_is_landed_counts():
    task = Backflip()
    totals, memory = turn_over(task, turns=1, n_steps=10, airborne=True)
    assert totals["turn"] == pytest.approx(8 * 0.75)  # its first quarter is unpaid
    assert totals["flight"] == pytest.approx(20.0)
    assert totals["landed"] == 0.0
    assert not any(each[0] for each in task.success(memory))
    earned, memory = land(task, memory)
    assert earned == 20.0
    assert remembered(task, memory, "turns") == remembered(task, memory, "flips") == 1
    assert all(each[0] for each in task.success(memory))


def test_a_roll_over_the_ground_counts_loosely_only():
    task = Backflip()
    totals, memory = turn_over(task, turns=1, n_steps=20)
    assert totals["turn"] == pytest.approx(8 * 0.75)
    assert totals["flight"] == 0.0
    _, memory = land(task, memory)
    assert [each[0] for each in task.success(memory)] == [False, True]


def test_turns_add_up_flip_after_flip():
    task, memory = Backflip(), None
    for n in (1, 2, 3):
        _, memory = turn_over(task, turns=1, n_steps=9, memory=memory, airborne=True)
        _, memory = land(task, memory, n_steps=8)
        assert remembered(task, memory, "turns") == n


def test_a_double_counts_twice():
    task = Backflip()
    _, memory = turn_over(task, turns=2, n_steps=20, airborne=True)
    assert land(task, memory)[0] == 40.0


def test_forward_turns_earn_nothing():
    task = Backflip()
    forward, memory = turn_over(task, turns=1, n_steps=12, airborne=True, sign=1.0)
    assert forward["turn"] == forward["flight"] == 0.0
    earned, memory = land(task, memory)
    assert earned == 0.0
    assert not task.success(memory)[1][0]
    _, memory = turn_over(task, turns=1, n_steps=12, memory=memory, airborne=True)
    assert land(task, memory)[0] == 20.0  # what went before is forgotten


def test_rocking_to_and_fro_earns_nothing():
    task, memory, total = Backflip(), None, 0.0
    for rate in [-0.7, -0.7, 0.7, 0.7] * 5:  # by 80 degrees
        now = standing(turn=[0, rate, 0], gravity=tilted(30))
        terms, memory = judge(task, now, memory)
        total += terms["turn"][0]
    assert total == 0.0


def test_a_part_of_a_turn_is_paid_once():
    """Back by a quarter, and once more to where it was: only what is beyond pays."""
    task = Backflip()
    first, memory = turn_over(task, turns=0.5, n_steps=10)
    back, memory = turn_over(task, turns=0.25, n_steps=5, memory=memory, sign=1.0)
    again, memory = turn_over(task, turns=0.5, n_steps=10, memory=memory)
    assert first["turn"] == pytest.approx(8 * 0.25)
    assert back["turn"] == 0.0
    assert again["turn"] == pytest.approx(8 * 0.25)


def test_a_turn_pays_a_little_beyond_a_full_one():
    totals, _ = turn_over(Backflip(), turns=2, n_steps=40)
    assert totals["turn"] == pytest.approx(8 * (7.2 / (2 * np.pi) - 0.25))


def test_one_large_hop_pays_more_than_many_small_ones():
    """Each is landed; on the ground the robot turns forwards again."""
    task, earned = Backflip(), []
    for n_hops in (1, 4):
        memory, total = None, 0.0
        for _ in range(n_hops):
            hop = {"turns": 0.4 / n_hops, "n_steps": 4, "memory": memory}
            totals, memory = turn_over(task, airborne=True, **hop)
            back, memory = turn_over(task, sign=1.0, **hop | {"memory": memory})
            total += sum(each[what] for each in (totals, back) for what in EARNED)
            _, memory = land(task, memory, n_steps=2)
        earned.append(total)
    assert earned[0] == pytest.approx(20 * 0.4**2 + 8 * 0.15)
    assert earned[1] == pytest.approx(20 * 0.4**2 / 4)


def test_half_a_turn_is_no_flip():
    task = Backflip()
    _, memory = turn_over(task, turns=0.45, n_steps=6, airborne=True)
    assert land(task, memory)[0] == 0.0


def test_half_a_turn_and_a_roll_to_the_feet_earn_nothing():
    """But for what was turned in the air: that is on the way to a flip."""
    task = Backflip()
    totals, memory = turn_over(task, turns=0.5, n_steps=6, airborne=True)
    assert totals["turn"] == pytest.approx(8 * 0.25)
    total = totals["turn"] + totals["lost"]
    for roll in (90, 30, 0):  # from the back over the side
        gravity = [0, np.sin(np.radians(roll)), -np.cos(np.radians(roll))]
        terms, memory = judge(task, standing(gravity=gravity), memory)
        total += terms["lost"][0]
    assert total == pytest.approx(0.0)
    assert remembered(task, memory, "angle") == 0.0
    _, memory = turn_over(task, turns=0.5, n_steps=6, memory=memory, airborne=True)
    assert land(task, memory)[0] == 0.0


def test_forward_turns_are_not_paid_back_by_a_fall():
    task = Backflip()
    _, memory = turn_over(task, turns=0.3, n_steps=6, airborne=True, sign=1.0)
    terms, memory = judge(task, standing(gravity=[0, 1, 0]), memory)
    assert terms["lost"][0] == 0.0
    assert remembered(task, memory, "furthest") == 0.0


def test_what_was_landed_is_not_lost_any_more():
    task = Backflip()
    _, memory = turn_over(task, turns=1, n_steps=10, airborne=True)
    _, memory = land(task, memory)
    terms, _ = judge(task, standing(gravity=[0, 1, 0]), memory)
    assert terms["lost"][0] == 0.0


def test_a_turn_is_landed_after_a_moment_on_the_feet():
    task = Backflip()
    for changes in (
        {"body_touches": True},
        {"foot_touches": [True, False, False, False]},
        {"gravity": tilted(-26)},
    ):
        _, memory = turn_over(task, turns=1, n_steps=10, airborne=True)
        for _ in range(8):
            _, memory = judge(task, standing(**changes), memory)
        assert remembered(task, memory, "turns") == 0, changes
    _, memory = land(task, memory, n_steps=1)
    assert remembered(task, memory, "turns") == 0
    assert remembered(task, land(task, memory, n_steps=1)[1], "turns") == 1


def test_spinning_on_its_side_is_not_turning_over():
    now = standing(turn=[0, -0.8, 0], gravity=[0, 1, 0])
    terms, memory = judge(Backflip(), now)
    assert terms["turn"][0] == pytest.approx(0.0)
    assert remembered(Backflip(), memory, "angle") == pytest.approx(0.0)


def test_standing_earns_little():
    """Else it would pay never to flip: a flip takes about 25 steps, and pays 26."""
    terms, _ = judge(Backflip(), standing())
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
def test_other_terms_are_worked_out_by_hand(term, changes, value):
    assert judge(Backflip(), standing(**changes))[0][term][0] == pytest.approx(value)


def test_a_body_that_spins_backwards_in_the_air_is_seen_to(bittle):
    """By the physics: thrown up, spinning nose up at 12 rad/s, for 0.4 s."""
    task, batch = Backflip(), RobotsBatch(bittle, 1, n_threads=1)
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
    angle = remembered(task, memory, "angle")
    assert angle == pytest.approx(12 * 0.4, rel=0.15)
    assert angle == remembered(task, memory, "air_angle")
    assert total == pytest.approx(20 * (angle / (2 * np.pi)) ** 2)


def test_starts_are_rolled_by_less_than_60_degrees():
    roll = np.radians([0, 59, 61, -59, -61, 180])
    qpos = np.zeros((6, 15))
    qpos[:, 3:7] = quat_from_roll_pitch(roll, np.full(6, 0.4))
    np.testing.assert_array_equal(
        Backflip().qualifies(qpos), [True, True, False, True, False, False]
    )
