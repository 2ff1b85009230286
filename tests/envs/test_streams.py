import numpy as np

from kaccess.envs.streams import get_streams, make_streams, set_streams


def test_streams_continue_from_their_states():
    streams = make_streams(3, 4)
    for i, stream in enumerate(streams):
        stream.random(i)
        stream.integers(
            0, 9, size=i, dtype=np.uint32
        )  # may leave half of a 64-bit word
    states = get_streams(streams)
    assert states.dtype == np.uint64 and states[1, 4] == 1
    for stream, again in zip(streams, set_streams(states), strict=True):
        for dtype in (np.uint32, np.uint64):
            drawn, same = (s.integers(0, 99, 9, dtype=dtype) for s in (stream, again))
            np.testing.assert_array_equal(drawn, same)


def test_streams_of_one_seed_differ():
    drawn = [stream.random() for seed in (0, 1) for stream in make_streams(seed, 5)]
    assert len(set(drawn)) == 10


def test_without_a_seed_streams_are_random():
    assert make_streams(None, 1)[0].random() != make_streams(None, 1)[0].random()
