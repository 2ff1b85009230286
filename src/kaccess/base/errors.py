"""Errors that a user can do something about; all others are bugs."""

__all__ = ["ArrayError", "InputError", "TrainingError"]


class InputError(Exception):
    """A robot, setting or folder that cannot be used; the message says what to do.

    It is not a `ValueError`, because the command-line parser would catch that.
    """


class ArrayError(InputError, ValueError):
    """An array or parameter that an estimator cannot use.

    It is a `ValueError` too, because scikit-learn requires that of estimators.
    """


class TrainingError(Exception):
    """A training in which every learner broke down; the message says why."""
