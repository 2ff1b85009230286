"""A study: one folder that holds one robot's poses, times, clusters, runs and tests."""

from kaccess.study.clusterings import StoredClustering
from kaccess.study.names import ROUTES, LearnerName, RunsName, TestName
from kaccess.study.study import Study, StudyLike
from kaccess.study.timing import timed

__all__ = [
    "ROUTES",
    "LearnerName",
    "RunsName",
    "StoredClustering",
    "Study",
    "StudyLike",
    "TestName",
    "timed",
]
