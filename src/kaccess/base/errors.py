"""Errors caused by the user's input, not by a bug."""

__all__ = ["ArrayError", "InputError"]


class InputError(Exception):
    """A robot, setting or folder that cannot be used; the message says what to do.

    It is not a `ValueError`, because the command-line parser would catch that.
    """


class ArrayError(InputError, ValueError):
    """An array or parameter that an estimator cannot use.

    It is a `ValueError` too, because scikit-learn requires that of estimators.
    """
