"""`kaccess grow` and `kaccess search --task fall-recovery` on the command line."""

import pytest

from kaccess import Study
from kaccess.cli import main
from tests.cli.test_cli import fail
from tests.conftest import TINY

GROW = ("--tests", "3", "--added", "2", "--most", "15", "--threads", "1")
SEARCH = ("--task", "fall-recovery", "--get-up.skills", "1", "--get-up.rounds", "1")
QUICK = ("--get-up.candidates", "8", "--get-up.explored", "48", "--threads", "1")


@pytest.fixture(autouse=True)
def few_springboards(monkeypatch):
    monkeypatch.setattr("kaccess.access.growth._N_POSTURES", 16)


def run(command, study, *args):
    main([command, str(study), *args])


def test_a_study_grows_and_grows_on(study, capsys):
    run("grow", study, *GROW)
    out, err = capsys.readouterr()
    assert "12 poses: of 3 fresh poses, " in out and "within ten moves" in out
    assert "Growing: " in err and " of 15 poses" in err
    first = Study(study)
    assert first.n_poses == 12 and len(first.graph.nodes) - 1 <= 15
    run("grow", study, *GROW)
    assert " of 3 fresh poses, " in capsys.readouterr().out
    assert len(Study(study).graph.nodes) >= len(first.graph.nodes)
    run("info", study)
    assert "This robot" in capsys.readouterr().out
    run("access", study)  # nothing is left to do, and the graph stays
    assert (study / "graph.npz").exists()


def test_a_search_may_be_repeated_and_growth_may_follow(study, capsys):
    for n_skills in (3, 6):
        run("search", study, *SEARCH, *QUICK)
        out = capsys.readouterr().out
        assert "From where pose " in out and f"kaccess play {study}" in out
        assert Study(study).graph.commands.is_skill.sum() == n_skills
    run("grow", study, *GROW)
    run("evaluate", study, "--poses", "3")
    assert "routes" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["grow", "search"])
def test_unfinished_studies_are_told_to_finish(tiny_study, command, capsys):
    args = SEARCH if command == "search" else ()
    sentence = fail(capsys, command, tiny_study, *args)
    assert "are not estimated yet" in sentence
    assert f"Run `kaccess access {tiny_study}` first" in sentence
    assert not (tiny_study / "graph.npz").exists()


@pytest.mark.parametrize("command", ["grow", "search"])
def test_a_robot_that_does_not_stand_is_refused(tmp_path, command, capsys):
    mjcf, study = tmp_path / "robot.xml", tmp_path / "study"
    rock = '<geom pos="9 0 0" size=".1"/>'  # on such ground, no stance is looked for
    mjcf.write_text(TINY.read_text().replace("<worldbody>", f"<worldbody>{rock}"))
    main(["sample", str(mjcf), str(study), "--n", "4"])
    main(["access", str(study)])
    capsys.readouterr()
    args = SEARCH if command == "search" else ()
    sentence = fail(capsys, command, study, *args)
    assert "has no graph that can grow: its robot does not stand" in sentence


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["grow", "STUDY", "--share", "2"], "`share` must be at most 1, got 2.0"),
        (["grow", "STUDY", "--most", "0"], "`most` must be at least 1, got 0"),
        (["grow", "NOTHING"], "is not a study"),
        (["search", "STUDY", "--get-up.candidates", "3"], "`candidates` must be at"),
    ],
)
def test_bad_settings_are_one_sentence_and_change_nothing(
    clustered, args, message, capsys
):
    before = sorted(clustered.rglob("*"))
    places = {"STUDY": clustered, "NOTHING": clustered / "nothing"}
    assert message in fail(capsys, *(places.get(arg, arg) for arg in args))
    assert sorted(clustered.rglob("*")) == before
