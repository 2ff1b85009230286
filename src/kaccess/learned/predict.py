"""Learned accessibility of a study: fit it, store it, ask it.

The model is `learned/access.safetensors` in the study's folder.
"""

from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from kaccess.base.damage import explain_damage
from kaccess.base.errors import InputError
from kaccess.base.tensors import read_tensors, write_tensors
from kaccess.base.types import Array, IntArray, Progress
from kaccess.cluster import KAccess
from kaccess.config import LearnConfig
from kaccess.learned.features import Features
from kaccess.learned.figures import Figures
from kaccess.learned.fit import fit_model
from kaccess.learned.model import AccessModel, Prediction
from kaccess.learned.moves import read_moves
from kaccess.learned.network import describe_shapes
from kaccess.sac.device import find_device
from kaccess.study import Study, StudyLike

__all__ = [
    "LearnedAccess",
    "learn_access",
    "predict_clusters",
    "predict_times",
    "read_model",
]

_FILE = Path("learned", "access.safetensors")
_KIND = "kaccess access model (1)"
_SCALING = ("input_mean", "input_spread")


@dataclass(frozen=True)
class LearnedAccess:
    """What was learned, and how well it predicts.

    Args:
        path: File of the model.
        n_pairs: Number of known pairs that it learned from.
        figures: How well one member predicts moves between two poses it has not seen.
    """

    path: Path
    n_pairs: int
    figures: Figures


def learn_access(
    study: StudyLike,
    config: LearnConfig | None = None,
    *,
    device: str = "auto",
    progress: Progress | None = None,
) -> LearnedAccess:
    """Learn the accessibility of any two poses from the known pairs of a study.

    Args:
        study: Study or its folder; not all of its pairs need to be estimated.
        config: Size of the ensemble, and how it is trained.
        device: Device of torch: `cpu`, `cuda`, or `auto`, a GPU if there is one.
        progress: Called with (steps done, steps to do).
    """
    study, config = Study.open(study), config or LearnConfig()
    moves = read_moves(study, most=config.most_pairs, seed=config.seed)
    model, figures = fit_model(
        study.robot,
        study.poses.qpos,
        moves,
        study.access_config,
        config,
        mirrored=study.poses.mirrored,
        device=find_device(device),
        progress=progress,
    )
    learned = LearnedAccess(study.path / _FILE, len(moves), figures)
    _write_model(learned, model, config)
    return learned


def _write_model(
    learned: LearnedAccess, model: AccessModel, config: LearnConfig
) -> None:
    arrays = {name: each.cpu().numpy() for name, each in model.parameters.items()}
    scaling = dict(zip(_SCALING, (model.mean, model.spread), strict=True))
    header = {
        "robot": model.features.robot.fingerprint,
        "settings": asdict(config),
        "temperature": model.temperature,
        "n_pairs": learned.n_pairs,
        "figures": asdict(learned.figures),
    }
    write_tensors(learned.path, _KIND, header, arrays | scaling)


def read_model(study: StudyLike, *, device: str = "auto") -> AccessModel:
    """Return the model that `learn_access` stored in a study.

    Raises:
        InputError: If there is none, or it is damaged or of another robot.
    """
    study = Study.open(study)
    path = study.path / _FILE
    if not path.is_file():
        raise InputError(
            f"{study.path} has no learned accessibility yet. Run `kaccess learn-access "
            f"{study.path}` first."
        )
    header, arrays = read_tensors(path, _KIND)
    remedy = f"Run `kaccess learn-access {study.path}` again."
    features = Features(study.robot, study.access_config)
    with explain_damage(path, remedy):
        if header["robot"] != study.robot.fingerprint:
            raise ValueError("it was learned from another model of the robot")
        config = LearnConfig(**header["settings"])
        shapes = describe_shapes(
            config.members,
            features.n_inputs,
            config.width,
            config.layers,
            2 + features.n_places,
        )
        scaling = [arrays.pop(name) for name in _SCALING]
        found = {name: each.shape for name, each in arrays.items()}
        if found != shapes or any(len(each) != features.n_inputs for each in scaling):
            raise ValueError("its arrays have other shapes than its settings say")
        temperature = float(header["temperature"])
    parameters = {name: torch.from_numpy(each) for name, each in arrays.items()}
    return AccessModel(
        features,
        parameters,
        mean=scaling[0],
        spread=scaling[1],
        temperature=temperature,
        device=find_device(device),
    )


def predict_times(
    study: StudyLike,
    qpos_from: Array,
    qpos_to: Array,
    *,
    landings: bool = False,
    device: str = "auto",
) -> Prediction:
    """Predict the moves between any states of a study's robot, seen or not.

    Args:
        study: Study or its folder, after `kaccess learn-access`.
        qpos_from: (m, nq) states at rest to start from.
        qpos_to: (k, nq) states whose joints are commanded.
        landings: Whether to predict where moves come to rest, too.
        device: Device of torch: `cpu`, `cuda`, or `auto`, a GPU if there is one.

    Returns:
        Chance, time and doubt of each move, (m, k); entry [i, j] is from i to j.
    """
    model = read_model(study, device=device)
    return model.predict(np.asarray(qpos_from), np.asarray(qpos_to), landings=landings)


def predict_clusters(
    study: StudyLike, qpos: Array, method: str = "kaccess"
) -> IntArray:
    """Return the cluster of poses that are not in the study, (b,).

    It is that of the centroid from which the expected accessibility is largest.

    Args:
        study: Study or its folder, after `kaccess learn-access` and `kaccess cluster`.
        qpos: (b, nq) poses.
        method: Method of the clustering.
    """
    study = Study.open(study)
    found = study.clusterings
    if method not in found:
        known = ", ".join(found) or "none"
        raise InputError(
            f"`method` must be a clustering of {study.path} ({known}), got {method!r}. "
            f"Run `kaccess cluster {study.path} --method {method}` first."
        )
    centroids = found[method].centroids
    moves = predict_times(study, study.poses.qpos[centroids], qpos)
    return KAccess.restore(centroids).predict(moves.access)
