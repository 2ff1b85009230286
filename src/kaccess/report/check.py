"""Whether every file of a study can be read, and whether they agree."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kaccess.access import Outcome
from kaccess.base.errors import InputError
from kaccess.base.json_files import read_json
from kaccess.base.tensors import read_tensors
from kaccess.evaluation.curves import check_curves, read_curve
from kaccess.policies import Policy
from kaccess.study import Study
from kaccess.study.clusterings import check_clustering
from kaccess.study.results import RESULTS, explain_result, read_result
from kaccess.study.settings_file import is_study
from kaccess.study.starts import load_states
from kaccess.study.timing import read_times

__all__ = ["check_study"]


def check_study(path: Path) -> list[str]:
    """Read every file of a study, and return what is wrong: a sentence each.

    Raises:
        InputError: If the folder is not a study at all.
    """
    try:
        study = Study(path)
    except InputError as error:
        if not is_study(path):
            raise
        return [str(error)]
    problems = [*_check_arrays(study), *_check(partial(getattr, study), "robot")]
    if not problems:
        problems += [*_check_agreement(study), *_check_derived(study)]
    return [*problems, *_check_files(study)]


def _check_arrays(study: Study) -> Iterator[str]:
    """Yield the chunks that cannot be read, and the arrays that lack some."""
    arrays = study.arrays
    if damaged := [each for name in arrays.names for each in arrays.find_damage(name)]:
        yield from damaged
    elif study.has_lost_standing or len(arrays.find_lost_rows()):
        yield arrays.explain_lost("results")


def _check_agreement(study: Study) -> Iterator[str]:
    """Say if times and outcomes contradict each other."""
    wrong = 0
    for tile in study.arrays.iter_tiles():
        # Times are written last: rows without any are still to be estimated.
        times, found = (part[~np.isnan(tile[0]).all(axis=1)] for part in tile)
        expected = np.where(np.isnan(times), Outcome.PENDING, Outcome.REACHED)
        known = np.isfinite(times) | np.isnan(times)
        wrong += int((known & (found != expected)).sum())
        wrong += int((~known & (found <= Outcome.REACHED)).sum())
    if wrong:
        yield (
            f"{study.path} is damaged: {wrong} times contradict their outcomes. Start "
            "a new study."
        )


def _check_derived(study: Study) -> Iterator[str]:
    """Yield what is wrong with what is made of arrays, the robot and other files."""
    graph = "graph" if study.has_graph_file else "chain_moves"
    for part in ("poses", graph, "n_moves"):
        yield from _check(partial(getattr, study), part)


def _check_files(study: Study) -> Iterator[str]:
    """Yield the files outside `study.zarr` that cannot be used."""
    readers: dict[str, Callable[[Path], object]] = {
        "timings.json": lambda file: read_times(file.parent),
        "*.json": read_json,
        **{f"{folder}/*.json": read_result for folder in RESULTS},
        "clusters/*.json": partial(_read_clustering, study),
        "starts/*.npz": partial(load_states, study),
        "tests/*.npz": partial(load_states, study),
        "train/*/*/*/*.csv": read_curve,
        "train/*/*/*/*.safetensors": Policy.load,
        "train/*/*.safetensors": read_tensors,
        "train/*": check_curves,
    }
    for pattern, read in readers.items():
        for file in sorted(study.path.glob(pattern)):
            if not file.name.startswith("."):  # the draft of a killed process
                yield from _check(read, file)


def _read_clustering(study: Study, file: Path) -> None:
    with explain_result(file):
        check_clustering(read_result(file), study.n_poses)


def _check(read: Callable[[Any], object], what: Any) -> Iterator[str]:  # noqa: ANN401
    """Yield the error of a function that reads something, if there is one."""
    try:
        read(what)
    except InputError as error:
        yield str(error)
