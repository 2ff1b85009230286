"""SAC in warp on a cluster must not fall back to a CPU without a word."""

from types import SimpleNamespace

import pytest

from kaccess import InputError
from kaccess.config import SacConfig, TrainConfig
from kaccess.distribute import learners
from kaccess.distribute.workplace import ClusterWork


def test_without_gpus_warp_is_refused(monkeypatch):
    needs = SimpleNamespace(gpus=0, cpus=1)
    monkeypatch.setattr(learners, "choose_needs", lambda *_: needs)
    work = ClusterWork.__new__(ClusterWork)  # without a connection
    work.cluster = None
    with pytest.raises(InputError, match="no node of the cluster has one"):
        work.train(
            SimpleNamespace(),
            TrainConfig(engine="warp"),
            SacConfig(),
            device="auto",
            n_threads=1,
            progress=None,
        )
