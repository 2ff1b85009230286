"""The pose graph: clusters, how accessible they are, and every pose's way to standing.

What the page's script reads is plain numbers; positions are where the layout starts.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kaccess.access import Routes, accessibility, find_routes
from kaccess.base.types import Array
from kaccess.report.page.clusters import no_clusters
from kaccess.report.page.contents import Contents
from kaccess.report.page.parts import Graph, Section
from kaccess.report.rendering.album import as_data_uri, contact_sheet
from kaccess.study import StoredClustering

__all__ = ["graph_content", "graph_section"]

_LEAST = 0.02  # accessibility of a link that is on the page [-]
_MOST_PICTURES = 1500  # poses with a picture each, beyond which they are numbers only
_THUMB = (96, 72)  # [pixels]
_COLUMNS = 32


def graph_section(contents: Contents) -> Section:
    """Return the clusters as a graph to explore."""
    title, main = "Pose graph", contents.main
    if main is None:
        return Section("graph", title, "", [no_clusters(contents)])
    lead = (
        "Each node is a cluster, each arrow the mean accessibility from its members to "
        "the other's centroid. Choose a cluster to see its members, its links and its "
        "fastest way to standing."
    )
    content = graph_content(contents, main)
    sheet = _sheet(contents) if content["pictures"] else ""
    return Section("graph", title, lead, [Graph(content, sheet)])


def graph_content(contents: Contents, main: StoredClustering) -> dict[str, Any]:
    """Return what the graph's script reads, as JSON can hold it."""
    routes = find_routes(contents.times, contents.to_standing)
    contacts = list(dict.fromkeys(contents.cases))
    width, height = _THUMB
    return {
        "clusters": _nodes(contents, main, routes),
        "links": [
            [int(i), int(j), _round(main.quality.inter[i, j])]
            for i, j in np.argwhere(main.quality.inter >= _LEAST)
            if i != j
        ],
        "poses": _pose_table(contents, main, routes, contacts),
        "contacts": contacts,
        "pictures": len(contents.poses) <= _MOST_PICTURES,
        "sheet": {"columns": _COLUMNS, "width": width, "height": height},
    }


def _nodes(
    contents: Contents, main: StoredClustering, routes: Routes
) -> list[dict[str, Any]]:
    """Return what there is to know of each cluster."""
    standing = accessibility(contents.to_standing)
    qpos = contents.poses.qpos[main.centroids]
    pictures = contents.album.pictures(qpos, width=320, height=240)
    places = _places(contents, main, routes.seconds)
    return [
        {
            "centroid": int(centroid),
            "size": int(main.quality.sizes[cluster]),
            "intra": _round(main.quality.intra[cluster]),
            "standing": _round(standing[main.labels == cluster].mean()),
            "image": as_data_uri(pictures[cluster]),
            "x": _round(places[cluster, 0]),
            "y": _round(places[cluster, 1]),
        }
        for cluster, centroid in enumerate(main.centroids)
    ]


def _pose_table(
    contents: Contents, main: StoredClustering, routes: Routes, contacts: Sequence[str]
) -> dict[str, list[Any]]:
    """Return what there is to know of each pose, by column."""
    kind = {case: number for number, case in enumerate(contacts)}
    home = main.centroids[main.labels]
    return {
        "cluster": main.labels.tolist(),
        "contact": [kind[case] for case in contents.cases],
        "fromCentroid": _list(contents.times[home, np.arange(len(home))]),
        "toStanding": _list(contents.to_standing),
        "next": routes.next_pose.tolist(),
        "route": _list(routes.seconds),
    }


def _places(contents: Contents, main: StoredClustering, route: Array) -> Array:
    """Return where clusters start, (k, 2): standing in the middle, slow ones far out.

    The angle is that of the body's roll, so left and right are where they are.
    """
    poses = main.centroids
    longest = max(float(route[np.isfinite(route)].max(initial=0.0)), 0.1)
    radius = np.where(np.isfinite(route[poses]), route[poses], 1.3 * longest) / longest
    # Those that lie alike would sit on one another: turn them a little, each its way.
    turn = contents.poses.roll[poses] + 0.5 * contents.poses.pitch[poses]
    spot = np.stack([np.sin(turn), -np.cos(turn)], axis=1)
    return np.asarray((0.25 + radius)[:, None] * spot)


def _sheet(contents: Contents) -> str:
    width, height = _THUMB
    images = contents.album.pictures(contents.poses.qpos, width=width, height=height)
    return as_data_uri(contact_sheet(images, columns=_COLUMNS))


def _list(values: Array) -> list[float | None]:
    """Return numbers to the millisecond; what is not finite is null."""
    return [_round(value) if np.isfinite(value) else None for value in values]


def _round(value: float) -> float:
    return round(float(value), 3)
