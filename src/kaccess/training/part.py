"""Progress of learners that train one after the other."""

from collections.abc import Mapping

from kaccess.base.types import TrainProgress

__all__ = ["Part"]


class Part:
    """Reports the progress of one learner as a part of that of all.

    Args:
        progress: Called with the steps of all learners.
        number: Number of the learner.
        n: Number of learners.
    """

    def __init__(self, progress: TrainProgress | None, number: int, n: int) -> None:
        self._progress, self._number, self._n = progress, number, n

    def report(self, done: int, total: int, metrics: Mapping[str, float]) -> None:
        """Report the steps of this learner, and those of the learners before it."""
        if self._progress:
            before = self._number * total
            self._progress(before + done, self._n * total, metrics)
