"""Initial states: where episodes of learning begin, and with what probability.

The paper compares six distributions, which are one class here: the centroids of
K-Access (`ka`), of K-Means (`km`) and of weighted K-Means (`wkm`), nine hand-designed
poses (`9-pose`), one lying pose (`1-pose`) and all sampled poses (`rnd`). `fresh` are
1000 more poses, drawn like those of the study, whose moves need not be measured.
`drop` is the usual recipe of others: robots in the air, with random orientation and
joints, that fall while the episode has begun (60 %), or stand (40 %). A mixture is
a distribution too: `ka+rnd:0.2` draws from `rnd` with probability 0.2.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kaccess.base.damage import explain_damage
from kaccess.base.errors import InputError
from kaccess.base.npz_files import read_npz, write_npz
from kaccess.base.types import Array, BoolArray
from kaccess.config import DEFAULT_METHOD, DEFAULT_TASK, METHODS, TASKS

__all__ = [
    "ALONG",
    "DROP",
    "FRESH",
    "GUIDED",
    "KEYFRAME_STARTS",
    "ROLLIN",
    "InitialStates",
    "find_command",
    "is_clustering",
    "list_starts",
    "parse_mixture",
    "split_prefix",
]

# Starts that are keyframes of a robot: the hand-designed poses of Yang et al. 2020,
# named as in the authors' later code, and one lying pose.
KEYFRAME_STARTS: Mapping[str, tuple[str, ...]] = {
    "9-pose": (
        "back",
        "stand",
        "kneel",
        "straight",
        "spread",
        "crouch",
        "belly",
        "left",
        "right",
    ),
    "1-pose": ("back",),
}

FRESH = "fresh"
DROP = "drop"
# Prefix of starts whose learners follow the guide during their warm-up.
GUIDED = "guided-"
# Prefixes of starts along the routes from them: a curriculum that moves outwards, and
# one in which the guide acts first.
ALONG, ROLLIN = "along-", "rollin-"


@dataclass(frozen=True, eq=False)
class InitialStates:
    """A distribution of states at rest.

    Args:
        qpos: (k, nq) states.
        weights: (k,) probability of each state; they sum to 1.
        names: Name of each state.
        model: Fingerprint of their robot; empty if unknown.
    """

    qpos: Array
    weights: Array
    names: tuple[str, ...]
    model: str = ""

    def __post_init__(self) -> None:
        k = len(self.qpos)
        if self.qpos.ndim != 2 or k == 0:
            raise InputError(
                f"`qpos` must be states of shape (k, nq), k > 0, got {self.qpos.shape}."
            )
        if self.weights.shape != (k,) or len(self.names) != k:
            raise InputError(
                f"`weights` and `names` must have an entry for each of the {k} states, "
                f"got {self.weights.shape} and {len(self.names)}."
            )
        if not (self.weights >= 0).all() or not np.isclose(self.weights.sum(), 1.0):
            raise InputError(
                f"`weights` must be at least 0 and sum to 1, got {self.weights}."
            )

    @classmethod
    def uniform(
        cls, qpos: Array, *, names: tuple[str, ...], model: str
    ) -> "InitialStates":
        """Return states of equal weight."""
        return cls(qpos, np.full(len(qpos), 1.0 / len(qpos)), names, model)

    @classmethod
    def mix(cls, shares: Mapping["InitialStates", float]) -> "InitialStates":
        """Return a mixture of distributions.

        Args:
            shares: Probability of each distribution; they sum to 1.
        """
        if not shares:
            raise InputError("`shares` must name at least one distribution.")
        models = {states.model for states in shares if states.model}
        widths = {states.qpos.shape[1] for states in shares}
        if len(models) > 1 or len(widths) > 1:
            raise InputError(
                "Initial states of different robots cannot be mixed. Make them all "
                "from studies of one robot."
            )
        return cls(
            np.concatenate([states.qpos for states in shares]),
            np.concatenate(
                [share * states.weights for states, share in shares.items()]
            ),
            tuple(name for states in shares for name in states.names),
            "".join(models),
        )

    def __len__(self) -> int:
        return len(self.qpos)

    def select(self, rows: BoolArray) -> "InitialStates":
        """Return some of the states; their weights keep their proportions."""
        weights = self.weights[rows] / self.weights[rows].sum()
        names = tuple(np.array(self.names)[rows]) if self.names else ()
        return InitialStates(self.qpos[rows], weights, names, self.model)

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """Draw n states, (n, nq)."""
        return self.qpos[rng.choice(len(self), size=n, p=self.weights)]

    def save(self, path: Path) -> None:
        """Write the states to an .npz file, whole or not at all."""
        write_npz(
            path,
            qpos=self.qpos,
            weights=self.weights,
            names=np.array(self.names),
            model=np.array(self.model),
        )

    @classmethod
    def load(
        cls,
        path: str | Path,
        remedy: str = "`kaccess cluster STUDY` writes such files.",
    ) -> "InitialStates":
        """Read states that `save` wrote.

        Args:
            path: File to read.
            remedy: A sentence that says what to do if the file cannot be used.
        """
        file = Path(path)
        parts = read_npz(file, remedy, "qpos", "weights", "names", "model")
        with explain_damage(file, remedy):
            if not np.isfinite(parts["qpos"]).all():
                raise ValueError("`qpos` has numbers that are not finite")
            names = tuple(map(str, parts["names"].tolist()))
            return cls(parts["qpos"], parts["weights"], names, str(parts["model"]))


def list_starts() -> list[str]:
    """Return the names of all starts that `kaccess cluster` can write."""
    return [*(info.starts for info in METHODS.values()), "rnd", *KEYFRAME_STARTS]


def is_clustering(name: str) -> bool:
    """Return whether starts of that name are the centroids of a clustering."""
    return name in (info.starts for info in METHODS.values())


def find_command(name: str, study: Path, task: str = DEFAULT_TASK) -> str | None:
    """Return the command that writes these starts; None if there is no such command.

    Args:
        name: Name of the starts.
        study: Folder of the study.
        task: Task to learn from them.
    """
    if name not in list_starts():
        return None
    options = {
        info.starts: f" --method {method}"
        for method, info in METHODS.items()
        if method != DEFAULT_METHOD
    }
    for_task = is_clustering(name) and task in TASKS and task != DEFAULT_TASK
    option = options.get(name, "") + (f" --task {task}" if for_task else "")
    return f"kaccess cluster {study}{option}"  # any method writes rnd


def split_prefix(text: str) -> tuple[str, str]:
    """Return the prefix of a kind of starts, such as `along-`, and the starts."""
    for prefix in (GUIDED, ALONG, ROLLIN):
        if text.startswith(prefix):
            return prefix, text.removeprefix(prefix)
    return "", text


def parse_mixture(text: str) -> dict[str, float]:
    """Return the share of each distribution in a mixture such as `ka+rnd:0.2`.

    Names without a number divide the rest equally: here `ka` has 0.8.
    """
    names, shares = [], []
    for part in text.split("+"):
        name, colon, share = part.strip().partition(":")
        names.append(name)
        shares.append(_parse_share(share, text) if colon else None)
    given = sum(share for share in shares if share is not None)
    n_open = shares.count(None)
    rest = (1.0 - given) / n_open if n_open else 0.0
    if rest < 0 or (not n_open and not np.isclose(given, 1.0)):
        raise InputError(
            f"The shares of {text!r} must sum to 1, or to less if a name has no share, "
            f"got {given:g}. Write it like ka+rnd:0.2."
        )
    if not all(names) or len(set(names)) < len(names):
        raise InputError(
            f"{text!r} must name distributions, each once, joined by a plus. Write it "
            "like ka+rnd:0.2."
        )
    mixture = zip(names, shares, strict=True)
    return {name: rest if share is None else share for name, share in mixture}


def _parse_share(share: str, text: str) -> float:
    try:
        value = float(share)
    except ValueError:
        value = np.nan
    if not 0 <= value <= 1:
        raise InputError(
            f"A share must be a number from 0 to 1, got {share!r} in {text!r}. Write "
            "it like ka+rnd:0.2."
        )
    return value
