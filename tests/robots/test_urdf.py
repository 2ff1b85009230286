"""What is changed in a URDF so that MuJoCo reads it as a free robot."""

import struct

import mujoco
import numpy as np
import pytest

from kaccess import InputError
from kaccess.robots.files import compile_model, read_model

BOX = "<collision><geometry><box size='.1 .1 .1'/></geometry></collision>"
LIMIT = "<limit lower='-1' upper='2' effort='5' velocity='3'/>"
TRIANGLES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
CORNERS = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))


def inertial(mass=1.0, diagonal=(0.01, 0.01, 0.01)):
    values = zip(("ixx", "iyy", "izz"), diagonal, strict=True)
    inertia = " ".join(f"{name}='{value}'" for name, value in values)
    return f"<inertial><mass value='{mass}'/><inertia {inertia}/></inertial>"


SOLID = inertial() + BOX


def link(name, content=SOLID):
    return f"<link name='{name}'>{content}</link>"


def joint(name, parent, child, kind="revolute", content=LIMIT):
    return (
        f"<joint name='{name}' type='{kind}'><parent link='{parent}'/>"
        f"<child link='{child}'/><axis xyz='0 1 0'/>{content}</joint>"
    )


def shape(file, tag="collision", scale="1 1 1"):
    mesh = f"<mesh filename='{file}' scale='{scale}'/>"
    return f"<{tag}><geometry>{mesh}</geometry></{tag}>"


def write_stl(path, size=1.0):
    path.parent.mkdir(parents=True, exist_ok=True)
    points = [
        struct.pack("<3f", *(size * value for value in CORNERS[corner]))
        for triangle in TRIANGLES
        for corner in triangle
    ]
    faces = [bytes(12) + b"".join(points[i : i + 3]) for i in range(0, 12, 3)]
    path.write_bytes(bytes(80) + struct.pack("<I", 4) + b"\0\0".join(faces) + b"\0\0")


def write(folder, *parts):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "robot.urdf"
    path.write_text(f"<robot name='walker'>{''.join(parts)}</robot>")
    return path


def read(folder, *parts):
    file = read_model(write(folder, *parts))
    return compile_model(file), file.notes


LEG = (link("base"), link("leg"), joint("hip", "base", "leg"))
FREED = "A free joint was added to its fixed base."


def test_a_fixed_base_is_freed_and_keeps_its_mass(tmp_path):
    model, notes = read(tmp_path, *LEG)
    assert notes == (FREED,)
    assert [model.body(i).name for i in range(model.nbody)] == ["world", "base", "leg"]
    assert model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE
    np.testing.assert_allclose(model.body_mass, [0, 1, 1])


def test_a_floating_base_stays_as_it_is(tmp_path):
    floating = joint("free", "odom", "base", "floating", "")
    model, notes = read(tmp_path, link("odom", ""), floating, *LEG)
    assert notes == ()
    assert model.joint(0).name == "free"
    assert model.njnt == 2


def test_frames_above_the_base_give_it_its_pose(tmp_path):
    frames = (link("world", ""), link("footprint", ""))
    first = joint("a", "world", "footprint", "fixed", "<origin xyz='0 0 1'/>")
    second = joint("b", "footprint", "base", "fixed", "<origin xyz='0 0 2'/>")
    model, notes = read(tmp_path, *frames, first, second, *LEG)
    assert notes == (FREED,)
    assert model.body(1).name == "base"
    np.testing.assert_allclose(model.qpos0[:3], [0, 0, 3])


def test_a_root_called_world_that_moves_gets_another_name(tmp_path):
    model, _ = read(tmp_path, link("world"), link("leg"), joint("hip", "world", "leg"))
    assert model.body(1).name == "world_link"


def test_effort_limits_and_ranges_are_kept(tmp_path):
    model, _ = read(tmp_path, *LEG)
    np.testing.assert_allclose(model.jnt_actfrcrange[1], [-5, 5])
    np.testing.assert_allclose(model.joint("hip").range, [-1, 2])


def test_an_infinite_effort_is_no_limit(tmp_path):
    endless = joint("knee", "leg", "foot", content=LIMIT.replace("'5'", "'inf'"))
    model, _ = read(tmp_path, *LEG, link("foot"), endless)
    np.testing.assert_array_equal(model.jnt_actfrclimited, [0, 1, 0])


def test_mimic_becomes_a_constraint(tmp_path):
    mimic = LIMIT + "<mimic joint='hip' multiplier='2' offset='.5'/>"
    model, _ = read(
        tmp_path, *LEG, link("foot"), joint("k", "leg", "foot", content=mimic)
    )
    assert model.eq_type[0] == mujoco.mjtEq.mjEQ_JOINT
    np.testing.assert_allclose(model.eq_data[0, :2], [0.5, 2])


def test_mimic_of_a_missing_joint_is_dropped(tmp_path):
    mimic = LIMIT + "<mimic joint='nope'/>"
    ankle = joint("ankle", "leg", "foot", content=mimic)
    model, notes = read(tmp_path, *LEG, link("foot"), ankle)
    assert model.neq == 0
    assert "Joints that mimic a fixed or missing joint are independent: ankle." in notes


def test_a_reversed_range_is_turned_round_and_an_empty_one_is_none(tmp_path, capfd):
    back = joint("knee", "leg", "foot", content="<limit lower='1' upper='-2'/>")
    empty = joint("toe", "foot", "tip", content="<limit lower='0' upper='0'/>")
    model, notes = read(tmp_path, *LEG, link("foot"), back, link("tip"), empty)
    np.testing.assert_allclose(model.joint("knee").range, [-2, 1])
    assert not model.jnt_limited[model.joint("toe").id]
    assert "Joints with a reversed range were turned round: knee." in notes
    assert "Joints without a range are unlimited: toe." in notes
    assert capfd.readouterr() == ("", "")


def test_warnings_of_mujoco_are_not_shown(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    ball = joint("ball", "leg", "foot", "spherical", "<limit lower='0' upper='0'/>")
    read(tmp_path, *LEG, link("foot"), ball)
    assert capfd.readouterr() == ("", "")
    assert not (tmp_path / "MUJOCO_LOG.TXT").exists()


def test_an_axis_that_is_given_twice_counts_once(tmp_path):
    twice = joint("ankle", "leg", "foot", content=LIMIT + "<axis xyz='1 0 0'/>")
    model, _ = read(tmp_path, *LEG, link("foot"), twice)
    np.testing.assert_allclose(model.joint("ankle").axis, [0, 1, 0])


def test_a_shape_without_mass_adds_none(tmp_path):
    sole = joint("sole", "leg", "foot", "fixed", "")
    model, _ = read(tmp_path, *LEG, link("foot", BOX), sole)
    np.testing.assert_allclose(model.body_mass.sum(), 2)
    assert model.ngeom == 3


def test_a_moving_link_without_mass_gets_a_small_one(tmp_path):
    model, notes = read(tmp_path, *LEG, link("dummy", ""), joint("a", "leg", "dummy"))
    np.testing.assert_allclose(model.body("dummy").mass, 0.001 * 2)
    assert "Moving links without mass got 0.1 % of the robot's mass: dummy." in notes


def test_what_is_fixed_to_a_massless_link_gives_it_mass(tmp_path):
    parts = (link("dummy", ""), joint("a", "leg", "dummy"))
    foot = (link("foot"), joint("sole", "dummy", "foot", "fixed", ""))
    model, notes = read(tmp_path, *LEG, *parts, *foot)
    np.testing.assert_allclose(model.body("dummy").mass, 1)
    assert notes == (FREED,)


def test_a_robot_without_any_mass_gets_that_of_its_shapes(tmp_path):
    parts = (link("base", BOX), link("leg", BOX), joint("hip", "base", "leg"))
    model, notes = read(tmp_path, *parts)
    np.testing.assert_allclose(model.body_mass[1:], 1.0)  # 1 litre of water each
    assert "It has no masses: those of its shapes, as water, are used." in notes


@pytest.mark.parametrize(
    ("diagonal", "expected"),
    [
        ((0.1, 0.1, 0.4), (0.2, 0.2, 0.4)),  # more than the other two together
        ((0, 0, 0), (0.4 * 0.062035**2,) * 3),  # a ball of 1 kg of water: 62 mm
    ],
)
def test_an_impossible_inertia_is_replaced(tmp_path, diagonal, expected):
    leg = link("leg", inertial(1.0, diagonal) + BOX)
    model, notes = read(tmp_path, link("base"), leg, joint("hip", "base", "leg"))
    found = np.sort(model.body("leg").inertia)
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    assert (
        "Links with an impossible inertia got the nearest possible one: leg." in notes
    )


def test_a_slender_inertia_is_kept(tmp_path):
    leg = link("leg", inertial(1.0, (1e-6, 0.1, 0.1)) + BOX)
    model, notes = read(tmp_path, link("base"), leg, joint("hip", "base", "leg"))
    np.testing.assert_allclose(np.sort(model.body("leg").inertia), [1e-6, 0.1, 0.1])
    assert notes == (FREED,)


@pytest.mark.parametrize(
    ("uri", "place"),
    [
        ("package://walker/meshes/hip.stl", "walker/meshes/hip.stl"),
        ("package://other_name/meshes/hip.stl", "walker/meshes/hip.stl"),
        ("package:///walker/meshes/hip.stl", "walker/meshes/hip.stl"),
        ("model://walker/meshes/hip.stl", "share/walker/meshes/hip.stl"),
        ("file:///home/author/walker/meshes/hip.stl", "walker/meshes/hip.stl"),
        ("../meshes/hip.stl", "walker/meshes/hip.stl"),
        ("hip.stl", "walker/urdf/hip.stl"),
        ("../meshes/hip.STL", "walker/meshes/hip.STL"),
        ("../meshes/hip.dae", "walker/meshes/hip.obj.stl"),
    ],
)
def test_meshes_are_found(tmp_path, monkeypatch, uri, place):
    monkeypatch.chdir("/")
    write_stl(tmp_path / place.replace("hip.obj.stl", "hip.stl"))
    content = inertial() + shape(uri)
    model, notes = read(tmp_path / "walker" / "urdf", link("base", content))
    assert model.nmesh == 1
    assert notes == (FREED,)


@pytest.mark.parametrize(
    ("variable", "place"),
    [("ROS_PACKAGE_PATH", "away"), ("AMENT_PREFIX_PATH", "away/share")],
)
def test_meshes_are_found_in_ros_packages(tmp_path, monkeypatch, variable, place):
    write_stl(tmp_path / place / "walker" / "hip.stl")
    monkeypatch.setenv(variable, str(tmp_path / "away"))
    base = link("base", inertial() + shape("package://walker/hip.stl"))
    assert read(tmp_path / "urdf", base)[0].nmesh == 1


def test_a_mesh_folder_for_mujoco_is_searched(tmp_path):
    write_stl(tmp_path / "parts" / "hip.stl")
    extension = "<mujoco><compiler meshdir='parts'/></mujoco>"
    model, _ = read(tmp_path, extension, link("base", inertial() + shape("hip.stl")))
    assert model.nmesh == 1


def test_a_dae_mesh_is_replaced_by_its_twin_in_another_folder(tmp_path):
    write_stl(tmp_path / "stl" / "hip.stl")
    (tmp_path / "dae").mkdir()
    (tmp_path / "dae" / "hip.dae").write_text("<COLLADA/>")
    model, _ = read(tmp_path, link("base", inertial() + shape("dae/hip.dae")))
    assert model.nmesh == 1


def test_meshes_of_one_name_and_two_scales_stay_apart(tmp_path):
    write_stl(tmp_path / "front" / "hip.stl")
    write_stl(tmp_path / "rear" / "hip.stl", size=3.0)
    files = ("front/hip.stl", "rear/hip.stl", "front/hip.stl")
    shapes = [shape(file) for file in files[:2]] + [shape(files[2], scale="2 2 2")]
    model, _ = read(tmp_path, link("base", inertial() + "".join(shapes)))
    np.testing.assert_allclose(model.geom_rbound / model.geom_rbound[0], [1, 3, 2])


def test_stl_as_text_and_flat_meshes_are_read(tmp_path):
    corners = "".join(f"vertex {x} {y} 0\n" for x, y in ((0, 0), (1, 0), (0, 1)))
    text = f"solid flat\nfacet normal 0 0 1\nouter loop\n{corners}endloop\nendfacet\n"
    solid = "".join(
        "vertex {} {} {}\n".format(*CORNERS[corner])
        for triangle in TRIANGLES
        for corner in triangle
    )
    (tmp_path / "text.stl").write_text(text.replace(corners, solid))
    write_stl(tmp_path / "thin.stl")
    shapes = shape("text.stl") + shape("thin.stl", scale="1 1 0")
    assert read(tmp_path, link("base", inertial() + shapes))[0].nmesh == 2


def test_shapes_that_cannot_be_read_are_left_out(tmp_path):
    (tmp_path / "hip.dae").write_text("<COLLADA/>")
    (tmp_path / "stub.stl").write_text("version https://git-lfs.github.com/spec/v1")
    shapes = BOX + shape("hip.dae") + shape("meshes/none.stl") + shape("stub.stl")
    model, notes = read(tmp_path, link("base", inertial() + shapes))
    assert model.ngeom == 1
    assert "Collision shapes that MuJoCo cannot read are left out: hip.dae." in notes
    lost = "Collision shapes that were not found are left out: none.stl, stub.stl."
    assert lost in notes


def test_visual_shapes_are_dropped_even_if_their_meshes_are_missing(tmp_path):
    content = inertial() + BOX + shape("nowhere.dae", tag="visual")
    model, notes = read(tmp_path, link("base", content))
    assert model.ngeom == 1
    assert notes == (FREED,)


def test_visual_shapes_collide_if_there_are_no_others(tmp_path):
    visual = BOX.replace("collision", "visual")
    model, notes = read(tmp_path, link("base", inertial() + visual))
    assert model.geom_contype[0] == 1
    assert "It has no collision shapes: its visual shapes collide." in notes


def test_a_robot_without_shapes_says_so(tmp_path):
    _, notes = read(tmp_path, link("base", inertial()))
    assert "It has no shapes, so it cannot touch anything." in notes


def test_extras_are_ignored_and_options_kept(tmp_path):
    extras = "<transmission name='t'/><gazebo/><material name='m'/>"
    option = "<mujoco><option timestep='.004'/></mujoco>"
    assert read(tmp_path, extras, option, *LEG)[0].opt.timestep == 0.004


def test_what_is_added_for_the_eye_is_kept(tmp_path):
    file = read_model(write(tmp_path, *LEG))
    file.spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.1, 0, 0], contype=0, conaffinity=0
    )
    assert compile_model(file).ngeom == 3


@pytest.mark.parametrize(
    ("parts", "match"),
    [
        ((), "it has no links"),
        ((link("a"), link("a")), "two links are called 'a'"),
        ((link("a"), link("b")), "2 of its links have no parent, instead of one"),
        ((*LEG, joint("back", "leg", "base")), "0 of its links have no parent"),
        ((*LEG, joint("again", "base", "leg")), "'leg' is the child of two joints"),
        ((*LEG, joint("toe", "leg", "toe")), "the link 'toe', which is missing"),
        ((link("a", inertial("heavy")),), "<mass value='heavy'> is not a number"),
        ((link("a", shape("b/c.stl")),), "1 of its mesh files are missing, first b/c"),
        (("<link name='${x}'/>",), "is a xacro file.*expand it first with `xacro"),
        (("<xacro:macro/>",), "is a xacro file"),
        (("<link>",), "is not valid XML: mismatched tag"),
        ((*LEG, link("c"), joint("j", "leg", "c", "wrong")), "MuJoCo cannot use"),
    ],
)
def test_errors_are_one_sentence(tmp_path, parts, match):
    path = write(tmp_path, *parts)
    with pytest.raises(InputError, match=match) as error:
        compile_model(read_model(path))
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_robot_with_only_unreadable_shapes_is_refused(tmp_path):
    (tmp_path / "hip.dae").write_text("<COLLADA/>")
    path = write(tmp_path, link("base", inertial() + shape("hip.dae")))
    with pytest.raises(InputError, match=r"none of its collision shapes.*convert"):
        read_model(path)


def test_a_declaration_after_blank_lines_is_accepted(tmp_path):
    path = write(tmp_path, *LEG)
    path.write_text(f"\n\n<?xml version='1.0'?>\n{path.read_text()}")
    assert read_model(path).name == "walker"
