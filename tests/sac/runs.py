"""Short runs with the point masses, and the files that they leave."""

import csv

import numpy as np

from kaccess.config import SacConfig
from kaccess.sac import Plan, RunFolder, load_checkpoint, train
from tests.sac.point_mass import PointMasses

CONFIG = SacConfig(
    hidden=(16, 16),
    batch_size=16,
    warmup_steps=12,
    return_steps=4,
    learning_rate=1e-3,
    capacity=40,
    initial_alpha=1.0,  # masses move far, and some episodes end at the edge
)
NAMES = ["ka/seed-0", "ka/seed-1", "rnd/seed-0"]


def run(
    path, *, env=None, config=CONFIG, n_steps=60, plan=None, folder=None, **options
):
    """Train; `plan` and `folder` are the fields that differ from the defaults."""
    fields = {"names": NAMES, "seeds": range(3), "n_steps": n_steps, **(plan or {})}
    whole_plan = Plan(**fields)
    env = env or PointMasses(len(whole_plan.names) * config.envs_per_learner)
    where = RunFolder(path, **{"tensorboard": False, **(folder or {})})
    return train(env, config, plan=whole_plan, folder=where, **options)


def rows(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def arrays(folder):
    return dict(load_checkpoint(folder / "checkpoint.safetensors").arrays)


def select_learner(arrays, p):
    """Return the arrays of one learner, with one environment per learner."""
    own = {"replay": arrays[f"replay/{p}"]}
    for name, values in arrays.items():
        if name.startswith("multi-step/"):  # (steps, environments)
            own[name] = values[:, p]
        elif not name.startswith(("replay/", "position")):
            own[name] = values[p]
    return own


def assert_same(first, second):
    assert first.keys() == second.keys()
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)


def interrupt_at(step):
    """Return a progress callback that interrupts the run at a step."""

    def progress(done, total, metrics):
        if done >= step:
            raise KeyboardInterrupt

    return progress
