"""PPO needs rsl_rl; a progress report after every iteration."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("tensordict")


@pytest.fixture(autouse=True)
def _report_every_step(monkeypatch):
    monkeypatch.setattr("kaccess.sac.loop._SECONDS_BETWEEN_REPORTS", -1.0)
