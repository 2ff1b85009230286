"""The `warp` engine: MuJoCo Warp on an NVIDIA GPU."""

from kaccess.engines.warp.engine import WarpEngine

__all__ = ["WarpEngine"]
