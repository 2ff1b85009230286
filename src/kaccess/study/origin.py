"""What a study says about its robot, and about the versions that made it."""

from dataclasses import asdict

import mujoco

from kaccess.base.settings import Settings
from kaccess.base.version import __version__
from kaccess.config import RobotConfig
from kaccess.robots import Robot, Stance

__all__ = [
    "describe_loading",
    "describe_origin",
    "read_robot_config",
    "read_stance",
]


def describe_loading(robot: Robot) -> Settings:
    """Return what was found in the model: name, standing pose, size, changes."""
    return {
        "name": robot.name,
        "config": asdict(robot.config),
        "stance": robot.stance.as_settings(),
        "scale": asdict(robot.scale),
        "notes": list(robot.notes),
    }


def describe_origin(robot: Robot) -> Settings:
    """Return the model and the versions: results depend on them and the settings."""
    return {
        "model": robot.fingerprint,
        "versions": {"kaccess": __version__, "mujoco": mujoco.__version__},
    }


def read_robot_config(settings: Settings) -> RobotConfig:
    """Return what the user of a study has set about the model."""
    given = settings.get("loaded", {}).get("config", {})
    return RobotConfig(**given | {"feet": tuple(given.get("feet", ()))})


def read_stance(settings: Settings) -> Stance | None:
    """Return how the robot stands, as found when the study was made."""
    stored = settings.get("loaded", {}).get("stance")
    return Stance.from_settings(stored) if stored else None
