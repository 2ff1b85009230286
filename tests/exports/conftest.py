"""A small study, exported for every framework."""

from typing import get_args

import numpy as np
import pytest

from kaccess import pipeline
from kaccess.config import FrameworkName
from kaccess.study import Study


@pytest.fixture(scope="session")
def small_study(clustered):
    return Study(clustered)


@pytest.fixture(scope="session")
def folders(small_study, tmp_path_factory):
    """Return the folder of each framework's files, all made from one study."""
    made = {name: tmp_path_factory.mktemp(name) for name in get_args(FrameworkName)}
    for name, folder in made.items():
        pipeline.export_starts(small_study, name, folder)
    return made


@pytest.fixture(scope="session")
def arrays(folders):
    with np.load(folders["mjcf"] / "kaccess_starts.npz") as data:
        return dict(data)
