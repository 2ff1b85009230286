"""The `bullet` engine: PyBullet, built from the same compiled model as the others."""

from kaccess.engines.bullet.engine import BulletEngine
from kaccess.engines.bullet.world import ACCURATE, ORDINARY

__all__ = ["ACCURATE", "ORDINARY", "BulletEngine"]
