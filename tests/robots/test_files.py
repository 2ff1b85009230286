"""Robot files: what is read, what it is called, and one sentence for each failure."""

from pathlib import Path

import pytest

from kaccess import InputError
from kaccess.robots.files import compile_model, read_model

BODY = "<worldbody><body><freejoint/><geom size='.1'/></body></worldbody>"


def write(path, content=BODY, *, model="model='walker'"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"<mujoco {model}>{content}</mujoco>")
    return path


def write_mesh(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
    path.write_text(corners + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")


def with_meshes(*files, folder="assets"):
    meshes = "".join(f"<mesh file='{file}'/>" for file in files)
    shapes = "".join(f"<geom type='mesh' mesh='{Path(f).stem}'/>" for f in files)
    return (
        f"<compiler meshdir='{folder}'/><asset>{meshes}</asset>"
        f"<worldbody><body name='base'>{shapes}</body></worldbody>"
    )


def test_a_relative_path_works_from_any_folder(tmp_path, monkeypatch):
    write_mesh(tmp_path / "robot" / "assets" / "hip.obj")
    write(tmp_path / "robot" / "walker.xml", with_meshes("hip.obj"))
    include = "<include file='walker.xml'/>"
    write(tmp_path / "robot" / "scene.xml", include, model="model='walker scene'")
    monkeypatch.chdir(tmp_path)
    file = read_model("robot/scene.xml")
    monkeypatch.chdir("/")
    assert file.path == tmp_path / "robot" / "scene.xml"
    assert (file.name, file.notes) == ("walker", ())
    assert compile_model(file).nmesh == 1


def test_meshes_of_an_attached_model_are_found_in_its_own_folder(tmp_path):
    write_mesh(tmp_path / "assets" / "hip.obj")
    write(tmp_path / "leg.xml", with_meshes("hip.obj"))
    parts = (
        "<asset><model name='leg' file='leg.xml'/></asset>"
        "<worldbody><attach model='leg' body='base' prefix='l'/></worldbody>"
    )
    assert compile_model(read_model(write(tmp_path / "top.xml", parts))).nmesh == 1


def test_a_urdf_may_be_called_xml(tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text(
        "<!-- made by hand --><robot name='my dog'><link name='a'/></robot>"
    )
    file = read_model(path)
    assert file.name == "my_dog"
    assert file.notes


@pytest.mark.parametrize(
    ("model", "path", "name"),
    [
        ("go1", "a/go1.xml", "go1"),
        ("go1 scene", "a/scene.xml", "go1"),
        ("go1_scene", "a/scene.xml", "go1"),
        ("scene", "unitree_go1/scene.xml", "unitree_go1"),
        ("", "unitree_go1/scene_mjx.xml", "unitree_go1"),
        ("", "unitree_go1/robot.xml", "unitree_go1"),
        ("MuJoCo Model", "a/dog.xml", "dog"),
        ("", "a/sceneric.xml", "sceneric"),
        ("my dog/2 é", "a/dog.xml", "my_dog_2"),
        ("A-1.b_c", "a/dog.xml", "A-1.b_c"),
    ],
)
def test_names_are_never_scene_and_safe_in_paths(tmp_path, model, path, name):
    given = f"model='{model}'" if model else ""
    assert read_model(write(tmp_path / path, model=given)).name == name


def test_a_missing_file_names_what_is_known(tmp_path):
    write(tmp_path / "walker.xml")
    with pytest.raises(
        InputError,
        match=r"Unknown robot .*one of bittle, menagerie:NAME, description:NAME\. Did "
        r"you mean 'walker.xml'\?",
    ):
        read_model(tmp_path / "walkr.xml", known=["bittle"])


def test_a_folder_lists_its_robots(tmp_path):
    write(tmp_path / "a.xml")
    write(tmp_path / "b.urdf")
    with pytest.raises(InputError, match=r"is a folder.*choose one of a.xml, b.urdf"):
        read_model(tmp_path)


def test_missing_meshes_are_counted(tmp_path):
    write_mesh(tmp_path / "assets" / "hip.obj")
    content = with_meshes("hip.obj", "knee.obj", "foot.obj")
    write(tmp_path / "walker.xml", content)
    path = write(tmp_path / "scene.xml", "<include file='walker.xml'/>")
    first = tmp_path / "assets" / "knee.obj"
    with pytest.raises(
        InputError, match=f"2 files that .* cannot be found, first {first}"
    ):
        read_model(path)


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ("solid walker", "is not XML"),
        ("", "is not XML"),
        (
            "<sdf version='1.6'/>",
            "is neither MJCF nor URDF: its first element is <sdf>",
        ),
        ("<mujoco><worldbody></mujoco>", "MuJoCo cannot use .*XML"),
        ("<mujoco><walker/></mujoco>", "MuJoCo cannot use .*walker"),
        ("<mujoco><include file='no.xml'/></mujoco>", "MuJoCo cannot use .*no.xml"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, content, match):
    path = tmp_path / "walker.xml"
    path.write_text(content)
    with pytest.raises(InputError, match=match) as error:
        read_model(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_errors_of_the_compiler_are_one_sentence(tmp_path):
    massless = "<worldbody><body name='arm'><joint/></body></worldbody>"
    file = read_model(write(tmp_path / "walker.xml", massless))
    with pytest.raises(InputError, match=r"MuJoCo cannot use .*mass.*'arm'") as error:
        compile_model(file)
    assert "\n" not in str(error.value)


def test_warnings_of_mujoco_are_not_shown(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    deprecated = f"<compiler settotalmass='3'/>{BODY}"
    compile_model(read_model(write(tmp_path / "walker.xml", deprecated)))
    assert capfd.readouterr() == ("", "")
    assert not (tmp_path / "MUJOCO_LOG.TXT").exists()
