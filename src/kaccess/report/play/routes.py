"""The routes of a study, tested on fresh poses."""

import itertools

from kaccess.base.errors import InputError
from kaccess.base.types import Array, Progress
from kaccess.config import PlayConfig, check_left_out
from kaccess.envs.conditions import Conditions
from kaccess.envs.tasks import make_task
from kaccess.evaluation.pose_test import place_test_poses
from kaccess.evaluation.rollout import Act
from kaccess.guide import Guide, follow_guide
from kaccess.report.play.clip import record_policy
from kaccess.report.play.fresh import choose_pose, describe_test, draw_fresh, score
from kaccess.report.play.play import Played
from kaccess.report.summary import describe_moves, summarize_study
from kaccess.study import Study

__all__ = ["play_fresh_routes"]


def play_fresh_routes(
    study: Study, config: PlayConfig, *, progress: Progress | None = None
) -> Played:
    """Test the guide of a study on fresh poses, and return its motion from one of them.

    By default, the robot lies on its back in this pose, and gets up.

    Args:
        study: Study with all its moves.
        config: Number of fresh poses, and the motion to show.
        progress: Called with (steps of the test made, steps to make).

    Raises:
        InputError: If the robot does not stand.
    """
    if study.plan is None:
        raise InputError(summarize_study(study).verdict)
    check_left_out(config, ("trained_under",), "for a robot that has not trained")
    under = Conditions.parse(config.conditions or "")
    task, robot = make_task(config.task, study.robot), study.robot
    qpos = draw_fresh(robot, task, config)
    act = follow_guide(Guide.of(study, len(qpos), task=task))
    if progress:
        n_steps = round(study.test_seconds * task.control_rate)
        act = _count_steps(act, n_steps, progress)
    scores = score(task, robot, qpos, act, under)
    pose = choose_pose(config, qpos, scores.success)
    clip = record_policy(
        task,
        robot,
        follow_guide(Guide.of(study, 1, task=task)),
        place_test_poses(qpos, robot, under)[pose],
        seconds=robot.scale.fit(config.seconds),
        conditions=under,
    )
    test = describe_test(scores, task, study.test_seconds)
    return Played(clip, f"{_describe_replay(study)}\n{test}", scores)


def _count_steps(act: Act, n_steps: int, progress: Progress) -> Act:
    """Return a policy that also shows how many steps it has made."""
    done = itertools.count(1)

    def act_and_count(obs: Array) -> Array:
        progress(next(done), n_steps)
        return act(obs)

    return act_and_count


def _describe_replay(study: Study) -> str:
    """Say from how many poses of the study the robot stood up."""
    name, n, n_moves = study.robot.name, study.n_poses, study.n_moves
    if n_moves is None:
        return f"{n} poses of {name}."
    stood = int((n_moves > 0).sum())
    moves = f": {describe_moves(n_moves)}" if stood else ""
    return f"{n} poses of {name}; replayed, {stood} of them stand up{moves}."
