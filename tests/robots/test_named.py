"""Robots by name: in a local folder, and through `robot_descriptions`."""

import sys

import pytest

from kaccess import InputError
from kaccess.robots import named
from kaccess.robots.files import read_model

MODEL = "<mujoco><worldbody><body><geom size='.1'/></body></worldbody></mujoco>"
PACKAGE = "robot_descriptions"
DESCRIPTION = """
import sys
print("Cloning ...")
print("100 %", file=sys.stderr)
REPOSITORY_PATH = {path!r}
MJCF_PATH = REPOSITORY_PATH + "/unitree_go1/go1.xml"
"""
OFFLINE = """
reason = "fatal: Could not resolve host: github.com"
raise OSError("Cmd('git') failed\\n  stderr: '" + reason + "'")
"""


@pytest.fixture
def menagerie(tmp_path):
    """Folder with three robots, as a checkout of MuJoCo Menagerie has them."""
    files = ("unitree_go1/scene", "unitree_go1/go1", "unitree_go1/scene_mjx")
    for name in (*files, "pal_talos/scene_a", "pal_talos/scene_b", "camera/d435i"):
        path = tmp_path / "menagerie" / f"{name}.xml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(MODEL)
    return tmp_path / "menagerie"


@pytest.fixture
def package(tmp_path, monkeypatch, menagerie):
    """A stand-in for robot_descriptions that downloads nothing."""

    def forget():
        for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
            monkeypatch.delitem(sys.modules, name)

    sources = {
        "go1_mj_description": DESCRIPTION.format(path=str(menagerie)),
        "go1_description": OFFLINE,
        "op3_mj_description": DESCRIPTION.format(path=str(menagerie)),
        "ur5_description": "XACRO_PATH = '/cache/ur5.xacro'",
    }
    folder = tmp_path / "packages" / PACKAGE
    folder.mkdir(parents=True)
    names = "".join(f"{name!r}: None, " for name in sources)
    (folder / "__init__.py").write_text(f"DESCRIPTIONS = {{{names}}}")
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source)
    forget()
    monkeypatch.syspath_prepend(folder.parent)
    yield folder
    forget()


@pytest.mark.parametrize(
    ("source", "file"),
    [
        ("menagerie:unitree_go1", "unitree_go1/scene.xml"),
        ("menagerie:unitree_go1/scene_mjx", "unitree_go1/scene_mjx.xml"),
        ("menagerie:unitree_go1/go1.xml", "unitree_go1/go1.xml"),
        ("menagerie:camera", "camera/d435i.xml"),
    ],
)
def test_a_local_folder_needs_no_download(menagerie, monkeypatch, source, file):
    monkeypatch.setattr(named, "find_spec", lambda name: None)
    assert read_model(source, menagerie).path == menagerie / file


def test_a_file_with_the_name_of_its_folder_is_the_robot(menagerie):
    (menagerie / "pal_talos" / "pal_talos.xml").write_text(MODEL)
    file = read_model("menagerie:pal_talos", menagerie)
    assert file.path.name == "pal_talos.xml"


@pytest.mark.parametrize(
    ("source", "match"),
    [
        ("menagerie:go1", r"has no robot 'go1': did you mean unitree_go1\?"),
        ("menagerie:unitre_go1", r"did you mean unitree_go1\?"),
        ("menagerie:zzz", "it has camera, pal_talos, unitree_go1"),
        ("menagerie:", "has no robot ''"),
        ("menagerie:pal_talos", "no scene.xml: .*from scene_a.xml, scene_b.xml"),
        ("menagerie:unitree_go1/x", "has no x: .*from go1.xml, scene.xml"),
        ("description:go1_mj", "with `--robots-path` nothing is"),
    ],
)
def test_unknown_names_list_the_choices(menagerie, source, match):
    with pytest.raises(InputError, match=match):
        read_model(source, menagerie)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none does not exist: `--robots-path` must"):
        read_model("menagerie:unitree_go1", tmp_path / "none")


@pytest.mark.parametrize(
    ("source", "file"),
    [
        ("menagerie:unitree_go1", "scene.xml"),
        ("description:go1_mj_description", "go1.xml"),
        ("description:go1_mj", "go1.xml"),
        ("description:op3", "go1.xml"),
    ],
)
def test_downloads_are_silent(package, menagerie, capfd, source, file):
    assert read_model(source).path == menagerie / "unitree_go1" / file
    out, err = capfd.readouterr()
    assert not out
    assert not err or err.startswith("kaccess: Fetching")
    assert err.count("\n") <= 1  # a line of our own, once a command has set up logging


@pytest.mark.parametrize(
    ("source", "match"),
    [
        ("description:go1", "choose go1_description or go1_mj_description"),
        ("description:go1_mk", r"no such robot; did you mean go1_mj, go1\?"),
        ("description:ur5", "expanded first with xacro: /cache/ur5.xacro"),
        (
            "description:go1_description",
            r"go1_description could not be downloaded: fatal: Could not resolve host: "
            r"github.com\. Without network, let `--robots-path`",
        ),
    ],
)
def test_names_that_cannot_be_fetched(package, source, match):
    with pytest.raises(InputError, match=match) as error:
        read_model(source)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("source", ["menagerie:unitree_go1", "description:go1_mj"])
def test_without_the_package_it_says_how_to_install_it(monkeypatch, source):
    monkeypatch.setattr(named, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'kaccess\[robots\]'"):
        read_model(source)
