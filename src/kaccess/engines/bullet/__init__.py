"""The `bullet` engine: PyBullet, built from the same compiled model as the others."""

from kaccess.engines.bullet.engine import BulletEngine

__all__ = ["BulletEngine"]
