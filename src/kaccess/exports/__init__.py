"""Starts and routes of a study for other frameworks, which need no kaccess."""

from kaccess.exports.starts import Exported, export_starts

__all__ = ["Exported", "export_starts"]
