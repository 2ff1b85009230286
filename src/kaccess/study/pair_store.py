"""Single pairs of a study, each simulated once, and stored as soon as it is known.

Pairs come in rounds of a few seconds. Each is a file in the folder `pairs`, until all
go into the arrays. So a run that was interrupted resumes, and asks the same pairs.
"""

from pathlib import Path

import numpy as np

from kaccess.access import Landings, Nodes, Transitions
from kaccess.access.mirrored_pairs import estimate_single_pairs
from kaccess.base.npz_files import read_npz, write_npz
from kaccess.base.types import IntArray
from kaccess.config import AccessConfig
from kaccess.engines import Engine
from kaccess.study.arrays import Arrays
from kaccess.study.layout import LANDINGS
from kaccess.study.study import Study

__all__ = ["PairStore"]

_ROUND = 2048  # pairs that are simulated and stored together
_REMEDY = "Delete it; `kaccess access` estimates its pairs again."


class PairStore:
    """Answers pairs from what is stored, or by simulating them.

    Args:
        study: Study.
        config: Time limit, and tolerances that decide when a pose is reached.
        engine: Simulator.
        nodes: Nodes of the posture graph, to store landings; None for none.
        folder: Folder of the rounds.
    """

    def __init__(
        self,
        study: Study,
        config: AccessConfig,
        engine: Engine,
        nodes: Nodes | None,
        folder: Path,
    ) -> None:
        self._study, self._config = study, config
        self._engine, self._nodes, self._folder = engine, nodes, folder
        self.known = study.arrays.find_known()
        names = ["times", "outcomes"]
        if nodes is not None:
            names += [f"landings/{name}" for name in LANDINGS]
        self._found = {name: study.arrays.read(name) for name in names}
        self._rounds: list[dict[str, np.ndarray]] = []
        for file in sorted(folder.glob("*.npz")):
            self._add(read_npz(file, _REMEDY))

    def __call__(self, source: IntArray, goal: IntArray) -> Transitions:
        """Return the transitions from poses, (b,), to poses, (b,), without states."""
        new = np.flatnonzero(~self.known[source, goal])
        size = max(_ROUND, self._engine.batch_size)
        for at in range(0, len(new), size):
            part = new[at : at + size]
            self._simulate(source[part], goal[part])
        values = {name: each[source, goal] for name, each in self._found.items()}
        landings = None
        if self._nodes is not None:
            landings = Landings(*(values[f"landings/{name}"] for name in LANDINGS))
        return Transitions(values["times"], values["outcomes"], landings)

    def _simulate(self, source: IntArray, goal: IntArray) -> None:
        found = estimate_single_pairs(
            self._study.poses,
            source,
            goal,
            self._config,
            engine=self._engine,
            nodes=self._nodes,
        )
        arrays = {"times": found.times, "outcomes": found.outcomes}
        if found.landings is not None:
            arrays |= {f"landings/{k}": v for k, v in vars(found.landings).items()}
        arrays |= {"source": source, "goal": goal}
        # A name with a slash would be a folder in the file.
        plain = {name.replace("/", "."): each for name, each in arrays.items()}
        write_npz(self._folder / f"{len(self._rounds):06d}.npz", **plain)
        self._add(plain)

    def _add(self, arrays: dict[str, np.ndarray]) -> None:
        found = {name.replace(".", "/"): each for name, each in arrays.items()}
        where = found["source"], found["goal"]
        for name, values in self._found.items():
            values[where] = found[name]
        self.known[where] = True
        self._rounds.append(found)

    def write(self) -> None:
        """Store all rounds in the arrays of the study, and remove their files."""
        if not self._rounds:
            return
        rounds = self._rounds
        _write_pairs(
            self._study.arrays,
            {
                name: np.concatenate([each[name] for each in rounds])
                for name in rounds[0]
            },
        )
        for file in self._folder.glob("*.npz"):
            file.unlink()
        self._rounds.clear()


def _write_pairs(arrays: Arrays, found: dict[str, np.ndarray]) -> None:
    """Store pairs, tile by tile. Times are written last in each tile."""
    source, goal = found["source"], found["goal"]
    for tile in arrays.tiles():
        here = (source >= tile.start) & (source < tile.stop)
        if not here.any():
            continue
        rows = slice(tile.start, tile.stop)
        for name in arrays.row_arrays:
            values = arrays.read(name, rows)
            values[source[here] - tile.start, goal[here]] = found[name][here]
            arrays.array(name)[rows] = values
