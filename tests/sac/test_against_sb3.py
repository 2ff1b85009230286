"""Comparison with Stable-Baselines3: the same settings give a similar curve."""

import gymnasium
import numpy as np
import pytest

torch = pytest.importorskip("torch")
sb3 = pytest.importorskip("stable_baselines3")

from tests.sac.pendulum import CONFIG, EPISODE, learn

N_STEPS = 5000


class Returns(sb3.common.callbacks.BaseCallback):
    """Records the return of each episode."""

    def __init__(self):
        super().__init__()
        self.returns = [0.0]

    def _on_step(self):
        self.returns[-1] += float(self.locals["rewards"][0])
        if self.locals["dones"][0]:
            self.returns.append(0.0)
        return True


def learn_with_sb3(seed):
    learner = sb3.SAC(
        "MlpPolicy",
        gymnasium.make("Pendulum-v1"),
        gamma=CONFIG.gamma,
        batch_size=CONFIG.batch_size,
        learning_rate=CONFIG.learning_rate,
        tau=CONFIG.tau,
        buffer_size=CONFIG.capacity,
        learning_starts=CONFIG.warmup_steps,
        policy_kwargs={"net_arch": list(CONFIG.hidden)},
        device="cpu",
        seed=seed,
    )
    callback = Returns()
    learner.learn(N_STEPS, callback=callback)
    return callback.returns[: N_STEPS // EPISODE]


def mean_returns(curves):
    """Return each learner's mean return: of all episodes, and of the last ten."""
    return [np.sort(part.mean(1)).round() for part in (curves, curves[:, -10:])]


@pytest.mark.slow
def test_curve_matches_stable_baselines3(tmp_path):
    theirs = mean_returns(np.array([learn_with_sb3(seed) for seed in range(3)]))
    ours = mean_returns(learn(tmp_path, n_learners=8, n_steps=N_STEPS))
    # Seeds differ by about 100 in both; a mistake in the update costs far more.
    for mine, other in zip(ours, theirs, strict=True):
        print(f"ours {mine.mean():.0f} {mine}, theirs {other.mean():.0f} {other}")
        assert abs(mine.mean() - other.mean()) < 150, (mine, other)
