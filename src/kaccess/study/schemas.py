"""What the JSON files of a study must hold, as `check_content` checks it."""

from kaccess.base.damage import NUMBER

__all__ = ["CLUSTERING", "SETTINGS", "SKILL", "TEST", "TIMES"]

_SIZES = {"length": NUMBER, "mass": NUMBER, "n_joints": int, "n_feet": int}
_STANCE = {
    "qpos": [NUMBER],
    "targets": [NUMBER],
    "feet": [int],
    "how": str,
    "stands": bool,
}
_ROBOT = {
    "stand_key?": (None, str),
    "feet?": [str],
    "kp?": (None, NUMBER),
    "kd?": (None, NUMBER),
    "test_time?": (None, NUMBER),
    "robots_path?": (None, str),
}
_LOADED = {
    "name": str,
    "config": _ROBOT,
    "stance": _STANCE,
    "scale": _SIZES,
    "notes": [str],
}
_STILL = {
    "linear_velocity": NUMBER,
    "angular_velocity": NUMBER,
    "joint_velocity": NUMBER,
    "window": NUMBER,
}
_SAMPLE = {
    "n?": int,
    "use?": (None, int),
    "seed?": int,
    "draw?": str,
    "mirror?": bool,
    "drop_height?": (None, NUMBER),
    "time_limit?": NUMBER,
    "engine?": str,
}
_DRAWS = {
    "drawn": int,
    "kept": int,
    "colliding": int,
    "restless": int,
    "diverged": int,
    "airborne": int,
}
_ACCESS = {
    "time_limit": NUMBER,
    "joint_tol": NUMBER,
    "height_tol": NUMBER,
    "gravity_tol": NUMBER,
    "engine?": str,
}
_PAIRS = {
    "estimated": int,
    "asked": {"goal": str, "pairs": str, "seed": int, "confidence?": (None, NUMBER)},
    "candidates?": [int],
    "coverage?": {"value": NUMBER, "low": NUMBER, "high": NUMBER},
}
SETTINGS = {
    "robot": str,
    "model": str,
    "versions": dict,
    "sample": _SAMPLE,
    "still?": _STILL,
    "draws?": _DRAWS,
    "machine?": dict,
    "loaded?": _LOADED,
    "access?": _ACCESS,
    "standing?": {"rests": bool},
    "mirror_check?": {"agreeing": int, "pairs": int},
    "pairs?": _PAIRS,
}
"""Of `study.json`."""

_CURVE = {"k": [int], "index": [NUMBER], "coverage": [NUMBER], "singletons": [int]}
CLUSTERING = {
    "settings": {"alpha?": NUMBER},
    "centroids": [int],
    "labels": [int],
    "curve?": (None, _CURVE),
}
"""Of `clusters/<method>.json`."""

_SHARE = {"value": NUMBER}
_GROUP = {"name": str, "n": int, "success": _SHARE}
_SUMMARY = {
    "n": int,
    "reward": NUMBER,
    "reward_sd": NUMBER,
    "success": _SHARE,
    "time": (None, NUMBER),
    "energy": NUMBER,
}
_POLICY = {"name": str, "summary": _SUMMARY, "groups?": {"cluster?": [_GROUP]}}
TEST = {"policies?": [_POLICY], "graph?": str}
"""Of `evaluation/<test>.json`."""

SKILL = {"actions": [[NUMBER]], "success": NUMBER, "reward": NUMBER, "settings?": dict}
"""Of `skills/<task>.json`."""

TIMES = {
    f"{stage}?": NUMBER
    for stage in ("sample", "access", "grow", "cluster", "search", "train", "evaluate")
}
"""Of `timings.json`."""
