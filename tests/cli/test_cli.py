"""The command line: exit codes, and errors in one sentence that change nothing."""

import json
import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from kaccess.cli import main
from kaccess.study.study import Study
from tests.conftest import TINY


def run(*args, **kwargs):
    return subprocess.run(
        [sys.executable, "-m", "kaccess", *map(str, args)],
        capture_output=True,
        text=True,
        check=False,
        **kwargs,
    )


def fail(capsys, *args):
    """Return the error message of a command that fails."""
    with pytest.raises(SystemExit) as exit_info:
        main([str(arg) for arg in args])
    assert exit_info.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.strip().splitlines()
    sentence = lines[-1]  # progress may come before
    assert sentence.startswith("kaccess: ")
    return sentence


def test_the_whole_flow(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("kaccess.access.estimate._TILE_PAIRS", 48)
    monkeypatch.setattr("kaccess.engines.mujoco.MujocoEngine.batch_size", 48)
    study = tmp_path / "study"
    main(["sample", str(TINY), str(study), "--n", "12", "--seed", "5"])
    main(["access", str(study), "--only-rows", "0:4"])
    main(["info", str(study)])
    out = capsys.readouterr().out
    assert "pairs are still to be estimated" in out
    main(["access", str(study), "--threads", "1"])
    main(["info", str(study)])
    out = capsys.readouterr().out
    assert "100.0% of 132" in out
    assert "This robot" in out
    main(["info", str(study), "--json"])
    figures = json.loads(capsys.readouterr().out)
    assert figures["times"]["done"] == 132
    assert figures["settings"]["sample"]["seed"] == 5
    assert figures["verdict"].startswith("This robot")


def test_run_does_all_stages(tmp_path, capsys, monkeypatch):
    from kaccess.config import PRESETS, GrowConfig, Preset, SacConfig, TrainConfig

    pytest.importorskip("torch")
    training = TrainConfig(seeds=1, episodes=1, test_poses=2)
    sac = SacConfig(hidden=(8,), batch_size=8)
    size = Preset(poses=6, growth=GrowConfig(most=8, tests=3), train=training, sac=sac)
    monkeypatch.setitem(PRESETS, "quick", size)
    main(["run", str(TINY), str(tmp_path / "study")])
    out = capsys.readouterr().out
    assert "This robot" in out
    assert "6 poses: of 3 fresh poses, " in out
    assert "From 100 poses that no policy trained on" in out
    assert "This was a short training: 1 episodes" in out
    page = tmp_path / "study" / "report.html"
    assert f"Report: {page}" in out and page.exists()


def test_help_is_quick_because_it_loads_nothing_heavy():
    script = (
        "import sys; from kaccess.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit as e: assert e.code == 0\n"
        "heavy = {'mujoco', 'zarr', 'scipy', 'numpy'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "sample" in done.stdout and "access" in done.stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["sample", "bitle", "STUDY"], "Unknown robot 'bitle'"),
        (["sample", TINY, "STUDY", "--n", "1"], "`n` must be at least 2"),
        (["sample", TINY, "STUDY", "--n", "3", "--mirror"], "`n` must be even"),
        (["sample", __file__, "STUDY"], "is not XML"),
        (["sample", TINY, "STUDY", "--time-limit", "inf"], "`time_limit` must be"),
        (["sample", TINY, "STUDY", "--still.window", "1e300"], "`window` must be"),
        (["sample", TINY, "STUDY", "--threads", "-1"], "`threads` must not be"),
        (["sample", TINY, f"{__file__}/x"], "cannot be written to"),
        (["access", "STUDY"], "is not a study"),
        (["info", "STUDY"], "is not a study"),
        (["report", "STUDY"], "is not a study"),
        (["access", "STUDY", "--only-rows", "five"], "must be START:STOP"),
        (["access", "STUDY", "--only-rows", "²:3"], "must be START:STOP"),
        (["access", "STUDY", "--joint-tol", "-1"], "`joint_tol` must be positive"),
        (["access", "STUDY", "--move-time", "-1"], "`move_time` must not be negative"),
        (
            ["access", "STUDY", "--move-time", "inf"],
            "`move_time` must be a finite number",
        ),
    ],
)
def test_bad_input_is_one_sentence_and_changes_nothing(
    tmp_path, capsys, monkeypatch, args, message
):
    monkeypatch.chdir(tmp_path)
    study = tmp_path / "study"
    sentence = fail(capsys, *(study if arg == "STUDY" else arg for arg in args))
    assert message in sentence
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_something_else_is_left_alone(tmp_path, capsys):
    (tmp_path / "notes.txt").write_text("mine")
    assert "is not a study" in fail(capsys, "sample", TINY, tmp_path, "--n", "4")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_unknown_options_exit_with_2(tmp_path):
    assert run("sample", "bittle", tmp_path / "x", "--nn", "3").returncode == 2
    assert run("nonsense").returncode == 2


def test_a_closed_pipe_is_no_error(tmp_path):
    main(["sample", str(TINY), str(tmp_path / "study"), "--n", "4"])
    command = f"{sys.executable} -m kaccess info {tmp_path / 'study'} | true"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_terminal_without_unicode_gets_escape_codes(tmp_path):
    robot = tmp_path / "röbot.xml"
    robot.write_text(TINY.read_text())
    main(["sample", str(robot), str(tmp_path / "study"), "--n", "4"])
    env = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = run("info", tmp_path / "study", env=env)
    assert done.returncode == 0
    assert "r\\xf6bot.xml" in done.stdout


def test_version(capsys):
    main(["--version"])
    assert capsys.readouterr().out.startswith("kaccess 0.")


def test_ctrl_c_keeps_what_is_done(tmp_path):
    study = tmp_path / "study"
    main(["sample", str(TINY), str(study), "--n", "200"])
    with subprocess.Popen(
        [sys.executable, "-m", "kaccess", "access", str(study)],
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert "Accessibility: 0 of 40,000 pairs" in process.stderr.readline()
        deadline = time.monotonic() + 60
        while not Study(study).arrays.rows_done()[0] and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        err = process.stderr.read()
        assert process.wait() == 130
    assert err.strip().endswith(
        "kaccess: Interrupted. Stored work is kept; run the same command to resume."
    )
    assert "Traceback" not in err
    assert Study(study).arrays.rows_done()[0]


def test_a_full_disk_is_explained_and_harms_nothing(tmp_path):
    """No file may grow beyond a few bytes: the first tile cannot be written."""
    study = tmp_path / "study"
    main(["sample", str(TINY), str(study), "--n", "16"])
    before = (study / "study.json").read_text()

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))

    done = run("access", study, preexec_fn=limit)
    assert done.returncode == 2
    assert "Files stored before are whole" in done.stderr
    assert "Traceback" not in done.stderr
    assert (study / "study.json").read_text() == before
    assert np.isnan(Study(study).times).all()
    leftovers = [name for name in os.listdir(study) if "part" in name]  # noqa: PTH208
    assert leftovers == []
    assert run("access", study).returncode == 0


def test_output_off_a_terminal_has_no_control_codes(tmp_path):
    done = run("sample", TINY, tmp_path / "study", "--n", "4")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    assert "Sampling: 4 of 4 poses" in done.stderr
