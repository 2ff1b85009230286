"""Write candidate starts into a study, all from its matrix, to be compared by learning.

python experiments/candidate_starts.py runs/bittle
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro

from kaccess.pipeline import load_poses
from kaccess.starts import InitialStates
from kaccess.study import Study


@dataclass(frozen=True)
class Config:
    """Where they go."""

    study: tyro.conf.Positional[Path]
    """Folder of the study, clustered by K-Access."""


def main(config: Config) -> None:
    study = Study(config.study)
    poses = load_poses(study)
    n, model = len(poses), poses.robot.fingerprint
    names = np.array([f"pose {i}" for i in range(n)])

    def save(name: str, rows: np.ndarray, weights: np.ndarray | None = None) -> None:
        weights = np.ones(len(rows)) if weights is None else weights
        starts = InitialStates(
            poses.qpos[rows], weights / weights.sum(), tuple(names[rows]), model
        )
        starts.save(study.path / "starts" / f"{name}.npz")
        print(f"{name:10s} {len(rows):4d} states")

    direct = np.isfinite(study.to_standing)
    save("near", np.flatnonzero(direct))
    save("far", np.flatnonzero(~direct))

    found = study.read_jsons("clusters")["kaccess"]
    centroids, labels = np.array(found["centroids"]), np.array(found["labels"])
    save("ka-size", centroids, np.bincount(labels, minlength=len(centroids)) * 1.0)
    save("ka-near", centroids, np.where(direct[centroids], 1.0, 0.0) + 0.1)


if __name__ == "__main__":
    main(tyro.cli(Config))
