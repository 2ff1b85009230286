"""Begin episodes of ManiSkill in the starts beside this file.

    env = gymnasium.make("MyTask-v1", num_envs=1024)
    env = FromStarts(env)

Put it below `ManiSkillVectorEnv`, so that automatic resets use it too. The task's own
`_initialize_episode` is not called: actors other than the robot stay where they are. It
needs NumPy, torch and Gymnasium; kaccess wrote it, but need not be installed.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch

FILE = Path(__file__).with_name("kaccess_starts.npz")
Array = np.ndarray
Env = Any  # a BaseEnv, maybe wrapped


def match_joints(known: Sequence[str], names: Sequence[str]) -> list[int]:
    """Return where the joints of the robot, `names`, are among those of the starts."""
    if set(known) != set(names):
        raise ValueError(
            "The robot and the starts must have the same joints, but only the robot "
            f"has {sorted(set(names) - set(known))}, and only the starts have "
            f"{sorted(set(known) - set(names))}. Export the starts of this robot."
        )
    return [list(known).index(name) for name in names]


def load_states(names: Sequence[str], file: Path = FILE) -> tuple[Array, Array]:
    """Return the starts as rows, (k, 13 + 2 joints), and their probabilities, (k,).

    A row has position, quaternion (w-x-y-z), linear and angular velocity of the base in
    the world frame, then positions and velocities of the joints, in the order of names.
    """
    with np.load(file) as data:
        order = match_joints(data["joint_names"].tolist(), names)
        root = [data["qpos"][:, :7], data["root_velocity"]]
        joints = [data["qpos"][:, 7:][:, order], data["qvel"][:, 6:][:, order]]
        return np.concatenate([*root, *joints], axis=1), data["weights"]


@cache
def load_tensors(
    names: tuple[str, ...], file: Path, device: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return what `load_states` returns, on a device; it is loaded once."""
    states, weights = map(torch.from_numpy, load_states(names, file))
    return states.float().to(device), weights.float().to(device)


def make_options(
    env: Env, env_idx: torch.Tensor | None = None, file: Path = FILE
) -> dict[str, Any]:
    """Return options of `reset` that put robots into starts.

    Args:
        env: Environment.
        env_idx: Numbers of the environments to reset; None for all.
        file: File of the starts.
    """
    env = env.unwrapped
    every = torch.arange(env.num_envs, device=env.device)
    chosen = every if env_idx is None else env_idx
    robot = env.agent.robot
    names = tuple(joint.name for joint in robot.active_joints)
    states, weights = load_tensors(names, file, str(env.device))
    rows = states[torch.multinomial(weights, len(chosen), replacement=True)]
    all_states = {
        kind: {name: state[chosen] for name, state in group.items()}
        for kind, group in env.get_state_dict().items()
    }
    all_states["articulations"][robot.name] = rows
    return {"env_idx": chosen, "reset_to_env_states": {"env_states": all_states}}


class FromStarts(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Begins each episode in a start.

    Args:
        env: Environment with one robot, whose base is free.
        file: File of the starts.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], file: Path = FILE) -> None:
        super().__init__(env)
        self._file = file

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset all environments, or those of `options["env_idx"]`."""
        given = options or {}
        starts = make_options(self.env, given.get("env_idx"), self._file)
        return self.env.reset(seed=seed, options={**given, **starts})
