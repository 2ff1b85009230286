"""Two commands on one study at the same time: both right, or one refused."""

import itertools
import os
import shutil
import signal

import pytest

from kaccess.report.check import check_study
from tests.hostile import test_kills as stages
from tests.hostile.test_kills import pytestmark as _forks
from tests.hostile.test_kills import snapshot, steps

__all__ = ["steps"]

pytestmark = _forks
PAIRS = [
    *itertools.combinations_with_replacement(
        [
            *(stages.access, stages.cluster, stages.grow, stages.search),
            *(stages.train, stages.evaluate, stages.picture, stages.report),
            stages.export,
        ],
        2,
    )
]


# A graph that grows, its test, and the page that shows it.
MAY_CHANGE = ("graph.npz", "growth.json", "evaluation/fall-recovery.json")
MAY_CHANGE += ("report.html", "figures/", ".cache/")


def start(action):
    """Start a function in a child process; return its process id."""
    child = os.fork()
    if child:
        return child
    from kaccess import InputError

    try:
        action()
    except InputError:
        os._exit(2)
    except BaseException:
        os._exit(1)
    os._exit(0)


def wait(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize(
    "pair", PAIRS, ids=lambda pair: "-".join(p.__name__ for p in pair)
)
def test_two_commands_at_once_are_right_or_refused(steps, pair, tmp_path):
    """The study has been through all stages, so that commands find much to read."""
    study = shutil.copytree(steps[stages.play], tmp_path / "study")
    children = [start(lambda stage=stage: stage(study)) for stage in pair]
    codes = [wait(child) for child in children]
    assert set(codes) <= {0, 2} and 0 in codes
    assert -signal.SIGKILL not in codes
    assert check_study(study) == []
    for stage in pair:  # those that were refused come through now
        child = start(lambda stage=stage: stage(study))
        assert wait(child) == 0
    assert check_study(study) == []
    found, before = snapshot(study), snapshot(steps[stages.play])
    changed = [name for name in before if found.get(name) != before[name]]
    assert [name for name in changed if not name.startswith(MAY_CHANGE)] == []
