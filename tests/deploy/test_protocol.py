"""OpenCat's messages: bytes solved by hand, and there and back for any angles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kaccess.base.errors import InputError
from kaccess.deploy.boards import BOARDS, NEVER_ASK, find_board
from kaccess.deploy.protocol import (
    Attitude,
    Commanded,
    Echo,
    Joints,
    Lines,
    LowPower,
    Note,
    Voltage,
    decode_bytes,
    decode_numbers,
    describe_message,
    encode_list,
    encode_move,
    encode_skill,
    encode_text,
    encode_text_move,
    parse_line,
)

ANGLE = st.integers(-125, 125)
MOVES = st.dictionaries(st.integers(0, 15), ANGLE, min_size=1)


def pair(numbers):
    return dict(zip(numbers[::2], numbers[1::2], strict=True))


def test_messages_solved_by_hand():
    assert encode_text("k", *()) == b"k\n"
    assert encode_text_move({8: 30, 9: -20}) == b"i8 30 9 -20\n"
    # One signed byte each: -20 is 236.
    assert encode_move({9: -20, 8: 30}) == b"I\x08\x1e\x09\xec~"
    assert encode_list([0] * 15 + [-1]) == b"L" + b"\0" * 15 + b"\xff~"


@given(MOVES)
def test_moves_come_back(angles):
    assert pair(decode_bytes(encode_move(angles)[1:-1])) == angles
    assert pair(decode_numbers(encode_text_move(angles)[1:])) == angles


@given(st.lists(MOVES, min_size=2, max_size=4))
def test_the_last_of_several_waiting_moves_wins(moves):
    """The firmware reads them as one message, without the first token and last end."""
    every = b"".join(map(encode_move, moves))[1:-1]
    merged = {k: v for k, v in pair(decode_bytes(every)).items() if 0 <= k < 16}
    expected = {}
    for move in moves:
        expected |= move
    assert merged == expected


def test_no_number_may_end_the_message():
    with pytest.raises(InputError, match=r"-128 to 125, got 126"):
        encode_move({8: 126})
    with pytest.raises(InputError, match=r"0 to 15, got 16"):
        encode_move({16: 0})


def test_a_skill_halves_angles_beyond_125():
    frame = [0] * 8 + [130, -60, 20, 20, 0, 0, 0, 0] + [16, 2, -2, 30]
    message = encode_skill([-1, 0, 0, 1, 0, 0, 0, *frame])
    numbers = decode_bytes(message[1:-1])
    assert numbers[:7] == [-1, 0, 0, 2, 0, 0, 0]
    assert numbers[7 + 8 : 7 + 12] == [65, -30, 10, 10]
    assert numbers[-4:] == [16, 2, -2, 30]  # speed, delay and trigger stay
    with pytest.raises(InputError, match="as many frames"):
        encode_skill([-2, 0, 0, 1, 0, 0, 0, *frame])


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        # Printed by a BiBoard V1.0 with firmware B10_260717 (mike-grayhat/bittlejuice).
        ("ICM: -0.06 -0.09 10.05 1791.8   -0.3   -0.9\t", Attitude(-0.3, -0.9, 1791.8)),
        ("MCU:-10.05-10.05-10.05-179.9-100.0-170.0", Attitude(-100, -170, -179.9)),
        ("ICM  -1.0   2.0   3.5\t", Attitude(2.0, 3.5, -1.0)),
        ("-0.31000\t1.20000", Attitude(-0.31, 1.2)),  # NyBoard
        ("Voltage: 7.85 V", Voltage(7.85)),
        ("Low power:6V", LowPower("Low power:6V")),
        ("0\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t11\t12\t13\t14\t15\t", None),
        (
            "-29,\t-79,\t-44,\t1,\t0,\t0,\t0,\t0,\t76,\t76,\t76,\t76,\t-54,\t-54,\t"
            "-54,\t-54,\t",
            Commanded((-29, -79, -44, 1, 0, 0, 0, 0, *[76] * 4, *[-54] * 4)),
        ),
        (
            "0.0\t1.5\t-2.0\t3.0\t4.0\t5.0\t6.0\t7.0\t8.0\t",
            Joints((1.5, -2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)),
        ),
        ("k", Echo("k")),
        ("Bittle X", Note("Bittle X")),
    ],
)
def test_lines_of_the_firmware(line, expected):
    found = parse_line(line + "\r")
    assert found == expected if expected else isinstance(found, Note)


@given(st.binary(max_size=200), st.integers(0, 200))
def test_lines_do_not_depend_on_how_bytes_arrive(data, cut):
    whole, parts = Lines(), Lines()
    assert list(whole.feed(data)) == [*parts.feed(data[:cut]), *parts.feed(data[cut:])]


def test_messages_can_be_read_by_people():
    assert describe_message(encode_move({8: 30, 9: -20})) == "I 8 30 9 -20"
    assert describe_message(b"ksit\n") == "ksit"


@pytest.mark.parametrize("board", BOARDS)
def test_every_board_is_found_by_its_version(board):
    assert find_board("Bittle X", f"{board.version}250712") is board
    for message in (board.stream_on, board.stream_off, board.balance_off):
        assert chr(message[0]) not in NEVER_ASK


@pytest.mark.parametrize(
    ("model", "version", "said"),
    [
        ("Nybble Q", "B10_260717", "must be a Bittle .* 'Nybble Q'"),
        ("Bittle X+Arm", "B10_260717", "without an arm"),
        ("Bittle", "X_1", "'X_1' is not known; known are N_"),
    ],
)
def test_other_robots_are_refused(model, version, said):
    with pytest.raises(InputError, match=said):
        find_board(model, version)
