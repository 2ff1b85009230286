import numpy as np
import pytest

from kaccess import InitialStates, InputError
from kaccess.starts import KEYFRAME_STARTS, parse_mixture


def three(weights=(0.5, 0.5, 0.0)):
    return InitialStates(
        np.arange(6.0).reshape(3, 2), np.array(weights), ("a", "b", "c"), "model"
    )


def test_states_are_drawn_by_their_weights():
    drawn = three().sample(np.random.default_rng(0), 1000)
    assert drawn.shape == (1000, 2)
    share = (drawn[:, 0] == 0).mean()
    assert 0.45 < share < 0.55
    assert not (drawn[:, 0] == 4).any()


def test_the_same_generator_draws_the_same_states():
    one, other = (three().sample(np.random.default_rng(3), 20) for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_uniform_states_have_equal_weights():
    states = InitialStates.uniform(np.zeros((4, 2)), names=tuple("abcd"), model="m")
    np.testing.assert_array_equal(states.weights, 0.25)
    assert len(states) == 4


def test_saved_states_read_back(tmp_path):
    path = tmp_path / "starts" / "ka.npz"
    three().save(path)
    again = InitialStates.load(path)
    np.testing.assert_array_equal(again.qpos, three().qpos)
    np.testing.assert_array_equal(again.weights, three().weights)
    assert (again.names, again.model) == (("a", "b", "c"), "model")
    assert [p.name for p in path.parent.iterdir()] == ["ka.npz"]


@pytest.mark.parametrize("content", [b"", b"hello", None])
def test_a_file_without_states_is_explained(tmp_path, content):
    path = tmp_path / "x.npz"
    if content is not None:
        path.write_bytes(content)
    message = r"x.npz (is damaged: it is not a whole|does not exist).*kaccess cluster"
    with pytest.raises(InputError, match=message):
        InitialStates.load(path)
    np.savez(tmp_path / "y.npz", other=np.zeros(3))
    with pytest.raises(InputError, match=r"y.npz is damaged: it has no `model`"):
        InitialStates.load(tmp_path / "y.npz")


@pytest.mark.parametrize("weights", [(1.0, 1.0, 1.0), (1.5, -0.5, 0.0), (1.0, 0.0)])
def test_weights_that_are_no_distribution_are_refused(weights):
    with pytest.raises(InputError, match="`weights`"):
        three(weights)


def test_no_states_are_refused():
    with pytest.raises(InputError, match="`qpos` must be states"):
        InitialStates(np.zeros((0, 2)), np.zeros(0), (), "m")


def test_bittle_has_the_nine_poses(bittle):
    assert set(KEYFRAME_STARTS["9-pose"]) <= bittle.keyframes.keys()


def test_a_mixture_draws_from_each_by_its_share():
    one = InitialStates.uniform(np.zeros((3, 2)), names=("a", "b", "c"), model="m")
    other = InitialStates.uniform(np.ones((1, 2)), names=("d",), model="")
    mixture = InitialStates.mix({one: 0.7, other: 0.3})
    np.testing.assert_allclose(mixture.weights, [0.7 / 3] * 3 + [0.3])
    assert (mixture.names, mixture.model) == (("a", "b", "c", "d"), "m")
    drawn = mixture.sample(np.random.default_rng(0), 2000)
    assert drawn[:, 0].mean() == pytest.approx(0.3, abs=0.03)


def test_shares_that_do_not_sum_to_one_are_refused():
    with pytest.raises(InputError, match=r"`weights` must be .* sum to 1"):
        InitialStates.mix({three(): 0.5})
    with pytest.raises(InputError, match="at least one"):
        InitialStates.mix({})


def test_states_of_different_robots_are_not_mixed():
    other = InitialStates.uniform(np.zeros((1, 2)), names=("d",), model="another")
    wider = InitialStates.uniform(np.zeros((1, 3)), names=("d",), model="")
    for stranger in (other, wider):
        with pytest.raises(InputError, match="different robots"):
            InitialStates.mix({three(): 0.5, stranger: 0.5})


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("ka", {"ka": 1.0}),
        ("ka+rnd:0.2", {"ka": 0.8, "rnd": 0.2}),
        ("ka:0.7+9-pose:0.3", {"ka": 0.7, "9-pose": 0.3}),
        ("ka + km + rnd:0.5", {"ka": 0.25, "km": 0.25, "rnd": 0.5}),
    ],
)
def test_a_mixture_is_written_in_one_line(text, shares):
    assert parse_mixture(text) == pytest.approx(shares)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ka:0.5", "must sum to 1"),
        ("ka+rnd:0.7+km:0.6", "must sum to 1"),
        ("ka+rnd:x", "from 0 to 1, got 'x'"),
        ("ka+rnd:-0.1", "from 0 to 1"),
        ("ka+", "must name distributions"),
        ("ka+ka", "each once"),
        ("", "must name distributions"),
    ],
)
def test_a_mixture_that_makes_no_sense_is_explained(text, reason):
    with pytest.raises(InputError, match=reason):
        parse_mixture(text)
