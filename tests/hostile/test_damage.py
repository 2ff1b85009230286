"""Every file of a finished study is damaged: each command works, or names the file."""

import re
import shutil
from contextlib import suppress

import numpy as np
import pytest

from kaccess import InputError, pipeline
from kaccess.base.json_files import read_json
from kaccess.base.tensors import read_tensors
from kaccess.config import EvaluateConfig, GrowConfig
from kaccess.evaluation.curves import check_curves, read_curve
from kaccess.report.check import check_study
from tests.hostile.attacks import damage, flip, flip_bit, replace_content, run
from tests.training.runs import AS_SAC_CONFIG

pytest.importorskip("torch")

CHECK = ["info", "--check"]
# Commands that read the files of a study, and may be run on a damaged one.
COMMANDS = [
    ["info"],
    ["access"],
    ["cluster", "--k", "3"],
    ["evaluate", "--poses", "2"],
    ["export", "--run", "ka/seed-0", "--onnx", "OUT/policy.onnx"],
    ["play", "--run", "ka/seed-0", "--seconds", "0.1", "--video", "OUT/play.mp4"],
    ["play", "--run", "routes", "--seconds", "0.1", "--video", "OUT/play.mp4"],
    ["grow", "--most", "13", "--tests", "2"],
    [
        *("train", "--starts", "ka", "ka+rnd:0.5", "--seeds", "2", "--episodes", "1"),
        *("--test-every", "1", "--test-poses", "4", "--sac.hidden", "8", "8"),
        *("--sac.batch-size", "8", "--sac.warmup-steps", "100", "--device", "cpu"),
        *AS_SAC_CONFIG,
    ],
]
KINDS = [  # one file of each kind
    "study.json",
    "timings.json",
    "growth.json",
    "clusters/kaccess.json",
    "evaluation/fall-recovery.json",
    "graph.npz",
    "starts/ka.npz",
    "tests/final.npz",
    "study.zarr/zarr.json",
    "study.zarr/times/zarr.json",
    "study.zarr/poses/contacts/zarr.json",
    "study.zarr/times/c.0.0",
    "train/fall-recovery/ka/seed-0/evaluation.csv",
    "train/fall-recovery/ka/seed-0/episodes.csv",
    "train/fall-recovery/ka/seed-0/policy.safetensors",
    "train/fall-recovery/ka/seed-0/best.safetensors",
    "train/fall-recovery/checkpoint_ka_ka+rnd-0.5_2.safetensors",
]


@pytest.fixture(scope="module")
def finished(trained, tmp_path_factory):
    """A study with everything in it."""
    path = tmp_path_factory.mktemp("finished") / "study"
    shutil.copytree(trained, path)
    pipeline.grow(path, GrowConfig(most=13, tests=2))
    pipeline.evaluate(path, EvaluateConfig(poses=2))
    return path


@pytest.fixture
def study(finished, tmp_path):
    """A copy, to be damaged."""
    return shutil.copytree(finished, tmp_path / "study")


def list_files(study):
    """Return all files that kaccess reads."""
    suffixes = (".json", ".npz", ".csv", ".safetensors")
    return [
        file
        for file in sorted(study.rglob("*"))
        if file.is_file() and (file.suffix in suffixes or file.name.startswith("c."))
    ]


def attack(capsys, study, files, commands, n, whole=None):
    """Damage files, run commands, and return what went wrong, and how many were run.

    `whole` is put back after each command that may have changed the study.
    """
    rng, wrong, tries = np.random.default_rng(0), [], 0
    for file in files:
        for what, content in damage(file, rng, n):
            for command in commands:
                tries += 1
                args = [arg.replace("OUT", str(study.parent)) for arg in command]
                with replace_content(file, content):
                    wrong += judge(capsys, file, what, [args[0], study, *args[1:]])
                if whole:
                    shutil.rmtree(study)
                    shutil.copytree(whole, study)
    return wrong, tries


def judge(capsys, file, what, args):
    """Return what is wrong with how a command has dealt with a damaged file."""
    name = f"{file.name} ({what}): {args[0]} {args[2:]}"
    try:
        code, said = run(capsys, *args)
    except Exception as error:  # what must not happen
        return [f"{name}: {type(error).__name__} {error}"]
    if code not in (0, 2) and (code != 1 or "--check" not in args):
        return [f"{name}: exit code {code}"]
    if "Traceback" in said:
        return [f"{name}: {said}"]
    if code and not any(str(each) in said for each in (file, file.parent)):
        return [f"{name}: not named in {said}"]
    return []


def test_a_damaged_file_of_each_kind_is_named(study, capsys):
    files = [study / name for name in KINDS]
    wrong, tries = attack(capsys, study, files, [CHECK], n=1)
    assert wrong == [] and tries > 10 * len(KINDS)


@pytest.mark.parametrize("name", ["postures", "states", "posture_seconds", "n_moves"])
def test_huge_numbers_in_a_graph_are_refused(study, name):
    """A robot that follows such a graph would take hours."""
    file = study / "graph.npz"
    with np.load(file) as stored:
        arrays = dict(stored)
    arrays[name] = np.full_like(arrays[name], 10**6)
    np.savez(file, **arrays)
    problems = check_study(study)
    assert any(f"{file}" in each and f"`{name}` must be" in each for each in problems)


def test_training_names_damaged_curves(study, finished, capsys):
    files = [study / name for name in KINDS if name.endswith(".csv")]
    train = COMMANDS[-1]
    assert attack(capsys, study, files, [train], n=0, whole=finished) == ([], 18)


N_FLIPS = 400


def test_every_flipped_bit_of_json_is_seen(study):
    """Either the file is refused, or it holds the same values."""
    rng = np.random.default_rng(0)
    files = [file for file in study.rglob("*.json") if file.name != "zarr.json"]
    before = {file: read_json(file) for file in files}
    assert len(files) >= 5
    for _ in range(N_FLIPS):
        file = files[rng.integers(len(files))]
        with flip_bit(file, rng), suppress(InputError):
            found = read_json(file)
            assert {key: found.get(key) for key in before[file]} == before[file]


def test_every_flipped_bit_of_curves_is_seen(study):
    rng = np.random.default_rng(0)
    folder = study / "train" / "fall-recovery"
    files = sorted(folder.rglob("*.csv"))
    assert len(files) == 8
    for _ in range(N_FLIPS):
        file = files[rng.integers(len(files))]
        damaged = f"{re.escape(str(file))} is damaged"
        with flip_bit(file, rng), pytest.raises(InputError, match=damaged):
            check_curves(folder)
    check_curves(folder)


def test_every_flipped_bit_of_policies_and_checkpoints_is_seen(study):
    """Either the file is refused, or it holds the same values."""
    rng = np.random.default_rng(0)
    files = sorted(study.rglob("*.safetensors"))
    before = {file: read_tensors(file) for file in files}
    assert len(files) == 9
    for number in range(N_FLIPS):
        file = files[number % len(files)]
        content = file.read_bytes()
        end = 8 + int.from_bytes(content[:8], "little") if number % 2 else len(content)
        part = flip(content[:end], rng) + content[end:]  # half of them in the header
        with replace_content(file, part), suppress(InputError):
            header, arrays = read_tensors(file)
            assert {key: header.get(key) for key in before[file][0]} == before[file][0]
            for name, array in before[file][1].items():
                np.testing.assert_array_equal(arrays[name], array)


@pytest.mark.parametrize("left", ["9000,0.1", "9", "9000,0.1,1e"])
def test_a_row_that_a_kill_has_cut_is_no_damage(study, left):
    for file in (study / "train").rglob("*.csv"):
        before = read_curve(file)
        file.write_text(file.read_text() + left)
        assert read_curve(file) == before
    assert check_study(study) == []


def test_a_curve_that_a_kill_has_left_empty_is_no_damage(study):
    """Of a run that has no checkpoint yet."""
    shutil.rmtree(study / "train")
    file = study / "train" / "fall-recovery" / "rnd" / "seed-0" / "episodes.csv"
    file.parent.mkdir(parents=True)
    for content in ("", "step,rew"):
        file.write_text(content)
        assert check_study(study) == []


def test_a_curve_that_is_gone_is_named(study, capsys):
    file = study / KINDS[-5]
    file.unlink()
    code, said = run(capsys, "info", study, "--check")
    assert code == 1 and f"{file} does not exist" in said


@pytest.mark.hostile
def test_every_damaged_file_is_named(study, capsys, record_property):
    wrong, tries = attack(capsys, study, list_files(study), [CHECK], n=2)
    assert wrong == []
    record_property("damaged files", tries)


@pytest.mark.hostile
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: "-".join(command[:3]))
def test_every_command_names_damaged_files(
    study, finished, capsys, command, record_property
):
    files = [study / name for name in KINDS]
    wrong, tries = attack(capsys, study, files, [command], n=1, whole=finished)
    assert wrong == []
    record_property("damaged files", tries)


@pytest.mark.hostile
@pytest.mark.parametrize("name", KINDS)
def test_a_report_names_damaged_files(study, capsys, name, record_property):
    wrong, tries = attack(capsys, study, [study / name], [["report"]], n=0)
    assert wrong == []
    record_property("damaged files", tries)
