"""Every setting of every stage. Standard library only: `kaccess --help` stays fast."""

from kaccess.config.learning import (
    EvaluateConfig,
    PlayConfig,
    SacConfig,
    SkillConfig,
    TrainConfig,
)
from kaccess.config.names import (
    DEFAULT_METHOD,
    DEFAULT_TASK,
    FLOOR,
    METHODS,
    NOMINAL,
    ROUTES,
    TASKS,
    TEST_SECONDS,
    Draw,
    EngineName,
    Method,
    MethodInfo,
    PresetName,
    TaskName,
)
from kaccess.config.presets import PRESETS, Preset
from kaccess.config.scale import ForBittle, Scale
from kaccess.config.study import (
    AccessConfig,
    ClusterConfig,
    EngineConfig,
    RobotConfig,
    SampleConfig,
    StillConfig,
    read_config,
)

__all__ = [
    "DEFAULT_METHOD",
    "DEFAULT_TASK",
    "FLOOR",
    "METHODS",
    "NOMINAL",
    "ROUTES",
    "PRESETS",
    "TASKS",
    "TEST_SECONDS",
    "AccessConfig",
    "ClusterConfig",
    "Draw",
    "EngineConfig",
    "EngineName",
    "EvaluateConfig",
    "ForBittle",
    "Method",
    "MethodInfo",
    "PlayConfig",
    "Preset",
    "PresetName",
    "RobotConfig",
    "SacConfig",
    "SampleConfig",
    "Scale",
    "SkillConfig",
    "StillConfig",
    "TaskName",
    "TrainConfig",
    "read_config",
]
