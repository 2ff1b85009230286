"""Imitation of a guide: one learner, with the loop and the files of every training."""

from pathlib import Path

from kaccess.base.types import TrainProgress
from kaccess.clone.clone import Clone, Demonstrations
from kaccess.clone.run import ClonePlan, CloneRun, describe_run, read_shown
from kaccess.config import CloneConfig
from kaccess.sac import CurveTests, RunFolder, Trained, load_checkpoint
from kaccess.sac.cpu import use_threads
from kaccess.sac.device import explain_memory, find_device
from kaccess.sac.loop import drive
from kaccess.sac.store import Store

__all__ = ["load_clone", "train"]


@explain_memory()
def train(
    config: CloneConfig,
    *,
    plan: ClonePlan,
    folder: RunFolder,
    device: str = "cpu",
    tests: CurveTests | None = None,
    progress: TrainProgress | None = None,
) -> Trained:
    """Train one clone, or resume it.

    Args:
        config: Settings of the learner.
        plan: Name, seed and guide of the learner.
        folder: Folder of the run.
        device: `cpu`, a GPU such as `cuda`, or `auto`.
        tests: Tests during training; by default none.
        progress: Called after each round.

    Raises:
        InputError: If the device or the folder's checkpoint does not fit.
        KeyboardInterrupt: If interrupted; the run is stored first.
    """
    store = Store(folder, describe_run(config, plan))
    checkpoint = store.read()
    with use_threads(1):  # the network is small
        run = CloneRun(config, plan, device=device, checkpoint=checkpoint)
        drive(run, plan, store, checkpoint, tests=tests, progress=progress)
    return Trained(run.policies, dict(run.stopped), run.step)


def load_clone(
    path: Path, config: CloneConfig, *, device: str = "auto"
) -> tuple[Clone, Demonstrations]:
    """Return the clone of a checkpoint, and all that it was shown."""
    checkpoint = load_checkpoint(path)
    with checkpoint.explain():
        shown = Demonstrations.join(read_shown(checkpoint))
        obs_dim, act_dim = shown.obs.shape[1], shown.actions.shape[1]
        clone = Clone(obs_dim, act_dim, config, device=find_device(device))
        clone.set_arrays(checkpoint.select("clone"))
    return clone, shown
