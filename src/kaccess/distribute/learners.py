"""Learners, trained by the machines of a cluster: all learners of a seed on one.

A learner does not depend on the others, and which learners train together does not
depend on the cluster: so a training may go on with other machines.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from kaccess.base.errors import TrainingError
from kaccess.base.types import TrainProgress
from kaccess.config import SacConfig, TrainConfig
from kaccess.distribute.connection import Cluster
from kaccess.distribute.nodes import Needs, Tally
from kaccess.distribute.pool import Pool
from kaccess.robots import Robot
from kaccess.study import RunsName, Study
from kaccess.study.parcel import pack_files, unpack_files
from kaccess.training import train_learners
from kaccess.training.learners import (
    claim_learners,
    make_learners,
    name_checkpoint,
)
from kaccess.training.train import find_conditions, find_task

__all__ = ["Block", "TrainJob", "choose_needs", "split_seeds", "train_on"]

_RUNS = "train"


@dataclass(frozen=True)
class Block:
    """Learners that train together.

    Args:
        config: Their training.
        files: Files that they have so far, by name.
    """

    config: TrainConfig
    files: Mapping[str, bytes]


@dataclass(frozen=True)
class TrainJob:
    """Trains learners.

    Args:
        robot: Robot of the study.
        files: Files of the study that a training reads, by name.
        sac: Settings of the learners.
        device: Device of the learners.
        n_threads: CPU threads of the physics.
    """

    robot: Robot
    files: Mapping[str, bytes]
    sac: SacConfig
    device: str
    n_threads: int

    def start(self) -> Callable[[Block], tuple[dict[str, bytes], str]]:
        """Return a function of some learners; it returns their files."""
        return self._train

    def _train(self, block: Block) -> tuple[dict[str, bytes], str]:
        """Return the files of a block of learners, and why they broke down, if so."""
        with tempfile.TemporaryDirectory(prefix="kaccess-") as scratch:
            folder, failure = Path(scratch) / "study", ""
            unpack_files(folder, {**self.files, **block.files})
            study = Study(folder)
            study.__dict__["robot"] = self.robot  # its own file is not here
            try:
                train_learners(
                    study,
                    block.config,
                    self.sac,
                    device=self.device,
                    n_threads=self.n_threads,
                )
            except TrainingError as error:
                failure = str(error)
            return pack_files(folder, (_RUNS, "tests")), failure


def train_on(
    cluster: Cluster,
    study: Study,
    config: TrainConfig,
    job: TrainJob,
    needs: Needs,
    tally: Tally,
    progress: TrainProgress | None = None,
) -> Path:
    """Train learners on a cluster, or resume them, and store their files.

    Args:
        cluster: Cluster.
        study: Study that holds starts and guide.
        config: Task, starts, seeds and episodes.
        job: How they train.
        needs: What each worker needs.
        tally: Counts what each node does.
        progress: Called when the learners of a seed are done, as if with steps.

    Returns:
        The folder of the runs.

    Raises:
        TrainingError: If all learners broke down.
    """
    conditions = find_conditions(config)
    task = find_task(study, config, conditions)
    folder = study.runs_folder(RunsName(task.name, conditions.text))
    blocks, n_steps = split_seeds(config), config.episodes * task.episode_steps
    names = {
        each: [x.name for x in make_learners(study, each, task)] for each in blocks
    }
    show, failures = progress or (lambda done, total, metrics: None), []
    with ExitStack() as held:
        for each in blocks:
            claim = claim_learners(
                folder, names[each], checkpoint=name_checkpoint(each)
            )
            held.enter_context(claim)
        show(0, n_steps, {})
        items = (Block(each, _pack_block(folder, each, names[each])) for each in blocks)
        found = Pool(cluster, job, needs, tally).run(items)
        for done, (_, (files, failure), _) in enumerate(found, start=1):
            unpack_files(study.path, files)
            failures += [failure] if failure else []
            show(n_steps * done // len(blocks), n_steps, {})
    if len(failures) == len(blocks):
        raise TrainingError(failures[0])
    return folder


def split_seeds(config: TrainConfig) -> list[TrainConfig]:
    """Return the training of each seed, all kinds of starts together."""
    seeds = range(config.first_seed, config.first_seed + config.seeds)
    return [replace(config, first_seed=seed, seeds=1) for seed in seeds]


def choose_needs(cluster: Cluster, device: str, n_threads: int) -> Needs:
    """Return what a worker that trains needs: a GPU if asked for, or if there are."""
    has_gpus = any(node.gpus for node in cluster.find_nodes().values())
    wants_gpu = device == "cuda" or (device == "auto" and has_gpus)
    return Needs(cpus=n_threads or 1, gpus=int(wants_gpu))


def _pack_block(
    folder: Path, config: TrainConfig, names: Sequence[str]
) -> dict[str, bytes]:
    """Return the files that learners have so far, by their names in the study."""
    own = (f"{name_checkpoint(config)}.safetensors", *names)
    files = pack_files(folder, own)
    return {f"{_RUNS}/{folder.name}/{name}": each for name, each in files.items()}
