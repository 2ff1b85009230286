"""Rendering where there is no screen."""

import ctypes
import os
import sys

__all__ = ["prefer_egl_without_screen"]


def prefer_egl_without_screen() -> None:
    """Have MuJoCo render with EGL on a Linux machine without a screen.

    To be called before MuJoCo is imported, which is when it chooses. Where EGL is not
    installed the choice is left alone: with it, MuJoCo could not even be imported.
    """
    if sys.platform != "linux" or os.environ.get("DISPLAY"):
        return
    try:
        ctypes.CDLL("libEGL.so.1")
    except OSError:
        return
    os.environ.setdefault("MUJOCO_GL", "egl")
