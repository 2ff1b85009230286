"""Progress of one part of a larger piece of work."""

from kaccess.base.types import Progress

__all__ = ["scale_progress"]


def scale_progress(
    progress: Progress | None, before: int, share: int, total: int
) -> Progress | None:
    """Return a callback for one part of the work.

    Args:
        progress: Callback for the whole work, if there is one.
        before: Units done before this part.
        share: Units in this part.
        total: Units in the whole work.
    """
    if progress is None:
        return None
    return lambda done, of: progress(before + share * done // of, total)
