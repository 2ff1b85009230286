"""Put a study's policy into the package, as safetensors and ONNX, with a card.

python experiments/ship_policy.py runs/bittle rnd/seed-0 --n-poses 10000
"""

import json
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

import tyro

import kaccess.policies.shipped
from kaccess.config import TaskName
from kaccess.envs.conditions import Conditions
from kaccess.envs.tasks import make_task
from kaccess.evaluation.held_out import get_test_poses
from kaccess.evaluation.policies import find_policy
from kaccess.evaluation.pose_test import PoseTest, summarize
from kaccess.policies import export_onnx
from kaccess.study import Study


@dataclass(frozen=True)
class Config:
    """Policy to put into the package."""

    study: tyro.conf.Positional[Path]
    """Folder of the study."""
    run: tyro.conf.Positional[str]
    """Name of the learner."""
    task: TaskName = "fall-recovery"
    """Task that it learned."""
    best: bool = False
    """Take the best policy of its learning curve, not the last one."""
    n_poses: int = 10_000
    """Number of test poses; it did not train on them."""
    note: str = ""
    """How it was trained, in words."""


def main(config: Config) -> None:
    study, task = Study(config.study), make_task(config.task)
    robot = study.robot
    policy = find_policy(study, config.run, task, Conditions(), best=config.best)
    qpos = get_test_poses(study, task, "final", config.n_poses).qpos
    scores = summarize(PoseTest(task, robot, qpos).score(policy.act))
    out = Path(kaccess.policies.shipped.__file__).parent / robot.name
    out.mkdir(exist_ok=True)
    policy.save(out / f"{task.name}.safetensors")
    export_onnx(policy, out / f"{task.name}.onnx")
    card = {
        "robot": robot.name,
        "task": task.name,
        "learner": config.run,
        "training": config.note,
        "model": robot.fingerprint,
        "study": {
            "sha256": study_hash(study),
            **{name: study.settings[name] for name in ("sample", "access", "versions")},
        },
        "scores": asdict(scores),
    }
    path = out / f"{task.name}.json"
    path.write_text(json.dumps(card, indent=2) + "\n")
    print(path.read_text())


def study_hash(study: Study) -> str:
    """Return a hash of poses and times."""
    arrays = study.poses.qpos, study.times, study.to_standing
    return sha256(b"".join(each.tobytes() for each in arrays)).hexdigest()


if __name__ == "__main__":
    main(tyro.cli(Config))
