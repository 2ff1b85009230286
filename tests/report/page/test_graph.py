"""What the pose graph's script reads."""

import json

import numpy as np
import pytest
from kaccess.stored import load_poses

from kaccess import Study
from kaccess.access.graph import NOWHERE, STANDING
from kaccess.report.page.contents import read_contents
from kaccess.report.page.graph import graph_content


@pytest.fixture(scope="module")
def contents(clustered):
    study = Study(clustered)
    return read_contents(study, load_poses(study))


@pytest.fixture(scope="module")
def content(contents):
    return json.loads(json.dumps(graph_content(contents, contents.main)))


def test_links_are_the_inter_cluster_accessibilities(content, contents):
    inter = contents.main.quality.inter.copy()
    np.fill_diagonal(inter, 0.0)
    found = np.zeros_like(inter)
    for i, j, value in content["links"]:
        found[i, j] = value
    np.testing.assert_allclose(found, np.where(inter >= 0.02, inter, 0.0), atol=6e-4)


def test_clusters_have_their_members(content, contents):
    sizes = np.bincount(content["poses"]["cluster"])
    assert [cluster["size"] for cluster in content["clusters"]] == sizes.tolist()
    centroids = [cluster["centroid"] for cluster in content["clusters"]]
    assert centroids == contents.main.centroids.tolist()
    assert [content["poses"]["fromCentroid"][pose] for pose in centroids] == [
        0.0
    ] * len(centroids)


def test_following_the_next_pose_takes_the_time_of_the_route(content, contents):
    poses, times = content["poses"], contents.times
    for pose in range(len(times)):
        if poses["next"][pose] == NOWHERE:
            assert poses["route"][pose] is None
            continue
        at, total = pose, 0.0
        while (following := poses["next"][at]) != STANDING:
            total += times[at, following]
            at = following
        total += contents.to_standing[at]
        assert total == pytest.approx(poses["route"][pose], abs=2e-3)


def test_it_is_plain_json_without_nan(contents):
    text = json.dumps(graph_content(contents, contents.main), allow_nan=False)
    assert len(text) < 200_000
