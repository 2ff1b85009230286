"""Rendering on machines without a screen."""

import ctypes
import os
import sys

__all__ = ["prefer_egl_without_screen"]


def prefer_egl_without_screen() -> None:
    """Make MuJoCo render with EGL on a Linux machine without a screen.

    Call it before MuJoCo is imported: MuJoCo chooses at import. Without EGL on the
    machine nothing is changed, since then the import of MuJoCo would fail.
    """
    if sys.platform != "linux" or os.environ.get("DISPLAY"):
        return
    try:
        ctypes.CDLL("libEGL.so.1")
    except OSError:
        return
    os.environ.setdefault("MUJOCO_GL", "egl")
