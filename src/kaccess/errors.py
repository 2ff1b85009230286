"""What goes wrong because of what the user gave, not because of a bug."""

__all__ = ["InputError"]


class InputError(Exception):
    """A robot, a setting or a folder that cannot work; the message says what to do.

    Not a `ValueError`, which the command-line parser would take for its own.
    """
