"""What goes wrong because of what the user gave, not because of a bug."""

__all__ = ["ArrayError", "InputError"]


class InputError(Exception):
    """A robot, a setting or a folder that cannot work; the message says what to do.

    Not a `ValueError`, which the command-line parser would take for its own.
    """


class ArrayError(InputError, ValueError):
    """An array or parameter that an estimator cannot take.

    Also a `ValueError`, as the contract of scikit-learn's estimators wants it.
    """
