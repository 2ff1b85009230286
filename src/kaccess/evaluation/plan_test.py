"""Tests of a plan: from which poses does a robot that follows it get up in time?"""

from kaccess.access import Plan
from kaccess.access.growth import PlanTest
from kaccess.base.types import Array, BoolArray
from kaccess.config import DEFAULT_TASK, EngineConfig
from kaccess.envs.tasks import make_task
from kaccess.evaluation.pose_test import PoseTest
from kaccess.guide import Guide, follow_guide
from kaccess.robots import Robot

__all__ = ["make_plan_test"]


def make_plan_test(robot: Robot, *, n_threads: int = 0) -> PlanTest:
    """Return a test of plans for a robot: the guide, in the task that policies learn.

    Args:
        robot: Robot.
        n_threads: CPU threads; 0 takes all.
    """
    task, engine = make_task(DEFAULT_TASK, robot), EngineConfig(threads=n_threads)

    def test(plan: Plan, qpos: Array) -> BoolArray:
        guide = Guide(plan, robot, len(qpos), task=task)
        tester = PoseTest(task, robot, qpos, engine=engine)
        return tester.score(follow_guide(guide)).success

    return test
