"""A partial study in words: how many pairs it has, and what is assumed of others."""

from kaccess.base.stats import Interval
from kaccess.study import Study
from kaccess.study.partial import describe_assumptions

__all__ = ["format_partial"]


def format_partial(study: Study) -> str:
    """Return what a partial study rests on; empty if all pairs are estimated."""
    if (partial := study.partial) is None:
        return ""
    text = describe_assumptions(partial, study.n_poses)
    if share := partial.get("coverage"):
        starts = partial["asked"].get("starts", "the starts")
        covered = Interval(**share).text(".1%")
        text = f"Coverage of {starts}: {covered} of the poses.\n{text}"
    return text
