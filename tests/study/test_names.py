"""Names of learners, runs and tests: a name as text parses to the same name."""

import pytest

from kaccess import InputError
from kaccess.study import ROUTES, LearnerName, RunsName, TestName
from kaccess.study.names import OfTask, check_name, find_learners, name_population

HARD = "torque=0.6,delay=0.04"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (LearnerName("ka", 0), "ka/seed-0"),
        (LearnerName.of("guided-ka+rnd:0.2", 12), "guided-ka+rnd-0.2/seed-12"),
        (LearnerName(ROUTES, None), "routes"),
    ],
)
def test_learner_names_are_parsed_back(name, text):
    assert name.text == text
    assert LearnerName.parse(text) == name


@pytest.mark.parametrize("text", ["ka/seed-x", "ka/0", "ka/seed-0/more", "ka/"])
def test_an_invalid_learner_name_is_an_error(text):
    with pytest.raises(InputError, match="is not the name of a learner"):
        LearnerName.parse(text)


@pytest.mark.parametrize(
    ("name", "text", "label"),
    [
        (RunsName("fall-recovery"), "fall-recovery", "Fall recovery"),
        (RunsName("stand", HARD), f"stand@{HARD}", f"Stand ({HARD})"),
    ],
)
def test_run_names_are_parsed_back(name, text, label):
    assert (name.text, name.label) == (text, label)
    assert RunsName.parse(text) == name


@pytest.mark.parametrize(
    ("name", "text"),
    [(OfTask("ka"), "ka"), (OfTask("kaccess", "backflip"), "kaccess@backflip")],
)
def test_names_of_starts_and_clusterings_are_parsed_back(name, text):
    assert name.text == text
    assert OfTask.parse(text) == name


PLAIN, TRAINED_HARD = RunsName("fall-recovery"), RunsName("backflip", HARD)


@pytest.mark.parametrize(
    ("name", "text", "label"),
    [
        (TestName(PLAIN, False, ""), "fall-recovery", "Fall recovery"),
        (TestName(PLAIN, True, ""), "fall-recovery_best", "Fall recovery (best)"),
        (
            TestName(PLAIN, True, "slope=10", held_out=True),
            "fall-recovery_best_held-out_under_slope=10",
            "Fall recovery (best, under slope=10, held-out poses)",
        ),
        (
            TestName(PLAIN, False, "slope=10"),
            "fall-recovery_under_slope=10",
            "Fall recovery (under slope=10)",
        ),
        (TestName(TRAINED_HARD, False, HARD), f"backflip@{HARD}", f"Backflip ({HARD})"),
        (
            TestName(TRAINED_HARD, True, ""),
            f"backflip@{HARD}_best_under_nominal",
            f"Backflip ({HARD}, best, under nominal)",
        ),
        (
            TestName(PLAIN, True, "slope=10", draw="teleport", engine="bullet"),
            "fall-recovery_best_from_teleport_in_bullet_under_slope=10",
            "Fall recovery (best, poses by teleport, in bullet, under slope=10)",
        ),
    ],
)
def test_test_names_are_parsed_back(name, text, label):
    assert (name.text, name.label) == (text, label)
    assert TestName.parse(text) == name


def test_populations_are_named_by_their_starts_and_seeds():
    starts = ("ka", "ka+rnd:0.2")
    assert name_population(starts, range(3)) == "checkpoint_ka_ka+rnd-0.2_3"
    assert name_population(starts, range(5, 8)) == "checkpoint_ka_ka+rnd-0.2_5-7"


def test_learners_with_a_given_file_are_found(tmp_path):
    for name in ("ka/seed-1", "ka/seed-0", "rnd/seed-0", "rnd/other"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "policy").touch()
    (tmp_path / "ka/seed-2").mkdir()
    found = find_learners(tmp_path, "policy")
    assert list(found) == ["ka/seed-0", "ka/seed-1", "rnd/seed-0"]
    assert found["rnd/seed-0"] == tmp_path / "rnd" / "seed-0"


PATHS = [
    "../tests/curve",
    "/elsewhere/mine",
    "a/b",
    "a\\b",
    "..",
    ".x",
    "-x",
    "",
    "a\n",
]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_is_no_name(path):
    with pytest.raises(InputError, match="The name of a task must be letters"):
        check_name(path, "a task")
    with pytest.raises(InputError, match="The name of starts must be letters"):
        LearnerName.of(f"ka+{path}:0.2", 0)


@pytest.mark.parametrize("name", ["ka", "9-pose", "my_own.v2", "höhe", "0"])
def test_a_name_is_a_name(name):
    assert check_name(name, "starts") == name


def test_a_name_that_no_file_can_have_is_refused():
    with pytest.raises(InputError, match="got 'aaa"):
        check_name(221 * "a", "starts")
    with pytest.raises(InputError, match="`starts` are too many"):
        name_population([f"starts-{number}" for number in range(30)], range(3))
