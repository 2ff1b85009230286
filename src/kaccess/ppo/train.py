"""Training by PPO: one learner, with the loop and the files of every training."""

from dataclasses import asdict
from typing import Any

from kaccess.base.types import TrainProgress
from kaccess.config import PpoConfig
from kaccess.gpu.interface import TensorEnv
from kaccess.ppo.run import PpoPlan, PpoRun
from kaccess.sac import CurveTests, RunFolder, Trained
from kaccess.sac.cpu import use_threads
from kaccess.sac.device import explain_memory
from kaccess.sac.loop import drive
from kaccess.sac.store import Store

__all__ = ["train"]

_MIN_FOR_THREADS = 4096  # rows of a minibatch


@explain_memory()
def train(
    env: TensorEnv,
    config: PpoConfig,
    *,
    plan: PpoPlan,
    folder: RunFolder,
    device: str = "cpu",
    n_threads: int = 0,
    tests: CurveTests | None = None,
    progress: TrainProgress | None = None,
) -> Trained:
    """Train one learner, or resume it.

    Args:
        env: Environments of its robots.
        config: Settings of the learner; for robots in warp, `config.fit_to("warp")`.
        plan: Name, seed and number of steps of the learner; steps are those of all
            robots together.
        folder: Folder of the run.
        device: `cpu`, a GPU such as `cuda`, or `auto`.
        n_threads: CPU threads of the update; 0 takes all.
        tests: Tests during training; by default none.
        progress: Called a few times per second, at most once per iteration.

    Raises:
        InputError: If the device or the folder's checkpoint does not fit.
        KeyboardInterrupt: If interrupted; the run is stored first.
        MemoryError: If there is not enough memory, here or on the device.
    """
    config = config.fill_in(adapt=plan.clone is not None)
    store = Store(folder, _describe_run(env, config, plan))
    checkpoint = store.read()
    with use_threads(_choose_threads(config, n_threads)):
        run = PpoRun(env, config, plan, device=device, checkpoint=checkpoint)
        drive(run, plan, store, checkpoint, tests=tests, progress=progress)
    return Trained(run.policies, dict(run.stopped), run.step)


def _describe_run(env: TensorEnv, config: PpoConfig, plan: PpoPlan) -> dict[str, Any]:
    """Return the settings that must be the same to resume a run, as JSON holds them."""
    settings = asdict(config)
    for name in ("steps", "test_every"):  # a run may be continued for longer
        del settings[name]
    if plan.clone is None:  # as in runs from before there were clones
        del settings["clone_std"]
    return {
        "algorithm": "ppo",
        **settings,
        "names": list(plan.names),
        "seeds": list(plan.seeds),
        "obs_dim": env.obs_dim,
        "act_dim": env.act_dim,
        "low": env.low.tolist(),
        "high": env.high.tolist(),
        "meta": dict(plan.metadata),
    }


def _choose_threads(config: PpoConfig, n_threads: int) -> int:
    """Return one thread for small minibatches; 0 stands for all.

    Threads that wait for one another cost small networks more time than they save, and
    far more if other programs run: on two busy cores an update took 26 s with two
    threads, and less than 1 s with one.
    """
    rows = config.robots * config.rollout_steps // config.minibatches
    return 1 if rows < _MIN_FOR_THREADS else n_threads
