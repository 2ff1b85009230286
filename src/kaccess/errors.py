"""What goes wrong because of what the user gave, not because of a bug."""

__all__ = ["InputError"]


class InputError(ValueError):
    """A robot, a setting or a folder that cannot work; the message says what to do."""
