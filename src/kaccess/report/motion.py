"""Policies in motion: as a video file, or live in a window."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kaccess.envs.robot_env import RobotEnv
from kaccess.errors import InputError
from kaccess.files import whole_file
from kaccess.types import Array

__all__ = ["show", "write_video"]

Act = Callable[[Array], Array]


def write_video(
    env: RobotEnv, act: Act, qpos: Array, *, n_steps: int, path: Path
) -> str:
    """Write a policy at work as an H.264 video, and say what came of it.

    Args:
        env: The environment, which can render.
        act: The policy.
        qpos: (nq,) pose to start from.
        n_steps: Steps to show.
        path: File to write.
    """
    try:
        from imageio_ffmpeg import write_frames
    except ImportError as error:
        raise ImportError(
            "Videos need imageio-ffmpeg, which is not installed. Run "
            "`pip install 'kaccess[video]'`."
        ) from error
    with whole_file(path) as draft:
        first = _frame(env)
        size = (first.shape[1], first.shape[0])
        writer = write_frames(
            str(draft), size, fps=env.metadata["render_fps"], quality=8
        )
        writer.send(None)  # it is a coroutine
        info: dict[str, Any] = {}
        for info in _steps(env, act, qpos, n_steps):
            writer.send(np.ascontiguousarray(_frame(env)))
        writer.close()
    return _outcome(info, env)


def show(env: RobotEnv, act: Act, qpos: Array, *, n_steps: int) -> str:
    """Show a policy at work in a window, in real time, until it is closed."""
    import mujoco.viewer

    robots, data = env.episodes.robots, mujoco.MjData(env.robot.model)
    try:
        window = mujoco.viewer.launch_passive(env.robot.model, data)
    except Exception as error:  # whatever the window system raises
        raise InputError(
            f"No window can be opened here ({error}). Write a video with --video."
        ) from error
    info: dict[str, Any] = {}
    with window:
        for info in _steps(env, act, qpos, n_steps):
            robots.data(0, data)
            window.sync()
            time.sleep(1.0 / env.task.control_rate)
            if not window.is_running():
                break
    return _outcome(info, env)


def _steps(
    env: RobotEnv, act: Act, qpos: Array, n_steps: int
) -> Iterator[dict[str, Any]]:
    """Yield what Gymnasium calls the info of each step."""
    seen, _ = env.reset(options={"qpos": qpos})
    for _ in range(n_steps):
        seen, _, _, _, info = env.step(act(seen[None])[0])
        yield info


def _frame(env: RobotEnv) -> np.ndarray:
    frame = env.render()
    assert frame is not None
    return frame


def _outcome(info: dict[str, Any], env: RobotEnv) -> str:
    how = "succeeded" if info.get("success") else "has not succeeded"
    return f"At the end it {how} in {env.task.name}."
