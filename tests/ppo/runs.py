"""Short runs with the point masses, by PPO."""

from kaccess.config import PpoConfig
from kaccess.ppo import HostEnv, PpoPlan, train
from kaccess.sac import RunFolder
from tests.sac.point_mass import PointMasses

N, LIMIT = 6, 7
CONFIG = PpoConfig(
    robots=N,
    rollout_steps=5,
    episode_steps=LIMIT,
    epochs=2,
    minibatches=2,
    hidden=(8, 8),
)
NAME = "ppo-ka/seed-0"
STEPS = N * CONFIG.rollout_steps  # of an iteration


def run(path, *, env=None, config=CONFIG, n_steps=6 * STEPS, **options):
    plan = PpoPlan([NAME], seeds=[0], n_steps=n_steps, metadata={"robot": "mass"})
    where = RunFolder(path, tensorboard=False)
    env = HostEnv(env or PointMasses(N))
    return train(env, config, plan=plan, folder=where, **options)
