"""The starts beside this file as keyframes of a MuJoCo model.

If the model has the joints of the starts in the same order, include the XML file:

    <include file="kaccess_keyframes.xml"/>

Otherwise add the keyframes in Python, with joints matched by name:

    spec = mujoco.MjSpec.from_file("scene.xml")
    add_keyframes(spec)
    model, data = (compiled := spec.compile()), mujoco.MjData(compiled)
    mujoco.mj_resetDataKeyframe(model, data, choose_keys(model, 1)[0])

It needs NumPy; kaccess wrote it, but need not be installed.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).with_name("kaccess_starts.npz")
PREFIX = "kaccess-"  # of the names of the keyframes
Array = np.ndarray
Model = Any  # an MjModel
Spec = Any  # an MjSpec


def match_joints(known: Sequence[str], names: Sequence[str]) -> list[int]:
    """Return where the joints of the robot, `names`, are among those of the starts."""
    if set(known) != set(names):
        raise ValueError(
            "The robot and the starts must have the same joints, but only the robot "
            f"has {sorted(set(names) - set(known))}, and only the starts have "
            f"{sorted(set(known) - set(names))}. Export the starts of this robot."
        )
    return [list(known).index(name) for name in names]


def load_starts(model: Model, file: Path = FILE) -> tuple[Array, Array, Array]:
    """Return `(qpos, qvel, probabilities)` for a MuJoCo model: a free joint and hinges.

    Shapes are (k, nq), (k, nv) and (k,); joints are matched by name.
    """
    joints = map(model.joint, range(model.njnt))
    names = [joint.name for joint in joints if joint.type[0] > 0]  # 0: the free joint
    with np.load(file) as data:
        order = match_joints(data["joint_names"].tolist(), names)
        qpos, qvel = data["qpos"], data["qvel"]
        qpos = np.concatenate([qpos[:, :7], qpos[:, 7:][:, order]], axis=1)
        qvel = np.concatenate([qvel[:, :6], qvel[:, 6:][:, order]], axis=1)
        return qpos, qvel, data["weights"]


def add_keyframes(spec: Spec, file: Path = FILE) -> None:
    """Add all starts to a spec, as keyframes `kaccess-0`, `kaccess-1`, ..."""
    qpos, qvel, _ = load_starts(spec.compile(), file)
    for number, (position, velocity) in enumerate(zip(qpos, qvel, strict=True)):
        spec.add_key(name=f"{PREFIX}{number}", qpos=position, qvel=velocity)


def choose_keys(
    model: Model,
    n: int,
    rng: np.random.Generator | None = None,
    file: Path = FILE,
) -> Array:
    """Return n keyframes of a model, drawn with the probabilities of the starts."""
    with np.load(file) as data:
        weights = data["weights"]
    first = model.key(f"{PREFIX}0").id
    drawn = (rng or np.random.default_rng()).choice(len(weights), size=n, p=weights)
    return np.asarray(first + drawn)
