"""What is written: arrays, keyframes, and sentences about what is not possible."""

import json
import shutil

import mujoco
import numpy as np
import pytest

from kaccess import InputError, pipeline
from kaccess.cli import main
from kaccess.starts import InitialStates
from kaccess.study import Study
from tests.conftest import TINY
from tests.exports.loading import load_file
from tests.training.runs import refusal

# The same robot with its joints in the other order, under a scene of its own.
SWAPPED = """
<mujoco>
  <worldbody>
    <geom type="plane" size="0 0 .1"/>
    <body name="base">
      <freejoint/>
      <geom type="box" size=".1 .06 .03"/>
      <body><joint name="right" axis="0 1 0"/><geom size=".02"/></body>
      <body><joint name="left" axis="0 1 0"/><geom size=".02"/></body>
    </body>
  </worldbody>
</mujoco>
"""


def test_the_arrays_are_the_starts_of_the_study(small_study, arrays):
    starts = InitialStates.load(small_study.path / "starts" / "ka.npz")
    np.testing.assert_array_equal(arrays["qpos"], starts.qpos)
    np.testing.assert_array_equal(arrays["weights"], starts.weights)
    assert arrays["qvel"].shape == (4, 8) and not arrays["qvel"].any()
    assert arrays["joint_names"].tolist() == ["left", "right"]
    assert arrays["model"] == small_study.robot.fingerprint
    source = json.loads(str(arrays["source"]))
    assert source["robot"] == "tiny" and source["starts"] == "ka"


def test_the_next_targets_are_those_of_the_plan(small_study, arrays):
    poses, plan = small_study.poses, small_study.plan
    rows = small_study.clusterings["kaccess"].centroids
    command, *_ = plan.choose(poses.gravity[rows], poses.joints[rows])
    wanted = plan.commands.postures[command]
    np.testing.assert_array_equal(arrays["next_targets"], wanted)


def test_a_model_can_include_the_keyframes(folders, arrays, tmp_path):
    shutil.copy(folders["mjcf"] / "kaccess_keyframes.xml", tmp_path)
    shutil.copy(TINY, tmp_path)
    scene = tmp_path / "scene.xml"
    scene.write_text(
        '<mujoco><include file="tiny.xml"/>'
        '<include file="kaccess_keyframes.xml"/></mujoco>'
    )
    model = mujoco.MjModel.from_xml_path(str(scene))
    assert model.nkey == 1 + 4
    key = model.key("kaccess-3").id
    np.testing.assert_array_equal(model.key_qpos[key], arrays["qpos"][3])


def test_keyframes_are_added_to_a_spec_by_the_names_of_joints(folders, arrays):
    file = load_file(folders["mjcf"] / "kaccess_mjcf.py")
    spec = mujoco.MjSpec.from_string(SWAPPED)
    file.add_keyframes(spec)
    model = spec.compile()
    wanted = arrays["qpos"][:, [*range(7), 8, 7]]
    np.testing.assert_array_equal(model.key_qpos, wanted)


def test_keyframes_are_drawn_with_the_probabilities_of_the_starts(folders, tmp_path):
    folder = shutil.copytree(folders["mjcf"], tmp_path / "mjcf")
    path = folder / "kaccess_starts.npz"
    with np.load(path) as data:
        np.savez(path, **{**data, "weights": np.array([0.0, 1.0, 0.0, 0.0])})
    file = load_file(folder / "kaccess_mjcf.py")
    spec = mujoco.MjSpec.from_file(str(TINY))
    file.add_keyframes(spec)
    keys = file.choose_keys(spec.compile(), 5)
    assert keys.tolist() == [2] * 5  # the model has a keyframe of its own before them


def test_other_joints_are_an_error_of_one_sentence(folders):
    file = load_file(folders["mjcf"] / "kaccess_mjcf.py")
    spec = mujoco.MjSpec.from_string(SWAPPED.replace('name="left"', 'name="tail"'))
    said = (
        r"only the robot has \['tail'\], and only the starts have \['left'\]\. Export"
    )
    with pytest.raises(ValueError, match=said):
        file.add_keyframes(spec)


def test_the_command_says_what_it_has_written(small_study, tmp_path, capsys):
    out = tmp_path / "out"
    main(["export", str(small_study.path), "--for", "mjlab", "--out", str(out)])
    said = capsys.readouterr().out
    assert f"4 starts for mjlab in {out}: kaccess_starts.npz, kaccess_mjlab.py" in said
    names = {"kaccess_starts.npz", "kaccess_mjlab.py", "kaccess_guide.py"}
    assert {path.name for path in out.iterdir()} == names


def test_a_mixture_is_exported(small_study, tmp_path):
    found = pipeline.export_starts(small_study, "mjcf", tmp_path, starts="ka+rnd:0.2")
    assert found.n_starts == 4 + 12
    with np.load(tmp_path / "kaccess_starts.npz") as data:
        assert data["weights"][4:].sum() == pytest.approx(0.2)


def test_without_routes_only_starts_are_written(small_study, tmp_path, monkeypatch):
    monkeypatch.setattr(Study, "has_routes", property(lambda _: False))
    study = Study(small_study.path)
    found = pipeline.export_starts(study, "gymnasium", tmp_path)
    assert "no chain of moves leads to standing" in found.lacks_guide
    assert found.names == ("kaccess_starts.npz", "kaccess_gymnasium.py")
    with np.load(tmp_path / "kaccess_starts.npz") as data:
        assert "quality" not in data and "next_targets" not in data


def test_before_any_times_only_starts_are_written(
    tiny_study, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("kaccess.study.starts._N_FRESH", 5)
    args = [tiny_study, "--for", "mjcf", "--starts", "fresh", "--out", tmp_path / "out"]
    main(["export", *map(str, args)])
    said = capsys.readouterr().out
    assert "There is no guide, only starts" in said and "kaccess access" in said


def test_an_unknown_framework_is_an_error_that_lists_them(small_study, tmp_path):
    with pytest.raises(InputError, match=r"must be one of mjcf, gymnasium, .* 'unity'"):
        pipeline.export_starts(small_study, "unity", tmp_path)


def test_an_unknown_framework_is_refused_on_the_command_line(
    small_study, tmp_path, capsys
):
    out = ["--out", str(tmp_path)]
    with pytest.raises(SystemExit) as error:
        main(["export", str(small_study.path), "--for", "unity", *out])
    assert error.value.code == 2
    assert "isaaclab" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "`--run` is missing. Give --run LEARNER --onnx FILE"),
        (["--run", "ka/seed-0"], "`--onnx` is missing"),
        (["--for", "mjlab"], "`--out` is missing"),
        (["--for", "mjlab", "--onnx", "a.onnx"], "`onnx` has no effect with `--for`"),
        (["--run", "ka/seed-0", "--out", "x"], "`out` has no effect without `--for`"),
    ],
)
def test_options_that_do_not_fit_are_refused(small_study, capsys, args, said):
    assert said in refusal(capsys, "export", small_study.path, *args)


def test_unknown_starts_are_an_error(small_study, tmp_path, capsys):
    args = ["--for", "mjlab", "--starts", "kb", "--out", tmp_path]
    err = refusal(capsys, "export", small_study.path, *args)
    assert "Unknown starts 'kb': must be one of ka, km" in err


def test_a_joint_without_a_name_is_an_error(clustered, tmp_path):
    study = Study(clustered)
    study.__dict__["robot"] = NamelessRobot(study.robot)
    with pytest.raises(InputError, match="Joint 1 of tiny has no name"):
        pipeline.export_starts(study, "mjcf", tmp_path)


class NamelessRobot:
    """A robot whose joints have lost their names."""

    def __init__(self, robot):
        self._robot = robot
        text = TINY.read_text().replace('<joint name="left"/>', "<joint/>")
        text = text.replace('<position joint="left"/>', "")
        text = text[: text.index("<keyframe>")] + "</mujoco>"
        self.model = mujoco.MjModel.from_xml_string(text)

    def __getattr__(self, name):
        return getattr(self._robot, name)
