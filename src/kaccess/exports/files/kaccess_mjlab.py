"""Reset robots of mjlab to the starts beside this file.

    from mjlab.managers.event_manager import EventTermCfg
    cfg.events["starts"] = EventTermCfg(func=reset_to_starts, mode="reset")

Remove other terms that reset the robot, or put this one last. It needs NumPy and torch;
kaccess wrote it, but need not be installed.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

FILE = Path(__file__).with_name("kaccess_starts.npz")
Array = np.ndarray
Env = Any  # a ManagerBasedRlEnv


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


def reset_to_starts(
    env: Env,
    env_ids: torch.Tensor | None,
    asset_name: str = "robot",
    file: Path = FILE,
) -> None:
    """Put the robots of some environments into starts.

    Args:
        env: Environment.
        env_ids: Numbers of the environments; None for all.
        asset_name: Name of the robot in the scene.
        file: File of the starts.
    """
    robot = env.scene[asset_name]
    if env_ids is None:
        env_ids = torch.arange(env.num_envs, device=env.device)
    states, weights = load_tensors(tuple(robot.joint_names), file, str(env.device))
    rows = states[torch.multinomial(weights, len(env_ids), replacement=True)]
    rows[:, :3] += env.scene.env_origins[env_ids]
    positions, velocities = rows[:, 13:].chunk(2, dim=1)
    robot.write_root_link_pose_to_sim(rows[:, :7], env_ids=env_ids)
    robot.write_root_link_velocity_to_sim(rows[:, 7:13], env_ids=env_ids)
    robot.write_joint_state_to_sim(positions, velocities, env_ids=env_ids)
