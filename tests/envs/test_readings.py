"""Vectors of the world in the frame of a body, and what tilt means on a slope."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kaccess.envs import FallRecovery
from kaccess.envs.kernels import upright
from kaccess.envs.readings import _in_body
from tests.envs.hand import judge, standing, tilted


def quats(n=200):
    """Orientations, the plain ones first: they have zeros, whose signs count too."""
    some = np.random.default_rng(0).normal(size=(n, 4))
    plain = np.concatenate([np.eye(4), -np.eye(4)])
    return np.concatenate([plain, some / np.linalg.norm(some, axis=1, keepdims=True)])


def straight_down(quat):
    """Gravity along -z, as it was computed when there were no slopes."""
    w, x, y, z = quat
    size = w * w + x * x + y * y + z * z
    return np.array(
        [
            -2.0 * (x * z - w * y) / size,
            -2.0 * (y * z + w * x) / size,
            (x * x + y * y - w * w - z * z) / size,
        ]
    )


@pytest.mark.parametrize("down", [(0.0, 0.0, -1.0), (-0.0, -0.0, -1.0)])
def test_gravity_along_z_gives_the_same_bits_as_without_slopes(down):
    out = np.empty(3)
    for quat in quats():
        _in_body(np.array(down), quat, out)
        assert out.tobytes() == straight_down(quat).tobytes()


@pytest.mark.parametrize(
    "vector", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-0.6, 0, -0.8), (0.36, 0.48, -0.8)]
)
def test_any_vector_is_turned_as_scipy_turns_it(vector):
    out, vector = np.empty(3), np.array(vector, float)
    for quat in quats():
        _in_body(vector, quat, out)
        turn = Rotation.from_quat(quat, scalar_first=True)
        np.testing.assert_allclose(out, turn.inv().apply(vector), atol=1e-12)


@pytest.mark.parametrize(
    ("from_vertical", "from_normal", "is_upright"),
    [
        (10, 0, True),  # square on a slope of 10 degrees
        (20, 0, True),  # square on a slope of 20 degrees
        (0, 20, True),  # level on it
        (14, 16, True),
        (16, 14, True),
        (16, 16, False),
        (20, 40, False),  # leaning downhill
        (40, 20, False),
    ],
)
def test_tilt_is_from_the_vertical_or_the_floors_normal(
    from_vertical, from_normal, is_upright
):
    now = standing(
        gravity=tilted(from_vertical), square=np.cos(np.radians(from_normal))
    )
    assert upright(now, 0, np.radians(15)) == is_upright
    _, memory = judge(FallRecovery(), now)
    assert memory[0, 0] == is_upright


def test_the_reward_is_for_a_level_body():
    slope = np.radians(10)
    level, _ = judge(FallRecovery(), standing(square=np.cos(slope)))
    square, _ = judge(FallRecovery(), standing(gravity=tilted(10), square=1.0))
    assert level["orientation"][0] == pytest.approx(0.333)
    expected = 0.333 * np.exp(-5 * (2 - 2 * np.cos(slope)))
    assert square["orientation"][0] == pytest.approx(expected)
