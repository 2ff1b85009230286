"""Begin episodes of a Gymnasium `MujocoEnv` in the starts beside this file.

    env = gymnasium.make("Ant-v5", xml_file="scene.xml")
    env = FromStarts(env)

Put it below wrappers that change observations. It needs NumPy, Gymnasium and MuJoCo;
kaccess wrote it, but need not be installed.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import gymnasium
import numpy as np

FILE = Path(__file__).with_name("kaccess_starts.npz")
Array = np.ndarray
Model = Any  # an MjModel


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


class FromStarts(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Begins each episode in a start, drawn with the random numbers of the environment.

    Args:
        env: Environment whose `unwrapped` is a `MujocoEnv`.
        file: File of the starts.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], file: Path = FILE) -> None:
        super().__init__(env)
        self._robot = cast(Any, env.unwrapped)
        self._starts = load_starts(self._robot.model, file)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset the environment, then put the robot into a start.

        Its number is `info["start"]`.
        """
        self.env.reset(seed=seed, options=options)
        qpos, qvel, weights = self._starts
        start = int(self._robot.np_random.choice(len(weights), p=weights))
        self._robot.set_state(qpos[start], qvel[start])
        info = self._robot._get_reset_info()
        return self._robot._get_obs(), {**info, "start": start}
