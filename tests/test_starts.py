import numpy as np
import pytest

from kaccess import InitialStates, InputError
from kaccess.starts import NINE_POSES


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
    with pytest.raises(InputError, match="holds no initial states"):
        InitialStates.load(path)
    np.savez(tmp_path / "y.npz", other=np.zeros(3))
    with pytest.raises(InputError, match="holds no initial states"):
        InitialStates.load(tmp_path / "y.npz")


@pytest.mark.parametrize("weights", [(1.0, 1.0, 1.0), (1.5, -0.5, 0.0), (1.0, 0.0)])
def test_weights_that_are_no_distribution_are_refused(weights):
    with pytest.raises(InputError, match="`weights`"):
        three(weights)


def test_no_states_are_refused():
    with pytest.raises(InputError, match="`qpos` must be states"):
        InitialStates(np.zeros((0, 2)), np.zeros(0), (), "m")


def test_bittle_has_the_nine_poses(bittle):
    assert set(NINE_POSES) <= bittle.keyframes.keys()
