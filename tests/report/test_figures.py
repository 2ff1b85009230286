import numpy as np
import pytest

from kaccess import InputError, views
from kaccess.report.render import render_poses


@pytest.fixture
def renders(tiny):
    """Skip where there is no OpenGL to render with."""
    try:
        return render_poses(tiny, tiny.standing[None], width=40, height=30)
    except InputError as error:
        pytest.skip(str(error))


def test_a_rendered_robot_is_not_a_blank_page(renders):
    assert renders.shape == (1, 30, 40, 3)
    assert len(np.unique(renders)) > 20


def test_different_poses_look_different(tiny, renders):
    qpos = np.repeat(tiny.standing[None], 2, axis=0)
    qpos[1, tiny.joint_adr] = 1.0
    images = render_poses(tiny, qpos, width=160, height=120)
    assert (images[0] != images[1]).any()


@pytest.mark.parametrize("works", [True, False])
def test_a_study_has_a_picture_with_or_without_opengl(tiny_study, works, monkeypatch):
    def cannot(*args, **kwargs):
        raise InputError("Nothing can be rendered here.")

    def can(robot, qpos):
        return np.zeros((len(qpos), 30, 40, 3), np.uint8)

    monkeypatch.setattr("kaccess.report.render.render_poses", can if works else cannot)
    path = views.picture(tiny_study)
    assert path.read_bytes().startswith(b"\x89PNG")
