"""The simulated Bittle: it answers and moves as the sources of the firmware say."""

import numpy as np
import pytest

from kaccess.config import SimulateConfig
from kaccess.deploy.link import SerialLink
from kaccess.deploy.protocol import (
    Attitude,
    Echo,
    Lines,
    Note,
    encode_list,
    encode_move,
    encode_skill,
    encode_text_move,
)
from kaccess.deploy.simulated import PtyBittle, SimulatedBittle, VirtualLink


def talk(link, message, seconds):
    """Send a message, and return the lines that come back within some time."""
    link.write(message)
    link.wait(link.now() + seconds)
    return list(Lines().feed(link.read()))


@pytest.fixture
def link(real):
    return VirtualLink(SimulatedBittle(SimulateConfig(latency=0.0), robot=real))


def test_it_says_who_it_is(link):
    said = talk(link, b"?\n", 0.05)
    assert said[-3:] == [Note("Bittle X"), Note("B10_250712"), Echo("?")]


@pytest.mark.parametrize("encode", [encode_move, encode_text_move])
def test_moves_arrive(link, encode):
    talk(link, encode({8: -20, 12: 60}), 1.0)
    legs = link.bittle.read_joints()
    assert [round(legs[0]), round(legs[4])] == pytest.approx([-20, 60], abs=2)


def test_a_list_of_all_joints(link):
    talk(link, encode_list([0] * 8 + [40] * 4 + [20] * 4), 1.0)
    np.testing.assert_allclose(link.bittle.read_joints(), [40] * 4 + [20] * 4, atol=2)


def test_a_move_blocks_for_two_degrees_in_8_ms(link):
    """40 degrees take 20 steps and one more; the echo comes only then."""
    link.write(encode_move({8: 70}))
    waits = 0
    while b"I" not in link.read():
        link.wait(link.now() + 0.001)
        waits += 1
    assert 21 * 8 <= waits <= 21 * 8 + 4


def test_waiting_moves_are_read_as_one(link):
    link.write(encode_move({8: 60}))
    link.wait(link.now() + 0.05)
    for angle in (0, 10, 20):
        link.write(encode_move({8: angle, 12: 40}))
    link.wait(link.now() + 1.0)
    echoes = [line for line in Lines().feed(link.read()) if line == Echo("I")]
    assert len(echoes) == 2
    assert link.bittle.read_joints()[0] == pytest.approx(20, abs=5)


def test_stream_of_the_imu(real):
    config = SimulateConfig(latency=0.0, imu_interval=0.2)
    link = VirtualLink(SimulatedBittle(config, robot=real))
    lines = talk(link, b"gP\n", 1.01)
    assert sum(isinstance(line, Attitude) for line in lines) == 6
    talk(link, b"gp\n", 0.5)
    assert not any(isinstance(line, Attitude) for line in talk(link, b"j\n", 1.0))


def test_rest_lies_down_and_turns_servos_off(link):
    talk(link, b"d\n", 3.0)
    assert not link.bittle.stands
    assert link.bittle.qpos[2] < 0.06


def test_a_skill_is_performed_and_confirmed_twice(link):
    frame = [0] * 8 + [30] * 8
    bow = [0] * 8 + [60, 60, 30, 30, 0, 0, 30, 30]
    array = [-2, 0, 0, 1, 0, 0, 0, *frame, 16, 0, 0, 0, *bow, 16, 4, 0, 0]
    lines = talk(link, encode_skill(array), 1.5)
    assert lines.count(Echo("K")) == 2
    assert link.bittle.read_joints()[0] == pytest.approx(60, abs=3)


def test_a_byte_interrupts_a_skill(link):
    frame = [0] * 8 + [30] * 8 + [16, 40, 0, 0]
    link.write(encode_skill([-3, 0, 0, 1, 0, 0, 0, *frame * 3]))
    link.wait(link.now() + 0.5)
    assert Note("Behavior interrupted") in talk(link, b"?\n", 4.0)


def test_a_robot_on_its_back_interrupts_a_skill(real, lying):
    link = VirtualLink(SimulatedBittle(SimulateConfig(), lying[0], robot=real))
    frame = [0] * 8 + [30] * 8 + [16, 0, 0, 0]
    lines = talk(link, encode_skill([-1, 0, 0, 1, 0, 0, 0, *frame]), 4.0)
    assert Note("Behavior interrupted") in lines


def test_a_trigger_that_never_comes_is_given_up_after_two_seconds(link):
    frame = [0] * 8 + [30] * 8 + [16, 0, 2, 90]
    link.write(encode_skill([-1, 0, 0, 1, 0, 0, 0, *frame]))
    link.wait(link.now() + 1.9)
    assert list(Lines().feed(link.read())).count(Echo("K")) == 1
    link.wait(link.now() + 0.3)
    assert list(Lines().feed(link.read())).count(Echo("K")) == 1


def test_latency_delays_both_ways(real):
    link = VirtualLink(SimulatedBittle(SimulateConfig(latency=0.05), robot=real))
    assert talk(link, b"?\n", 0.099) == []
    link.wait(link.now() + 0.01)
    assert link.read()


def test_lost_bytes_are_lost(real):
    config = SimulateConfig(latency=0.0, dropped=0.5)
    bittle = SimulatedBittle(config, robot=real)
    for _ in range(1000):
        bittle.print("x" * 8)
    bittle.advance(0.001)
    assert 0.4 < len(bittle.collect()) / 10_000 < 0.6


def test_the_same_seed_is_the_same_robot(real, lying):
    ends = []
    for _ in range(2):
        config = SimulateConfig(jitter=0.02, dropped=0.01, seed=3)
        link = VirtualLink(SimulatedBittle(config, lying[0], robot=real))
        talk(link, encode_move({8: -60, 12: 90}), 1.0)
        ends.append(link.bittle.qpos)
    np.testing.assert_array_equal(*ends)


def test_a_pseudo_terminal_is_a_serial_port(real):
    with PtyBittle(SimulatedBittle(robot=real)) as robot:
        link = SerialLink(robot.port)
        link.write(b"?\n")
        heard, lines = [], Lines()
        while Echo("?") not in heard:  # ends in real time, or not at all
            link.wait(link.now() + 0.01)
            heard += lines.feed(link.read())
        link.close()
    assert Note("Bittle X") in heard
