"""The section with the pose graph: clusters, links, and the routes to standing.

The script of the page reads plain numbers. Its layout starts from the positions here.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kaccess.access import accessibility, find_routes
from kaccess.base.types import Array
from kaccess.report.page.clusters import suggest_clustering
from kaccess.report.page.contents import Contents
from kaccess.report.page.parts import Graph, Section
from kaccess.report.rendering.album import encode_data_uri, tile_pictures
from kaccess.report.routes import Chain, chain_played, chain_routes
from kaccess.study import StoredClustering

__all__ = ["make_graph_content", "make_graph_section"]

_LEAST = 0.02  # lowest accessibility of a link on the page [-]
_MOST_PICTURES = 1500  # studies with more poses have no picture of each
_THUMB = (96, 72)  # width and height of a small picture [pixels]
_COLUMNS = 32  # small pictures per row of the sheet


def make_graph_section(contents: Contents) -> Section:
    """Return the clusters as a graph to explore."""
    title, main = "Pose graph", contents.main
    if main is None:
        return Section("graph", title, "", [suggest_clustering(contents)])
    lead = (
        "Each node is a cluster. Each arrow is the mean accessibility from the members "
        "of one cluster to the centroid of another. Choose a cluster to see its "
        "members, its links and its route to standing."
    )
    content = make_graph_content(contents, main)
    sheet = _make_sheet(contents) if content["pictures"] else ""
    return Section("graph", title, lead, [Graph(content, sheet)])


def make_graph_content(contents: Contents, main: StoredClustering) -> dict[str, Any]:
    """Return the data for the script of the graph, ready for JSON."""
    chains = find_chains(contents)
    contacts = list(dict.fromkeys(contents.cases))
    width, height = _THUMB
    return {
        "clusters": _make_nodes(contents, main, _measure(chains)),
        "links": [
            [int(i), int(j), _round(main.quality.inter[i, j])]
            for i, j in np.argwhere(main.quality.inter >= _LEAST)
            if i != j
        ],
        "poses": _make_pose_table(contents, main, chains, contacts),
        "contacts": contacts,
        "pictures": len(contents.poses) <= _MOST_PICTURES,
        "sheet": {"columns": _COLUMNS, "width": width, "height": height},
    }


def find_chains(contents: Contents) -> list[Chain | None]:
    """Return the moves from each pose to standing, as the simulator played them.

    Without a plan, they are the fastest routes over moves that reached their goals.
    """
    if contents.routes:
        return chain_played(contents.routes)
    times, to_standing = contents.times[:], contents.to_standing
    return chain_routes(find_routes(times, to_standing), times, to_standing)


def _measure(chains: Sequence[Chain | None]) -> Array:
    """Return the time of each chain, (n,) [s]; inf if there is none."""
    return np.array([np.inf if chain is None else chain.length for chain in chains])


def _make_nodes(
    contents: Contents, main: StoredClustering, seconds: Array
) -> list[dict[str, Any]]:
    """Return the data of each cluster."""
    standing = accessibility(contents.to_standing)
    qpos = contents.poses.qpos[main.centroids]
    pictures = contents.album.get_pictures(qpos, width=320, height=240)
    places = _place_clusters(contents, main, seconds)
    return [
        {
            "centroid": int(centroid),
            "size": int(main.quality.sizes[cluster]),
            "intra": _round(main.quality.intra[cluster]),
            "standing": _round(standing[main.labels == cluster].mean()),
            "image": encode_data_uri(pictures[cluster]),
            "x": _round(places[cluster, 0]),
            "y": _round(places[cluster, 1]),
        }
        for cluster, centroid in enumerate(main.centroids)
    ]


def _make_pose_table(
    contents: Contents,
    main: StoredClustering,
    chains: Sequence[Chain | None],
    contacts: Sequence[str],
) -> dict[str, list[Any]]:
    """Return the data of each pose, by column."""
    kind = {case: number for number, case in enumerate(contacts)}
    from_centroids = contents.times[main.centroids]
    own = from_centroids[main.labels, np.arange(len(main.labels))]
    return {
        "cluster": main.labels.tolist(),
        "contact": [kind[case] for case in contents.cases],
        "fromCentroid": _round_all(own),
        "toStanding": _round_all(contents.to_standing),
        "chain": [None if chain is None else _list_moves(chain) for chain in chains],
        "route": _round_all(_measure(chains)),
    }


def _list_moves(chain: Chain) -> list[list[Any]]:
    """Return the command, the end and the time of each move."""
    times = [_round(seconds) for seconds in chain.seconds]
    return [list(move) for move in zip(chain.words, chain.nodes, times, strict=True)]


def _place_clusters(contents: Contents, main: StoredClustering, route: Array) -> Array:
    """Return initial positions of clusters, (k, 2), around standing in the middle.

    The distance grows with the time to standing. The angle is the roll of the body.
    """
    poses = main.centroids
    longest = max(float(route[np.isfinite(route)].max(initial=0.0)), 0.1)
    radius = np.where(np.isfinite(route[poses]), route[poses], 1.3 * longest) / longest
    # Poses with the same roll would overlap: the pitch moves them apart.
    turn = contents.poses.roll[poses] + 0.5 * contents.poses.pitch[poses]
    spot = np.stack([np.sin(turn), -np.cos(turn)], axis=1)
    return np.asarray((0.25 + radius)[:, None] * spot)


def _make_sheet(contents: Contents) -> str:
    width, height = _THUMB
    images = contents.album.get_pictures(
        contents.poses.qpos, width=width, height=height
    )
    return encode_data_uri(tile_pictures(images, columns=_COLUMNS))


def _round_all(values: Array) -> list[float | None]:
    """Return numbers rounded to 0.001; None where they are not finite."""
    return [_round(value) if np.isfinite(value) else None for value in values]


def _round(value: float) -> float:
    return round(float(value), 3)
