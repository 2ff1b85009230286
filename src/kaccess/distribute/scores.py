"""Scores of policies, each on one worker of a cluster."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from kaccess.config import EngineConfig
from kaccess.distribute.connection import Cluster
from kaccess.distribute.jobs import fit_to_workers
from kaccess.distribute.nodes import Tally
from kaccess.distribute.pool import Pool
from kaccess.evaluation.evaluate import MakeTest
from kaccess.evaluation.pose_test import Scores
from kaccess.evaluation.rollout import Act

__all__ = ["ScoreJob", "score_on"]


@dataclass(frozen=True)
class ScoreJob:
    """Tests policies from the same poses.

    Args:
        make_test: Makes the test, given the simulator.
        engine: Simulator.
    """

    make_test: MakeTest
    engine: EngineConfig

    def start(self) -> Callable[[tuple[str, Act]], Scores]:
        """Make the test; return a function of the name of a policy and itself."""
        test = self.make_test(engine=self.engine)
        return lambda named: test.score(named[1])


def score_on(
    cluster: Cluster,
    tally: Tally,
    controllers: Mapping[str, Act],
    make_test: MakeTest,
    engine: EngineConfig,
) -> Iterator[tuple[str, Scores]]:
    """Yield the name and the scores of each policy, in any order."""
    config, needs = fit_to_workers(engine)
    pool = Pool(cluster, ScoreJob(make_test, config), needs, tally)
    for (name, _), scores, _ in pool.run(controllers.items()):
        yield name, scores
