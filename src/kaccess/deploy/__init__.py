"""Routes and policies on a real Bittle, over OpenCat's protocol, or a simulated one."""

from kaccess.deploy.deploy import Deployed, deploy
from kaccess.deploy.record import Log

__all__ = ["Deployed", "Log", "deploy"]
