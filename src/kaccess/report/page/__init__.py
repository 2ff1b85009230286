"""The report: one page that shows a study, with nothing to load from elsewhere."""

from kaccess.report.page.write import write_report

__all__ = ["write_report"]
