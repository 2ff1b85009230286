"""Policies in motion: as a video file, or live in a window."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

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
        env.reset(options={"qpos": qpos})
        height, width, _ = _frame(env).shape
        size = (width, height)
        writer = write_frames(
            str(draft), size, fps=env.metadata["render_fps"], quality=8
        )
        writer.send(None)  # it is a coroutine
        for _ in _steps(env, act, qpos, n_steps):
            writer.send(np.ascontiguousarray(_frame(env)))
        writer.close()
    return _outcome(env)


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
    with window:
        for _ in _steps(env, act, qpos, n_steps):
            robots.data(0, data)
            window.sync()
            time.sleep(1.0 / env.task.control_rate)
            if not window.is_running():
                break
    return _outcome(env)


def _steps(env: RobotEnv, act: Act, qpos: Array, n_steps: int) -> Iterator[int]:
    """Let a policy act, and yield the number of each step."""
    seen, _ = env.reset(options={"qpos": qpos})
    for step in range(n_steps):
        seen, _, _, _, _ = env.step(act(seen[None])[0])
        yield step


def _frame(env: RobotEnv) -> np.ndarray:
    frame = env.render()
    assert frame is not None
    return frame


def _outcome(env: RobotEnv) -> str:
    how = "has" if env.episodes.info()["success"][0] else "has not"
    return f"At the end it {how} succeeded in {env.task.name}."
