"""The report: one page that shows a study and loads nothing from the network."""

from kaccess.report.page.write import write_report

__all__ = ["write_report"]
