"""Policies, starts and routes of a study for programs that need no kaccess."""

from kaccess.exports.policy import export_policy
from kaccess.exports.starts import Exported, export_starts

__all__ = ["Exported", "export_policy", "export_starts"]
