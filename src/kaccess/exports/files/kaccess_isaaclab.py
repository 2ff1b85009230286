"""Reset robots of Isaac Lab to the starts beside this file; also a file for AGILE.

    from isaaclab.managers import EventTermCfg
    starts = EventTermCfg(func=reset_to_starts, mode="reset")  # in your EventCfg

Remove other terms that reset the robot, or put this one last. For Isaac Lab 2 and 3. It
needs NumPy and torch; kaccess wrote it, but need not be installed.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

FILE = Path(__file__).with_name("kaccess_starts.npz")
Array = np.ndarray
Env = Any  # a ManagerBasedEnv
Robot = Any  # an Articulation


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
    if hasattr(robot, "write_root_pose_to_sim_index"):
        _write_to_version_3(robot, rows, env_ids)
    else:
        _write_to_version_2(robot, rows, env_ids)


def _write_to_version_2(
    robot: Robot, rows: torch.Tensor, env_ids: torch.Tensor
) -> None:
    """Write states with quaternions w-x-y-z."""
    positions, velocities = rows[:, 13:].chunk(2, dim=1)
    robot.write_root_pose_to_sim(rows[:, :7], env_ids=env_ids)
    robot.write_root_link_velocity_to_sim(rows[:, 7:13], env_ids=env_ids)
    robot.write_joint_state_to_sim(positions, velocities, env_ids=env_ids)


def _write_to_version_3(
    robot: Robot, rows: torch.Tensor, env_ids: torch.Tensor
) -> None:
    """Write states with quaternions x-y-z-w."""
    pose = rows[:, [0, 1, 2, 4, 5, 6, 3]]
    velocity = rows[:, 7:13].contiguous()
    joints = rows[:, 13:].chunk(2, dim=1)
    positions, velocities = (each.contiguous() for each in joints)
    robot.write_root_pose_to_sim_index(root_pose=pose, env_ids=env_ids)
    robot.write_root_link_velocity_to_sim_index(root_velocity=velocity, env_ids=env_ids)
    robot.write_joint_position_to_sim_index(position=positions, env_ids=env_ids)
    robot.write_joint_velocity_to_sim_index(velocity=velocities, env_ids=env_ids)


def save_for_agile(
    path: Path, joint_names: Sequence[str], *, n: int = 4096, file: Path = FILE
) -> None:
    """Write n starts, drawn by their probabilities, as fallen states of AGILE.

    They are for flat ground: there is one level and one type of terrain.

    Args:
        path: File to write; `FallenStateDataset.load` reads it.
        joint_names: Joints in the robot's order in Isaac Lab, `robot.joint_names`.
        n: Number of states; AGILE draws each with the same probability.
        file: File of the starts.
    """
    states, weights = load_tensors(tuple(joint_names), file, "cpu")
    rows = states[torch.multinomial(weights, n, replacement=True)]
    widths = [3, 4, 3, 3, len(joint_names), len(joint_names)]
    names = ["root_pos_rel", "root_quat", "root_lin_vel", "root_ang_vel"]
    names += ["joint_pos", "joint_vel"]
    level = dict(zip(names, torch.split(rows, widths, dim=1), strict=True))
    level["terrain_type"] = torch.zeros(n, dtype=torch.long)
    content = {
        "cfg": {},
        "num_terrain_levels": 1,
        "num_joints": len(joint_names),
        "states_by_level": {0: level},
    }
    torch.save(content, path)
