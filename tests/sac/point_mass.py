"""A small vector environment: masses on a line, pushed to the origin.

Each has its own random generator, so that learners cannot affect one another. The
complete state can be stored and put back.
"""

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv


class PointMasses(VectorEnv):
    """n masses; an episode takes `limit` steps, or ends at `edge`.

    Args:
        n: Number of environments.
        limit: Number of steps of an episode.
        edge: Distance beyond which the episode terminates.
        spread: (n,) largest distance of the start from the origin, or one for all.
        mode: Autoreset mode.
    """

    def __init__(
        self, n, *, limit=7, edge=np.inf, spread=1.0, mode=AutoresetMode.SAME_STEP
    ):
        self.num_envs, self.limit, self.edge = n, limit, edge
        self.spread = np.broadcast_to(spread, n)
        self.metadata = {"autoreset_mode": mode}
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (3,))
        self.single_action_space = gymnasium.spaces.Box(-3.0, 1.0, (2,))
        self.actions_seen = []

    def reset(self, *, seed=None, options=None):
        mask = np.ones(self.num_envs, dtype=bool)
        if seed is not None:
            self.rngs = [np.random.Generator(np.random.PCG64(s)) for s in seed]
            self.x, self.v = np.zeros((2, self.num_envs))
            self.t = np.zeros(self.num_envs, dtype=np.int64)
            self.ended = np.zeros(self.num_envs, dtype=bool)
        elif options:
            mask = options["reset_mask"]
        self._start(mask)
        return self._obs(), {}

    def step(self, actions):
        self.actions_seen.append(actions.copy())
        late = self.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
        restart = self.ended.copy() if late else np.zeros(self.num_envs, dtype=bool)
        self.v = self.v + 0.1 * actions.sum(1)
        self.x = self.x + 0.1 * self.v
        self.t += 1
        self._start(restart)
        terminated = (np.abs(self.x) > self.edge) & ~restart
        truncated = (self.t >= self.limit) & ~restart
        reward = np.where(restart, 0.0, -(self.x**2))
        self.ended = terminated | truncated
        info = {}
        if self.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP:
            info = {"final_obs": self._obs(), "_final_obs": self.ended.copy()}
            self._start(self.ended)
        return self._obs(), reward, terminated, truncated, info

    def get_state(self):
        keys = [rng.bit_generator.state["state"] for rng in self.rngs]
        words = [
            [int(k[w]) >> s & (2**64 - 1) for w in k for s in (0, 64)] for k in keys
        ]
        state = {name: getattr(self, name).copy() for name in ("x", "v", "t", "ended")}
        return {**state, "rng": np.array(words, dtype=np.uint64)}

    def set_state(self, state):
        for name in ("x", "v", "t", "ended"):
            setattr(self, name, state[name].copy())
        self.rngs = []
        for low, high, inc_low, inc_high in state["rng"].tolist():
            rng = np.random.Generator(np.random.PCG64())
            both = {"state": low + (high << 64), "inc": inc_low + (inc_high << 64)}
            rng.bit_generator.state = {
                **rng.bit_generator.state,
                "state": both,
                "has_uint32": 0,
            }
            self.rngs.append(rng)

    def _start(self, mask):
        for i in np.flatnonzero(mask):
            self.x[i], self.v[i] = self.spread[i] * self.rngs[i].uniform(-1, 1, 2)
            self.t[i] = 0

    def _obs(self):
        return np.stack([self.x, self.v, self.t / self.limit], axis=1).astype(
            np.float32
        )
