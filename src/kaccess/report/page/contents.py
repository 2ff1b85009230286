"""What a study holds, read once for its page."""

import json
import logging
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kaccess.access import accessibility
from kaccess.cluster.quality import Quality, assess
from kaccess.curves import Curves, load_curves
from kaccess.errors import InputError
from kaccess.poses import Poses
from kaccess.report.page.motion import Motion, find_motion
from kaccess.report.pictures import Album
from kaccess.report.summary import Summary, summarize
from kaccess.study import Study
from kaccess.types import Array, IntArray

__all__ = ["MAIN", "Clustering", "Contents", "read_contents"]

logger = logging.getLogger(__name__)

MAIN = "kaccess"  # the method whose clusters the page is about
_MOTIONS = ("fall-recovery", "backflip")


@dataclass(frozen=True, eq=False)
class Clustering:
    """Clusters of a study's poses.

    Args:
        centroids: (k,) pose that stands for each cluster.
        labels: (n,) cluster of each pose.
        quality: Its figures.
        curve: Figures over the number of clusters, if it was chosen by them.
    """

    centroids: IntArray
    labels: IntArray
    quality: Quality
    curve: Mapping[str, Sequence[float]] | None

    @cached_property
    def by_size(self) -> IntArray:
        """(k,) the clusters, the largest first."""
        return np.argsort(-self.quality.sizes, kind="stable")


@dataclass(frozen=True, eq=False)
class Contents:
    """What a study holds.

    Args:
        study: Its folder, as the user calls it, to be typed after a command.
        poses: Its poses.
        summary: Its figures.
        times: (n, n) seconds from pose i to pose j.
        to_standing: (n,) seconds from each pose to standing.
        clusterings: By method; empty before all times are there.
        curves: By folder of `train`, then by name of the starts.
        policies: What came of the policies, by name of the test.
        motions: Policies at work, by task.
        timings: Seconds that each stage took.
        album: Pictures of the robot.
    """

    study: str
    poses: Poses
    summary: Summary
    times: Array
    to_standing: Array
    clusterings: Mapping[str, Clustering]
    curves: Mapping[str, Mapping[str, Curves]]
    policies: Mapping[str, Sequence[Mapping[str, Any]]]
    motions: Mapping[str, Motion]
    timings: Mapping[str, float]
    album: Album

    @property
    def main(self) -> Clustering | None:
        """The clusters the page is about."""
        return self.clusterings.get(MAIN)

    @cached_property
    def cases(self) -> list[str]:
        """What touches the ground in each pose, in words."""
        parts = np.array(self.poses.robot.parts)
        return [" + ".join(parts[touch]) or "none" for touch in self.poses.contacts]


def read_contents(study: Study, poses: Poses) -> Contents:
    """Read all that a page shows; policies are put to work for it."""
    times, to_standing = study.times, study.to_standing
    summary = summarize(
        study.settings,
        contacts=poses.contacts,
        parts=study.parts,
        times=times,
        outcomes=study.outcomes,
        to_standing=to_standing,
    )
    policies = {
        name: content["policies"]
        for name, content in study.read_jsons("evaluation").items()
        if content.get("policies")
    }
    motions = {
        task: find_motion(study, poses.robot, task, policies.get(task, ()))
        for task in _MOTIONS
    }
    return Contents(
        study=shlex.quote(str(study.path)),
        poses=poses,
        summary=summary,
        times=times,
        to_standing=to_standing,
        clusterings={} if np.isnan(times).any() else _clusterings(study, times),
        curves=_curves(study),
        policies=policies,
        motions={task: motion for task, motion in motions.items() if motion},
        timings=_timings(study),
        album=Album(poses.robot, study.path / ".cache" / "pictures"),
    )


def _clusterings(study: Study, times: Array) -> dict[str, Clustering]:
    access = accessibility(times)
    found = {}
    for method, content in study.read_jsons("clusters").items():
        centroids, labels = np.array(content["centroids"]), np.array(content["labels"])
        alpha = float(content["settings"].get("alpha", 1.0))
        quality = assess(access, centroids, labels, alpha=alpha)
        curve = content.get("curve")
        found[method] = Clustering(centroids, labels, quality, curve)
    return found


def _curves(study: Study) -> dict[str, dict[str, Curves]]:
    found = {}
    for folder in sorted((study.path / "train").glob("*/")):
        try:
            found[folder.name] = load_curves(folder)
        except InputError:  # nothing there yet
            logger.info("%s has no learning curves.", folder)
    return found


def _timings(study: Study) -> dict[str, Any]:
    path = study.path / "timings.json"
    return dict(json.loads(path.read_text())) if path.exists() else {}
