"""Pictures: bodies without meshes show the shapes that collide."""

import mujoco
import numpy as np

from kaccess.envs.camera import show_bare_bodies

BODY = """
<body>
  <geom name="{name}-shape" size="0.1" group="3"/>
  <geom name="{name}-mesh" size="0.1" group="{group}" contype="0" conaffinity="0"/>
</body>"""


def make_model(*groups):
    """Return a model of bodies whose meshes are in some groups; 3 is hidden."""
    bodies = "".join(
        BODY.format(name=name, group=group) for name, group in enumerate(groups)
    )
    floor = '<geom name="floor" type="plane" size="1 1 1"/>'
    xml = f"<mujoco><worldbody>{floor}{bodies}</worldbody></mujoco>"
    return mujoco.MjModel.from_xml_string(xml)


def find_hidden(model):
    hidden = np.flatnonzero(show_bare_bodies(model).geom_group >= 3)
    return [model.geom(int(geom)).name for geom in hidden]


def test_a_robot_with_meshes_is_drawn_as_it_is():
    model = make_model(2, 2)
    assert show_bare_bodies(model) is model
    assert find_hidden(model) == ["0-shape", "1-shape"]


def test_a_body_without_a_mesh_shows_its_shape():
    model = make_model(2, 2, 3)
    assert find_hidden(model) == ["0-shape", "1-shape"]
    assert model.geom("2-shape").group == 3  # the robot itself stays as it is


def test_all_bodies_show_their_shapes_if_most_have_no_mesh():
    assert find_hidden(make_model(2, 3, 3)) == []
