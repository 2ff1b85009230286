"""Begin episodes of a get-up task of MuJoCo Playground in the starts beside this file.

    from mujoco_playground._src.locomotion.go1.getup import Getup
    env = from_starts(Getup)()

Train with `wrap_for_brax_training(env, full_reset=True)`: without it, each robot begins
all its episodes in one and the same state. It needs NumPy and JAX; kaccess wrote it,
but need not be installed.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

FILE = Path(__file__).with_name("kaccess_starts.npz")
Array = np.ndarray
Model = Any  # an MjModel
EnvClass = Any  # a class of environments
Argument = Any


def match_joints(known: Sequence[str], names: Sequence[str]) -> list[int]:
    """Return where the joints of the robot, `names`, are among those of the starts."""
    if set(known) != set(names):
        raise ValueError(
            "The robot and the starts must have the same joints, but only the robot "
            f"has {sorted(set(names) - set(known))}, and only the starts have "
            f"{sorted(set(known) - set(names))}. Export the starts of this robot."
        )
    return [list(known).index(name) for name in names]


def load_starts(model: Model, file: Path = FILE) -> tuple[Array, Array, Array]:
    """Return `(qpos, qvel, probabilities)` for a MuJoCo model: a free joint and hinges.

    Shapes are (k, nq), (k, nv) and (k,); joints are matched by name.
    """
    joints = map(model.joint, range(model.njnt))
    names = [joint.name for joint in joints if joint.type[0] > 0]  # 0: the free joint
    with np.load(file) as data:
        order = match_joints(data["joint_names"].tolist(), names)
        qpos, qvel = data["qpos"], data["qvel"]
        qpos = np.concatenate([qpos[:, :7], qpos[:, 7:][:, order]], axis=1)
        qvel = np.concatenate([qvel[:, :6], qvel[:, 6:][:, order]], axis=1)
        return qpos, qvel, data["weights"]


def from_starts(getup: EnvClass, file: Path = FILE) -> EnvClass:
    """Return a subclass of a robot's `Getup` whose episodes begin in starts.

    All of them do: nothing is dropped, none begins standing, and nothing has to settle.
    The task still gives the base a small random velocity.
    """

    class GetupFromStarts(getup):  # type: ignore[misc]  # known when it is called
        def __init__(
            self,
            *args: Argument,
            config_overrides: Mapping[str, Any] | None = None,
            **kwargs: Argument,
        ) -> None:
            always = {"drop_from_height_prob": 1.0, "settle_time": 0.0}
            overrides = {**(config_overrides or {}), **always}
            super().__init__(*args, config_overrides=overrides, **kwargs)
            qpos, _, weights = load_starts(self.mj_model, file)
            self._start_qpos, self._weights = jnp.asarray(qpos), jnp.asarray(weights)

        def _get_random_qpos(self, rng: jax.Array) -> jax.Array:
            start = jax.random.choice(rng, len(self._weights), p=self._weights)
            return self._start_qpos[start]

    return GetupFromStarts
