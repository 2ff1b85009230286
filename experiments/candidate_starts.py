"""Write candidate starts into a study, all from its matrix, to compare by learning.

python experiments/candidate_starts.py runs/bittle
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro

from kaccess.cluster import KAccess, select_k
from kaccess.starts import InitialStates
from kaccess.study import Study


@dataclass(frozen=True)
class Config:
    """Study to write to."""

    study: tyro.conf.Positional[Path]
    """Folder of the study, clustered by K-Access."""


def main(config: Config) -> None:
    study = Study(config.study)
    poses, access = study.poses, study.access
    direct = np.isfinite(study.to_standing)

    def save(name: str, rows: np.ndarray, weights: np.ndarray | None = None) -> None:
        weights = np.ones(len(rows)) if weights is None else weights
        starts = InitialStates(
            poses.qpos[rows],
            weights / weights.sum(),
            tuple(f"pose {row}" for row in rows),
            poses.robot.fingerprint,
        )
        starts.save(study.path / "starts" / f"{name}.npz")
        near = float((weights * direct[rows]).sum() / weights.sum())
        print(f"{name:12s} {len(rows):4d} states, {near:4.0%} one move from standing")

    save("near", np.flatnonzero(direct))
    save("far", np.flatnonzero(~direct))

    # K-Access: the paper's Algorithm 1, and the default solver with other weights
    published = KAccess(solver="alternate", n_init=30, random_state=0)
    published = select_k(access, range(2, 121), estimator=published).model
    save("ka-1", published.centroid_indices_)
    found = study.clusterings["kaccess"]
    centroids, labels = found.centroids, found.labels
    save("ka-size", centroids, np.bincount(labels, minlength=len(centroids)) * 1.0)
    save("ka-near", centroids, np.where(direct[centroids], 1.0, 0.0) + 0.1)

    # Mean access from the best centroid, for other numbers of them; and to it
    for k in (20, 150):
        medoids = KAccess(k, objective="access", random_state=0).fit(access)
        save(f"medoids-{k}", medoids.centroid_indices_)
    hubs = KAccess(60, objective="access", random_state=0).fit(access.T)
    save("hubs", hubs.centroid_indices_)


if __name__ == "__main__":
    main(tyro.cli(Config))
