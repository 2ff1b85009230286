"""World vectors in the body frame, and tilt on a slope."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kaccess.envs import FallRecovery
from kaccess.envs.kernels import is_upright
from kaccess.envs.readings import _rotate_into_body
from tests.envs.hand import judge, make_standing, tilt_gravity


def draw_quats(n=200):
    """Return orientations. The first ones have zeros, whose signs matter too."""
    some = np.random.default_rng(0).normal(size=(n, 4))
    plain = np.concatenate([np.eye(4), -np.eye(4)])
    return np.concatenate([plain, some / np.linalg.norm(some, axis=1, keepdims=True)])


def rotate_down(quat):
    """Return -z in the body frame, by the formula from before slopes existed."""
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
def test_gravity_along_z_is_equal_to_the_bit_with_and_without_slopes(down):
    out = np.empty(3)
    for quat in draw_quats():
        _rotate_into_body(np.array(down), quat, out)
        assert out.tobytes() == rotate_down(quat).tobytes()


@pytest.mark.parametrize(
    "vector", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-0.6, 0, -0.8), (0.36, 0.48, -0.8)]
)
def test_rotations_equal_those_of_scipy(vector):
    out, vector = np.empty(3), np.array(vector, float)
    for quat in draw_quats():
        _rotate_into_body(vector, quat, out)
        turn = Rotation.from_quat(quat, scalar_first=True)
        np.testing.assert_allclose(out, turn.inv().apply(vector), atol=1e-12)


@pytest.mark.parametrize(
    ("from_vertical", "from_normal", "expected"),
    [
        (10, 0, True),  # parallel to a slope of 10 degrees
        (20, 0, True),  # parallel to a slope of 20 degrees
        (0, 20, True),  # level on a slope of 20 degrees
        (14, 16, True),
        (16, 14, True),
        (16, 16, False),
        (20, 40, False),  # leaning downhill
        (40, 20, False),
    ],
)
def test_tilt_is_measured_from_the_vertical_or_the_floors_normal(
    from_vertical, from_normal, expected
):
    now = make_standing(
        gravity=tilt_gravity(from_vertical),
        floor_cosine=np.cos(np.radians(from_normal)),
    )
    assert is_upright(now, 0, np.radians(15)) == expected
    _, memory = judge(FallRecovery(), now)
    assert memory[0, 0] == expected


def test_the_orientation_reward_is_for_a_level_body():
    slope = np.radians(10)
    level, _ = judge(FallRecovery(), make_standing(floor_cosine=np.cos(slope)))
    parallel, _ = judge(
        FallRecovery(), make_standing(gravity=tilt_gravity(10), floor_cosine=1.0)
    )
    assert level["orientation"][0] == pytest.approx(0.333)
    expected = 0.333 * np.exp(-5 * (2 - 2 * np.cos(slope)))
    assert parallel["orientation"][0] == pytest.approx(expected)
