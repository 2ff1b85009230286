"""Videos of a motion."""

import resource
import signal
import subprocess
import sys

import mujoco
import pytest

from kaccess.access import Outcome
from kaccess.cli import main
from tests.report.play.moves import find_pair


@pytest.fixture
def write(clustered, tmp_path, capsys):
    """Write a video of a move with the command; return its file and the output."""
    pytest.importorskip("imageio_ffmpeg")
    source, goal = find_pair(clustered, Outcome.REACHED)
    video = tmp_path / "new" / "move.mp4"
    args = ["--transition", source, goal, "--video", video, "--seconds", 0.2]

    def run():
        try:
            main(["play", str(clustered), *map(str, args)])
        except SystemExit:
            pytest.skip(f"nothing can be rendered: {capsys.readouterr().err}")
        return video, capsys.readouterr().out

    return run


def test_the_command_writes_a_video_of_a_move(write):
    video, out = write()
    assert "reached after" in out and out.endswith(f"Video: {video}\n")
    assert video.read_bytes()[4:8] == b"ftyp"
    assert list(video.parent.iterdir()) == [video]


def test_ffmpeg_starts_without_a_fork(write, monkeypatch):
    """A fork fails if this process has reserved more memory than there is."""
    monkeypatch.delenv("IMAGEIO_FFMPEG_NO_PREVENT_SIGINT", raising=False)
    forks, popen = [], subprocess.Popen

    def start(*args, preexec_fn=None, **kwargs):
        forks.append(preexec_fn is not None)  # only then does Python fork
        return popen(*args, **kwargs)

    monkeypatch.setattr(subprocess, "Popen", start)
    write()
    assert forks and not any(forks)


def test_without_rendering_the_viewer_is_suggested(
    clustered, tmp_path, capsys, monkeypatch
):
    def fail(*_):
        raise RuntimeError("no GL")

    pytest.importorskip("imageio_ffmpeg")
    monkeypatch.setattr(mujoco, "Renderer", fail)
    video = tmp_path / "move.mp4"
    with pytest.raises(SystemExit) as error:
        main(["play", str(clustered), "--transition", "0", "1", "--video", str(video)])
    assert error.value.code == 2
    err = capsys.readouterr().err
    assert err.startswith("kaccess: Nothing can be rendered here: no GL.")
    assert err.endswith("Or watch it in a browser: --viewer.\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["move.gif", "move", "."])
def test_a_name_that_is_no_video_is_explained(clustered, tmp_path, capsys, name):
    """At once, not after the simulation."""
    args = ["--transition", "0", "1", "--video", str(tmp_path / name)]
    with pytest.raises(SystemExit) as error:
        main(["play", str(clustered), *args])
    assert error.value.code == 2
    captured = capsys.readouterr()
    assert "`video` must be a file that ends with .mp4" in captured.err
    assert captured.out == "" and list(tmp_path.iterdir()) == []


def test_a_full_disk_is_noticed(write, clustered, tmp_path):
    """No file may grow beyond some bytes."""
    video, _ = write()  # or it is skipped
    source, goal = find_pair(clustered, Outcome.REACHED)
    other = tmp_path / "full" / "move.mp4"
    args = ["--transition", source, goal, "--video", other, "--seconds", 0.2]

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    done = subprocess.run(
        [sys.executable, "-m", "kaccess", "play", clustered, *map(str, args)],
        capture_output=True,
        text=True,
        preexec_fn=limit,
        check=False,
    )
    assert video.stat().st_size > 2000
    assert done.returncode == 2 and "Video:" not in done.stdout
    assert f"kaccess: {other} could not be written: ffmpeg failed" in done.stderr
    assert "Traceback" not in done.stderr and list(other.parent.iterdir()) == []
