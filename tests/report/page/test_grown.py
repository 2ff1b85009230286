"""The page of a study whose graph has more poses and commands than the study."""

import json
import re

import numpy as np
import pytest

from kaccess import AccessConfig, make_engine, pipeline
from kaccess.access import Commands
from kaccess.access.graph import STANDING
from kaccess.access.growth import extend_graph
from kaccess.config import ClusterConfig, GrowConfig, PlayConfig, SampleConfig
from kaccess.report.page.contents import read_contents
from kaccess.report.page.graph import make_graph_content
from kaccess.report.page.routes import make_routes_section
from kaccess.report.summary import describe_moves

N = 10  # poses of the study


@pytest.fixture(scope="module")
def grown(bittle, tmp_path_factory):
    """A study of Bittle with a skill and with more poses."""
    path = tmp_path_factory.mktemp("grown") / "study"
    pipeline.sample("bittle", path, SampleConfig(n=N))
    study = pipeline.access(path, AccessConfig())
    pipeline.cluster(study, ClusterConfig(k=2))
    skill = Commands(study.poses.joints[None, :2], np.array([[0.2, 0.1]]))
    engine = make_engine("mujoco", bittle)
    graph = extend_graph(study.graph, study.poses.qpos[:0], skill, engine=engine)
    study.write_graph(graph, study.n_moves)
    pipeline.grow(study, GrowConfig(tests=20, added=8, most=20))
    return study


@pytest.fixture(scope="module")
def contents(grown):
    return read_contents(grown)


def test_more_poses_of_the_study_stand_up_than_before(grown):
    assert (grown.n_moves > 0).sum() > (grown.arrays.read_n_moves() > 0).sum()
    assert len(grown.graph.nodes) - 1 > N
    assert grown.graph.commands.is_skill.sum() == 1


def test_routes_name_added_postures_and_only_poses_of_the_study(contents):
    words = [word for route in contents.routes for word in route.words]
    assert any(word.startswith("command added posture ") for word in words)
    named = [int(pose) for pose in re.findall(r"joints of pose (\d+)", str(words))]
    assert max(named, default=0) < N
    for route in contents.routes:
        assert ((route.nodes == STANDING) | (route.nodes < N)).all()
        if route.stood:
            assert route.nodes[-1] == STANDING


def test_films_name_only_poses_of_the_study(contents):
    section = make_routes_section(contents)
    pictures = [
        picture
        for part in section.parts
        for film in getattr(part, "films", [part])
        for picture in film.pictures
    ]
    text = " ".join(line for picture in pictures for line in picture.lines)
    assert pictures and "pose " in text
    assert all(int(pose) < N for pose in re.findall(r"pose (\d+)", text))


def test_the_pose_graph_has_the_routes_of_the_grown_graph(contents, grown):
    content = make_graph_content(contents, contents.main)
    content = json.loads(json.dumps(content, allow_nan=False))
    chains = content["poses"]["chain"]
    assert [len(chain or ()) for chain in chains] == grown.n_moves.tolist()
    nodes = [node for chain in chains if chain for _, node, _ in chain]
    assert all(node is None or STANDING <= node < N for node in nodes)


def test_the_summary_and_the_motion_are_those_of_the_grown_graph(grown):
    summary = pipeline.info(grown)
    np.testing.assert_array_equal(summary.n_moves, grown.n_moves)
    assert describe_moves(grown.n_moves) in summary.verdict
    pose = int(np.argmax(grown.n_moves > 0))
    played = pipeline.play(grown, PlayConfig(run="routes", pose=pose))
    assert played.clip.robot.name == "bittle"
