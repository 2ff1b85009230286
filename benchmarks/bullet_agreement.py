"""How far PyBullet and MuJoCo agree on which poses of Bittle are reached.

For scale, it also compares MuJoCo with slightly different starts, steps and contacts,
and PyBullet with other ways to convert the armature.

python benchmarks/bullet_agreement.py 300     # pairs; takes two minutes on two cores
"""

import sys
import time
from collections.abc import Callable
from dataclasses import replace

import mujoco
import numpy as np

from kaccess import AccessConfig, load_robot, sample_poses
from kaccess.access.estimate import Outcome, Transitions, estimate_pairs
from kaccess.base.types import Array, IntArray, Progress
from kaccess.engines import Engine, Settled
from kaccess.engines.bullet import BulletEngine
from kaccess.engines.bullet.model import BulletModel, _compute_reflected_inertia
from kaccess.engines.motion import Motion
from kaccess.engines.mujoco import MujocoEngine
from kaccess.poses import Poses
from kaccess.robots import Robot

BITTLE = load_robot("bittle")


class Noisy:
    """MuJoCo, with starts that differ by about a milliradian in each joint."""

    batch_size = 2048

    def settle(
        self,
        qpos: Array,
        targets: Array | Motion,
        *,
        time_limit: float,
        progress: Progress | None = None,
    ) -> Settled:
        """Hold `targets`, starting at rest near `qpos`, until static or out of time."""
        noise = np.random.default_rng(1).normal(size=qpos[:, 7:].shape)
        start = np.concatenate([qpos[:, :7], qpos[:, 7:] + 1e-3 * noise], axis=1)
        return MujocoEngine(BITTLE).settle(start, targets, time_limit=time_limit)


def alter_mujoco(change: Callable[[mujoco.MjModel], None]) -> Engine:
    model = BITTLE.model.__copy__()
    change(model)
    return MujocoEngine(Robot("altered", model, BITTLE.drop_height))


def halve_step(model: mujoco.MjModel) -> None:
    model.opt.timestep /= 2


def soften_contacts(model: mujoco.MjModel) -> None:
    model.geom_solref[:, 0] = 0.02


def make_bullet(change: Callable[[BulletModel], BulletModel] | None = None) -> Engine:
    engine = BulletEngine(BITTLE)
    if change:
        engine._model = change(engine._model)
    return engine


def remove_armature(model: BulletModel) -> BulletModel:
    return replace(model, links=tuple(ln for ln in model.links if not ln.is_rotor))


def move_armature_to_links(model: BulletModel) -> BulletModel:
    """Add the inertia of a rotor to its link; all axes of Bittle are y."""
    added = _compute_reflected_inertia(BITTLE.model)
    links = [
        replace(link, inertia=(x, y + float(added[link.joint]), z))
        for link in remove_armature(model).links
        for x, y, z in [link.inertia]
    ]
    return replace(model, links=tuple(links))


def draw_pairs(n_poses: int, n_pairs: int) -> tuple[IntArray, IntArray]:
    """Draw pairs of two different poses."""
    rng = np.random.default_rng(0)
    source, goal = np.divmod(
        rng.choice(n_poses * (n_poses - 1), n_pairs, replace=False), n_poses - 1
    )
    return source, goal + (goal >= source)


def report(name: str, got: Transitions, expected: Transitions, seconds: float) -> None:
    one, other = (np.isfinite(t.times) for t in (expected, got))
    chance = one.mean() * other.mean() + (1 - one.mean()) * (1 - other.mean())
    agree = (one == other).mean()
    both = one & other
    delay = np.abs(got.times[both] - expected.times[both])
    median = np.median(delay) if len(delay) else np.nan
    restless = (got.outcomes == Outcome.RESTLESS).mean()
    diverged = (got.outcomes == Outcome.DIVERGED).mean()
    print(
        f"{name:25}  {other.mean():7.1%}  {agree:6.1%}  "
        f"{(agree - chance) / (1 - chance):5.2f}  {median:10.3f}  "
        f"{restless:8.1%}  {diverged:8.1%}  {len(one) / seconds:7.1f}"
    )


def main(n_pairs: int) -> None:
    poses: Poses = sample_poses(BITTLE, 60)
    source, goal = draw_pairs(len(poses), n_pairs)
    engines: dict[str, Callable[[], Engine]] = {
        "mujoco": lambda: MujocoEngine(BITTLE),
        "mujoco, noise 1 mrad": Noisy,
        "mujoco, half the step": lambda: alter_mujoco(halve_step),
        "mujoco, softer contacts": lambda: alter_mujoco(soften_contacts),
        "bullet": make_bullet,
        "bullet, armature in links": lambda: make_bullet(move_armature_to_links),
        "bullet, no armature": lambda: make_bullet(remove_armature),
    }
    print(f"{'':25}  reached   agree  kappa  time off s  restless  diverged  pairs/s")
    expected = None
    for name, make in engines.items():
        engine, start = make(), time.perf_counter()
        got = estimate_pairs(poses, source, goal, AccessConfig(), engine=engine)
        expected = expected or got
        report(name, got, expected, time.perf_counter() - start)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
