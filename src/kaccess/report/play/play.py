"""Motions that `kaccess play` shows: of a policy, or from one pose to another."""

from dataclasses import dataclass, replace
from pathlib import Path

from kaccess.base.errors import InputError
from kaccess.config import PlayConfig, check_left_out
from kaccess.envs.conditions import Conditions
from kaccess.envs.tasks import make_task
from kaccess.evaluation.held_out import get_test_poses
from kaccess.evaluation.policies import act_under, find_policy, observe_as_trained
from kaccess.evaluation.pose_test import Scores, place_test_poses
from kaccess.guide import Guide, follow_guide
from kaccess.policies.shipped import find_shipped, has_shipped
from kaccess.report.play.clip import Clip, describe_outcome, record_move, record_policy
from kaccess.report.play.fresh import choose_pose, describe_test, draw_fresh, score
from kaccess.robots import ROBOTS, load_robot
from kaccess.robots.named import is_named
from kaccess.study import ROUTES, Study, StudyLike

__all__ = ["Played", "names_robot", "play_motion"]


@dataclass(frozen=True)
class Played:
    """A motion and, for a shipped policy or the routes of a robot, a test.

    Args:
        clip: Recorded motion.
        test: Result of the test in words; empty without a test.
        scores: Scores of the test; None without a test.
    """

    clip: Clip
    test: str = ""
    scores: Scores | None = None

    @property
    def text(self) -> str:
        """Results of test and motion in words."""
        return f"{self.test}\n{self.clip.outcome}".strip()


def play_motion(study: StudyLike, config: PlayConfig) -> Played:
    """Return the motion that the settings ask for.

    Args:
        study: Study or its folder; or the name of a robot with a shipped policy.
        config: Motion to show.
    """
    if config.run is None and config.transition is None and _names_shipped(study):
        return _play_shipped(str(study), config)
    if not isinstance(study, Study) and names_robot(str(study)):
        raise InputError(
            f"{study} is not the folder of a study. If it is a robot, add `--run "
            "routes` to see it get up by measured moves, or make a study of it with "
            f"`kaccess run {study} STUDY`."
        )
    if config.transition is not None:
        opened = Study.open(study)
        seconds = opened.robot.scale.fit(config.seconds)
        return Played(_play_move(opened, *config.transition, seconds))
    return Played(_play_policy(Study.open(study), config))


def names_robot(name: str) -> bool:
    """Return whether this may be a robot, as `load_robot` takes it, and no study."""
    path = Path(name)
    if path.is_dir():
        return False
    is_file = path.is_file() or path.suffix.lower() in (".xml", ".mjcf", ".urdf")
    return is_file or name in ROBOTS or is_named(name)


def _names_shipped(study: StudyLike) -> bool:
    """Return whether this is a robot with a shipped policy, and no study's folder."""
    if isinstance(study, Study) or Path(study).exists():
        return False
    return has_shipped(str(study))


def _play_move(study: Study, source: int, goal: int, seconds: float) -> Clip:
    """Return the move between two poses, and the outcome in the study's matrix."""
    for pose in (source, goal):
        if not 0 <= pose < study.n_poses:
            raise InputError(
                f"`transition` must be two poses of 0 to {study.n_poses - 1}, got "
                f"{pose}."
            )
    config = study.access_config
    clip = record_move(
        study.poses, source, goal, seconds=seconds, config=config, still=study.still
    )
    pair = source, goal
    stored = describe_outcome(study.outcomes[pair], study.times[pair], config)
    engine = study.settings.get("access", {}).get("engine")
    by = f" (engine {engine})" if engine else ""
    return replace(clip, outcome=f"{clip.outcome} The study's matrix{by}: {stored}.")


def _play_policy(study: Study, config: PlayConfig) -> Clip:
    """Return the motion of a policy of a study, or of its guide, from a test pose."""
    check_left_out(config, ("poses", "seed"), "in a study, which has its test poses")
    pose = config.pose or 0
    before = Conditions.parse(config.trained_under)
    under = observe_as_trained(Conditions.parse(config.shown_under), before)
    task = under.adapt(make_task(config.task, study.robot))
    if config.run == ROUTES:
        act = follow_guide(Guide.of(study, 1, task=task))
    else:
        policy = find_policy(study, config.run, task, before, best=config.best)
        act = act_under(policy, under)
    poses = get_test_poses(study, task, "final", pose + 1)
    start = place_test_poses(poses.qpos, study.robot, under)[pose]
    seconds = study.robot.scale.fit(config.seconds)
    return record_policy(
        task, study.robot, act, start, seconds=seconds, conditions=under
    )


def _play_shipped(name: str, config: PlayConfig) -> Played:
    """Test a shipped policy on fresh poses, and return its motion from one of them."""
    check_left_out(config, ("trained_under",), "for a shipped policy")
    under, task = Conditions.parse(config.conditions or ""), make_task(config.task)
    act, robot = act_under(find_shipped(name, task.name), under), load_robot(name)
    qpos = draw_fresh(robot, task, config)
    pose = choose_pose(config, qpos)
    scores = score(task, robot, qpos, act, under)
    start = place_test_poses(qpos, robot, under)[pose]
    seconds = robot.scale.fit(config.seconds)
    clip = record_policy(task, robot, act, start, seconds=seconds, conditions=under)
    in_time = robot.test_seconds
    return Played(clip, describe_test(scores, task, in_time), scores)
