"""Telling how far work is, when it is a part of something larger."""

from kaccess.types import Progress

__all__ = ["part_of"]


def part_of(
    progress: Progress | None, before: int, share: int, total: int
) -> Progress | None:
    """Return a callback for a part of the work: `share` of `total`, after `before`."""
    if progress is None:
        return None
    return lambda done, of: progress(before + share * done // of, total)
