"""Chains of moves for the pose graph."""

import numpy as np

from kaccess.access import find_routes
from kaccess.access.graph import STANDING
from kaccess.report.routes import chain_played, chain_routes
from tests.report.routes.test_played import make_route

X = np.inf


def test_a_played_route_is_a_chain_if_it_stood():
    stood = make_route(
        nodes=[1, 0, STANDING, STANDING],
        distances=[0.1, 5.0, 0.1, 0.1],
        seconds=[1, 2, 3, 4],
        stood=True,
    )
    chain, none = chain_played([stood, make_route(nodes=[1])])
    assert none is None
    assert chain.nodes == [1, None, None, STANDING]
    assert chain.words == stood.words
    assert chain.length == 10


def test_fastest_routes_as_chains():
    times = np.array([[0, 0.5, X], [X, 0, X], [X, X, 0]])
    to_standing = np.array([9.0, 0.3, X])
    routes = find_routes(times, to_standing)
    first, second, third = chain_routes(routes, times, to_standing)
    assert first.words == ["command the joints of pose 1", "command standing"]
    assert first.nodes == [1, STANDING] and first.seconds == [0.5, 0.3]
    assert second.nodes == [STANDING] and second.length == 0.3
    assert third is None
