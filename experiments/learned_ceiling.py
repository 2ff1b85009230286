"""How well can moves be predicted at all? The simulator predicts itself.

    python experiments/learned_ceiling.py runs/bittle

The same moves are simulated from slightly other joints, to slightly other joints, and
0.5 mm higher. What changes then cannot be learned from poses that are farther apart.
"""

from pathlib import Path

import numpy as np
import tyro
from sklearn.metrics import roc_auc_score

from kaccess import Study, make_engine
from kaccess.access.estimate import is_close
from kaccess.config import EngineConfig

_LIFT = 0.0005  # [m], so that other joints do not begin in the floor


def main(study: tyro.conf.Positional[Path], pairs: int = 400, repeats: int = 4) -> None:
    """Print how often moves end as before, for several sizes of the change."""
    opened = Study(study)
    robot, qpos, rng = opened.robot, opened.poses.qpos, np.random.default_rng(1)
    config = robot.scale.fit(opened.access_config)
    engine = make_engine(EngineConfig(threads=1), robot, opened.still)
    source = rng.integers(len(qpos), size=pairs)
    goal = (source + rng.integers(1, len(qpos), size=pairs)) % len(qpos)
    reached = np.isfinite(opened.times[source, goal])
    for size in (0.001, 0.01, 0.03, 0.1):
        found = []
        for _ in range(repeats):
            start, targets = qpos[source].copy(), robot.get_joints(qpos[goal])
            start[:, robot.joint_adr] += size * rng.normal(size=targets.shape)
            start[:, 2] += _LIFT
            targets = targets + size * rng.normal(size=targets.shape)
            end = engine.settle(start, targets, time_limit=config.time_limit)
            close = is_close(robot, end.qpos, qpos[goal], config)
            found.append(close & np.isfinite(end.time))
        same, auc = np.mean(found == reached), roc_auc_score(reached, np.mean(found, 0))
        print(f"{size:5} rad: {same:.1%} end as before, AUC {auc:.4f}", flush=True)


if __name__ == "__main__":
    tyro.cli(main)
