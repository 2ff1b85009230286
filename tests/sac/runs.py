"""Short runs with the point masses, and what they leave."""

import csv

import numpy as np

from kaccess.config import SacConfig
from kaccess.sac import load_checkpoint, train
from tests.sac.point_mass import PointMasses

CONFIG = SacConfig(
    hidden=(16, 16),
    batch_size=16,
    warmup_steps=12,
    return_steps=4,
    learning_rate=1e-3,
    capacity=40,
    initial_alpha=1.0,  # masses roam far, and some episodes end at the edge
)
NAMES = ["ka/seed-0", "ka/seed-1", "rnd/seed-0"]


def run(out, *, env=None, config=CONFIG, names=NAMES, n_steps=60, **options):
    n = len(names) * config.envs_per_learner
    env = env or PointMasses(n)
    options = {"seeds": range(len(names)), "tensorboard": False, **options}
    return train(env, config, names=names, n_steps=n_steps, out=out, **options)


def rows(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def arrays(out):
    return dict(load_checkpoint(out / "checkpoint.safetensors").arrays)


def of_learner(arrays, p):
    """All that belongs to one of the learners, one environment each."""
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
    def progress(done, total, figures):
        if done >= step:
            raise KeyboardInterrupt

    return progress
