"""A progress report after every round."""

import pytest

pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def _report_every_step(monkeypatch):
    monkeypatch.setattr("kaccess.sac.loop._SECONDS_BETWEEN_REPORTS", -1.0)
