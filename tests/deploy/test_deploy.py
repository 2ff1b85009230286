"""Both controllers get a simulated Bittle up, end to end; faults end safely."""

import json
from dataclasses import replace

import numpy as np
import pytest

from kaccess.base.errors import InputError
from kaccess.config import DeployConfig, SimulateConfig
from kaccess.deploy import deploy as deploying
from kaccess.deploy.angles import Angles
from kaccess.deploy.boards import BOARDS
from kaccess.deploy.check import check_moves
from kaccess.deploy.deploy import SHIPPED, _run, deploy
from kaccess.deploy.link import LinkLostError
from kaccess.deploy.loop import find_pace, run_policy
from kaccess.deploy.network import Network
from kaccess.deploy.protocol import decode_bytes
from kaccess.deploy.record import Log
from kaccess.deploy.routes import follow_routes
from kaccess.deploy.simulated import VirtualLink
from kaccess.deploy.skills import load_shipped
from kaccess.deploy.watchdog import Limits, Watchdog

POLICY = SHIPPED / "fall-recovery.onnx"


def by_routes(session):
    return follow_routes(session, load_shipped(), attempts=5)


def by_policy(session):
    return run_policy(session, Network(POLICY), seconds=8.0)


CONTROLLERS = [by_routes, by_policy]


def list_moves(session):
    """Return the angles of all messages `I`, (n, 8)."""
    moves = [each for each in session.link.sent if each[:1] == b"I"]
    return np.array([decode_bytes(each[1:-1])[1::2] for each in moves])


def list_steps():
    """Return the postures of the shipped routes, which turn the robot, (k, 8)."""
    return np.concatenate([route.degrees for route in load_shipped().routes])


@pytest.mark.parametrize("controller", CONTROLLERS)
@pytest.mark.parametrize("pose", range(3))
def test_both_controllers_get_it_up(meet, lying, controller, pose):
    session = meet(lying[pose])
    deployed = _run(session, controller)
    assert deployed.outcome.up
    assert session.link.bittle.stands


def test_a_swing_gets_it_up_from_flat_on_its_back(meet, flat):
    session = meet(flat)
    assert _run(session, by_routes).outcome.up
    assert session.link.bittle.stands


@pytest.mark.parametrize("controller", CONTROLLERS)
@pytest.mark.parametrize(
    "fault",
    [
        {"latency": 0.04, "jitter": 0.02},
        {"servo_lag": 0.05},
        {"imu_interval": 0.2},
        {"dropped": 0.001, "seed": 1},
        {"quantum": 0.0},
    ],
    ids=str,
)
def test_they_bear_small_faults(meet, lying, controller, fault):
    session = meet(lying[0], **fault)
    assert _run(session, controller).outcome.up
    assert session.link.bittle.stands


def test_a_skill_runs_on_the_board_where_it_can(meet, lying):
    """On its side, with less than 85 deg of roll, or on its belly."""
    session = meet(lying[0])
    by_host = _run(session, by_routes)
    assert not any(each[:1] == b"K" for each in session.link.sent)
    assert by_host.outcome.up


def test_a_board_that_does_not_interrupt_gets_the_skill(meet, lying, monkeypatch):
    monkeypatch.setattr("kaccess.deploy.firmware._FLIPPED", 181.0)
    session = meet(lying[0])
    session.connect()
    session.board = replace(session.board, interrupts_flipped=False)
    assert by_routes(session).up
    assert sum(each[:1] == b"K" for each in session.link.sent) >= 1
    assert session.link.bittle.stands


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_first_moves_are_slow_and_all_within_limits(meet, lying, controller):
    session = meet(lying[0])
    _run(session, controller)
    moves = list_moves(session)
    angles = Angles(session.robot)
    assert (moves >= angles.low).all()
    assert (moves <= angles.high).all()
    steps = np.abs(np.diff(moves[:10], axis=0)).max()
    assert steps <= 4  # 60 deg/s, every 50 ms, and rounding
    held = next(e["held"] for e in session.log.events if "held" in e)
    assert np.abs(moves[0] - angles.to_degrees(angles.to_radians(held))).max() <= 4


def test_the_policy_is_paced_to_what_the_board_can_do(meet, lying):
    # 40 ms are 4 steps of 8 ms and reading, one of which is the standstill: 6 deg.
    assert find_pace(BOARDS[-1], 0.04) == 6.0
    session = meet(lying[0])
    _run(session, by_policy)
    moves = list_moves(session)
    assert np.abs(np.diff(moves, axis=0)).max() <= 7  # and rounding


@pytest.mark.parametrize("controller", CONTROLLERS)
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ({"low_after": 1.5}, "battery is low"),
        ({"volts": 6.5}, "battery is low"),
        ({"dies_after": 2.0}, "link is lost: no line of the IMU"),
    ],
    ids=str,
)
def test_faults_end_in_rest_and_say_why(meet, lying, controller, fault, said):
    session = meet(lying[0], **fault)
    deployed = _run(session, controller)
    assert not deployed.outcome.up
    assert said in deployed.outcome.text
    assert session.link.sent[-2:] == [b"d\n", b"gp\n"]


def test_a_late_loop_ends_in_rest(meet, lying):
    deployed = _run(meet(lying[0], slow=0.15), by_policy)
    assert "the loop is late" in deployed.outcome.text


def test_a_servo_that_works_hard_for_long_ends_in_rest(meet, lying):
    session = meet(lying[0])
    session.watchdog = Watchdog(Limits(heat=0.05))
    assert "may be hot" in _run(session, by_routes).outcome.text


def test_a_pulled_cable_is_said(meet, lying):
    session = meet(lying[0])

    def pull(_):
        if session.now > 2.0:
            raise LinkLostError("the serial port is gone")
        VirtualLink.write(session.link, _)

    session.link.write = pull
    deployed = _run(session, by_routes)
    assert "serial port is gone" in deployed.outcome.text
    assert "not told to rest" in deployed.log.events[-1]["note"]


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_ctrl_c_ends_in_rest(meet, lying, controller):
    session = meet(lying[0])

    def interrupt(until):
        if session.now > 1.5 and session.link.sent[-1] != b"d\n":
            raise KeyboardInterrupt
        VirtualLink.wait(session.link, until)

    session.link.wait = interrupt
    deployed = _run(session, controller)
    assert deployed.interrupted
    assert "Ctrl-C" in deployed.outcome.text
    assert session.link.sent[-2] == b"d\n"
    session.link.bittle.advance(session.link.bittle.now + 3.0)
    assert session.link.bittle.qpos[2] < 0.07  # it lies


def test_silence_and_other_robots_are_explained(meet):
    with pytest.raises(InputError, match=r"No answer from a Bittle .* 115200 baud"):
        _run(meet(dies_after=0.0), by_routes)
    with pytest.raises(InputError, match="'Nybble Q'"):
        _run(meet(model="Nybble Q"), by_routes)


def test_nyboard_cannot_run_a_policy(meet):
    session = meet()
    session.connect()
    session.board = BOARDS[0]
    with pytest.raises(InputError, match="NyBoard V1 cannot run a policy"):
        by_policy(session)


def test_servos_with_feedback_are_asked_once(meet, lying):
    session = meet(lying[0], feedback=True)
    assert _run(session, by_policy).outcome.up
    assert session.link.sent.count(b"fp\n") == 1
    assert any("measured" in e.get("note", "") for e in session.log.events)


def test_the_check_agrees_with_its_own_model(meet, lying):
    session = meet(lying[1])
    session.connect()
    found = check_moves(session, list_steps(), 6)
    assert found.share.value >= 5 / 6
    assert (found.turns > 20).any()
    assert "of 6 moves" in found.text


def test_the_check_notices_another_robot(meet, lying, real, monkeypatch):
    """Its knees are 60 degrees off: it no longer moves as its model does."""
    session = meet(lying[1])
    drive = session.link.bittle.drive
    shift = lambda joint, angle: drive(joint, angle + 60 * (joint >= 12))  # noqa: E731
    monkeypatch.setattr(session.link.bittle, "drive", shift)
    session.connect()
    found = check_moves(session, list_steps(), 6)
    assert found.share.value < 5 / 6


def test_a_dry_run_prints_and_records(tmp_path):
    shown, path = [], tmp_path / "log.jsonl"
    config = DeployConfig(dry_run=True, record=path)
    deployed = deploy("bittle", config, show=shown.append)
    assert deployed.outcome.up
    assert shown[0].endswith("?")
    log = Log.load(path)
    assert log.header["real"] is False
    assert next(e["sent"] for e in log.events if "sent" in e) == b"?\n".hex()
    track = log.follow()
    assert len(track.commands) > 10
    assert len(track.attitudes) > 100
    path.write_text(json.dumps({"kind": "other"}) + "\n")
    with pytest.raises(InputError, match="must be a log"):
        Log.load(path)


def test_a_real_robot_is_asked_about_first(monkeypatch):
    monkeypatch.setattr(
        deploying.__globals__["SerialLink"], "__init__", lambda *_: pytest.fail("open")
    )
    asked = []
    with pytest.raises(InputError, match="Nothing was sent"):
        deploy(
            "bittle", DeployConfig(port="/dev/x"), agree=lambda t: asked.append(t) or 0
        )
    assert "cushion" in asked[0]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "Give one of --port"),
        ({"port": "/dev/x", "host": "y"}, "Give one of --port"),
        ({"simulate": True, "attempts": 0}, "`attempts` must be at least 1"),
    ],
)
def test_settings_are_checked(settings, said):
    with pytest.raises(InputError, match=said):
        DeployConfig(**settings)


def test_a_missing_port_is_explained():
    config = DeployConfig(port="/dev/no-such-port", yes=True)
    with pytest.raises(InputError, match=r"there is no such port.*Plug the robot in"):
        deploy("bittle", config)


def test_a_busy_port_is_explained(real):
    from kaccess.deploy.link import SerialLink
    from kaccess.deploy.simulated import PtyBittle, SimulatedBittle

    with PtyBittle(SimulatedBittle(SimulateConfig(), robot=real)) as robot:
        link = SerialLink(robot.port)
        with pytest.raises(InputError, match="another program uses it"):
            SerialLink(robot.port)
        link.close()


def test_nyboard_on_its_back_is_left_to_its_own_recovery(meet, lying):
    session = meet(lying[0])
    session.connect()
    session.board = BOARDS[0]
    with pytest.raises(InputError, match="Turn the robot off its back"):
        by_routes(session)


def test_a_board_that_hides_its_angles_does_not_move(meet, monkeypatch):
    monkeypatch.setattr("kaccess.deploy.firmware.Firmware._print_joints", lambda _: 0)
    session = meet()
    with pytest.raises(InputError, match="which angles its servos hold"):
        session.connect()
    assert not any(each[:1] == b"I" for each in session.link.sent)


def test_whatever_is_commanded_is_sent_within_the_measured_limits(meet):
    session = meet()
    session.command(np.full(8, 9.0))
    session.command(np.full(8, -9.0))
    angles = Angles(session.robot)
    np.testing.assert_array_equal(list_moves(session), [angles.high, angles.low])


def test_nothing_is_asked_while_a_skill_runs(meet, lying, monkeypatch):
    """Any byte would interrupt it."""
    monkeypatch.setattr("kaccess.deploy.firmware._FLIPPED", 181.0)
    session = meet(lying[0])
    session.connect()
    session.board = replace(session.board, interrupts_flipped=False)
    monkeypatch.setattr("kaccess.deploy.session._BATTERY", 0.5)
    assert by_routes(session).up
    texts = [event.get("text", "") for event in session.log.events]
    assert any(each == b"P~" for each in session.link.sent)
    assert not any("interrupted" in text for text in texts)
