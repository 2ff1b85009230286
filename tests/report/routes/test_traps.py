"""Poses that do not stand up, and the reasons given."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from kaccess import Study
from kaccess.access import Landings
from kaccess.access.graph import STANDING
from kaccess.report.routes.played import play_routes
from kaccess.report.routes.traps import (
    explain_failure,
    explain_no_chain,
    find_traps,
)
from tests.report.routes.test_played import make_route

STAND, MOVE, X = "command standing", "command the joints of pose 1", np.inf


def test_traps_are_poses_that_did_not_stand_up(clustered):
    study = Study(clustered)
    traps = find_traps(study, play_routes(study, np.arange(study.n_poses)))
    poses = [trap.pose for trap in traps]
    assert len(set(poses)) == len(poses) == 12
    assert (study.n_moves[poses] == 0).all()
    assert all(all(trap.reasons) and trap.reasons for trap in traps)


def test_reasons_are_those_of_the_graph_that_has_grown(clustered, tmp_path):
    study = Study(shutil.copytree(clustered, tmp_path / "study"))
    graph = study.graph
    restless = replace(graph.landings, seconds=np.full((24, 25), X, np.float32))
    study.write_graph(replace(graph, landings=restless), np.zeros(24, int))
    traps = find_traps(study, play_routes(study, np.arange(24)))
    assert {trap.reasons[0] for trap in traps} == {"no move comes to rest in time;"}


@pytest.mark.parametrize(
    ("node", "distance", "seconds", "reason"),
    [
        ([0, 1], [0.1, 0.1], [X, X], "no move comes to rest in time"),
        ([0, 0], [0.1, 0.1], [1, X], "no move leads out of it"),
        ([0, 1], [0.1, 4.2], [1, 1], "moves end 4 tolerances or more from any other"),
        ([1, 2], [2.0, 9.0], [1, 1], "no chain of moves leads to standing"),
    ],
)
def test_reasons_by_landings(node, distance, seconds, reason):
    landings = Landings(*(np.array([row]) for row in (node, distance, seconds)))
    assert explain_no_chain(landings, 0).startswith(reason)


@pytest.mark.parametrize(
    ("route", "reason"),
    [
        ({"nodes": [STANDING], "stood": True}, "it stood up when replayed again"),
        ({"nodes": [1, 4], "seconds": [1, X]}, "it is not at rest in time after 2"),
        ({"nodes": [STANDING, 4]}, "it nearly stands"),
        (
            {"nodes": [1, 4, 1], "words": [MOVE, STAND, MOVE]},
            "commanded to stand near pose 1, it ends near pose 4",
        ),
        (
            {"nodes": [1, STANDING], "words": [MOVE, STAND], "distances": [9.0, 8.0]},
            "commanded to stand between the poses, it ends between the poses",
        ),
        (
            {"nodes": [4, 1], "words": [STAND, MOVE]},
            "commanded to stand near pose 2, it ends near pose 4",
        ),
        ({"nodes": [1, 4, 1]}, "it goes in circles: lands in pose 1 again"),
        ({"nodes": [1, 2]}, "it goes in circles: lands in pose 2 again"),
        ({"nodes": [1, 4, 1], "distances": [1.0, 1.0, 9.0]}, "it does not stand after"),
    ],
)
def test_reasons_by_the_replay(route, reason):
    assert explain_failure(make_route(**route)).startswith(reason)
