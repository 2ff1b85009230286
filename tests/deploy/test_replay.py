"""Logs beside the simulation, and the command line."""

import numpy as np
import pytest

from kaccess.base.errors import InputError
from kaccess.cli import main
from kaccess.deploy.deploy import _run
from kaccess.deploy.record import Log
from kaccess.deploy.routes import follow_routes
from kaccess.deploy.skills import load_shipped
from kaccess.report.play.log import replay_log


def test_a_log_of_the_simulation_replays_as_it_was(meet, lying, tmp_path):
    session = meet(lying[1])
    _run(session, lambda s: follow_routes(s, load_shipped(), attempts=5))
    session.log.save(tmp_path / "log.jsonl")
    simulated, recorded = replay_log(tmp_path / "log.jsonl")
    assert simulated.length == pytest.approx(session.now, abs=0.1)
    assert simulated.qpos.shape == recorded.qpos.shape
    # Both lie the same way at first, and stand at the end.
    np.testing.assert_allclose(simulated.qpos[0, 3:7], recorded.qpos[0, 3:7], atol=0.05)
    assert simulated.qpos[-1, 2] == pytest.approx(0.086, abs=0.01)
    assert "differ by" in recorded.outcome


def test_a_log_without_attitudes_is_refused(tmp_path):
    log = Log()
    log.add(0.0, sent="3f0a")
    log.save(tmp_path / "log.jsonl")
    with pytest.raises(InputError, match="no attitudes"):
        replay_log(tmp_path / "log.jsonl")


def test_command_line(tmp_path, capsys):
    main(["deploy", "bittle", "--dry-run", "--record", str(tmp_path / "log.jsonl")])
    said = capsys.readouterr().out
    assert " s  gb\n" in said
    assert "The robot stands after" in said
    main(["deploy", "bittle", "--write-skills", str(tmp_path / "skills")])
    assert "skills in" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["bittle"], 2, "Give one of --port"),
        (["p.onnx", "--simulate"], 2, "add --controller policy"),
        (["none.onnx", "--simulate", "--controller", "policy"], 2, "no policy none"),
        (["bittle", "--dry-run", "--sim.volts", "6"], 1, "battery is low"),
    ],
)
def test_exit_codes(arguments, code, said, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["deploy", *arguments])
    assert caught.value.code == code
    output = capsys.readouterr()
    assert said in output.out + output.err
