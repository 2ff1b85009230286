"""Data for the script of the pose graph."""

import json

import numpy as np
import pytest

from kaccess import Study
from kaccess.access.graph import STANDING
from kaccess.report.page.contents import read_contents
from kaccess.report.page.graph import make_graph_content


@pytest.fixture(scope="module")
def contents(clustered):
    return read_contents(Study(clustered))


@pytest.fixture(scope="module")
def content(contents):
    return json.loads(json.dumps(make_graph_content(contents, contents.main)))


def test_links_are_the_inter_cluster_accessibilities(content, contents):
    inter = contents.main.quality.inter.copy()
    np.fill_diagonal(inter, 0.0)
    found = np.zeros_like(inter)
    for i, j, value in content["links"]:
        found[i, j] = value
    np.testing.assert_allclose(found, np.where(inter >= 0.02, inter, 0.0), atol=6e-4)


def test_clusters_have_their_sizes_and_centroids(content, contents):
    sizes = np.bincount(content["poses"]["cluster"])
    assert [cluster["size"] for cluster in content["clusters"]] == sizes.tolist()
    centroids = [cluster["centroid"] for cluster in content["clusters"]]
    assert centroids == contents.main.centroids.tolist()
    assert [content["poses"]["fromCentroid"][pose] for pose in centroids] == [
        0.0
    ] * len(centroids)


def test_the_moves_of_a_route_add_up_to_its_time(content):
    poses = content["poses"]
    assert len(poses["chain"]) == 24
    for chain, total in zip(poses["chain"], poses["route"], strict=True):
        if chain is None:
            assert total is None
            continue
        assert sum(seconds for _, _, seconds in chain) == pytest.approx(total, abs=3e-3)


def test_routes_are_those_that_the_simulator_played(content, contents):
    for route, chain in zip(contents.routes, content["poses"]["chain"], strict=True):
        assert (chain is not None) == route.stood
        if chain:
            assert [words for words, _, _ in chain] == list(route.words)
            assert chain[-1][1] == STANDING


def test_the_data_is_json_without_nan(contents):
    text = json.dumps(make_graph_content(contents, contents.main), allow_nan=False)
    assert len(text) < 200_000
