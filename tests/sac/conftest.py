"""One thread for small networks; a progress report after every step."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def _report_every_step(monkeypatch):
    monkeypatch.setattr("kaccess.sac.loop._SECONDS_BETWEEN_REPORTS", -1.0)
