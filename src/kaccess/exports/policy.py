"""A policy of a study as ONNX, for programs that know nothing of kaccess."""

from pathlib import Path

from kaccess.config import DEFAULT_TASK, TaskName
from kaccess.study import Study, StudyLike

__all__ = ["export_policy"]


def export_policy(
    study: StudyLike,
    run: str,
    onnx: Path,
    *,
    task: TaskName = DEFAULT_TASK,
    trained_under: str = "",
    best: bool = False,
) -> Path:
    """Write a policy as ONNX, with everything needed to run it on the robot.

    Args:
        study: Study or its folder.
        run: Name of the learner, such as `ka/seed-0`.
        onnx: File to write.
        task: Task that it learned.
        trained_under: Conditions of its training; by default none.
        best: Whether to take its best policy, not its last one.
    """
    from kaccess.envs.observations import describe_observation
    from kaccess.evaluation.policies import find_named_policy
    from kaccess.policies import export_onnx

    study = Study.open(study)
    policy = find_named_policy(study, run, task, trained_under, best=best)
    n_delayed = (policy.obs_dim - 6) // study.robot.model.nu - 1
    usual = describe_observation("joints", study.robot, n_delayed=n_delayed)
    observation = policy.metadata.get("observation", usual)
    return export_onnx(policy, onnx, {"observation": observation})
