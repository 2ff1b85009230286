"""Make the routes that come with the package, from a study of Bittle.

kaccess sample bittle-real runs/real --n 160
kaccess access runs/real
python experiments/ship_skills.py runs/real
"""

import argparse
from pathlib import Path

import kaccess.deploy
from kaccess import Study
from kaccess.config import EngineConfig
from kaccess.deploy.building import build_skills

FILE = Path(kaccess.deploy.__file__).parent / "bittle-skills.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("study", type=Path)
    parser.add_argument("--out", type=Path, default=FILE)
    parser.add_argument("--threads", type=int, default=0)
    given = parser.parse_args()
    engine = EngineConfig(threads=given.threads)
    skills = build_skills(Study(given.study), engine=engine)
    skills.save(given.out)
    print(f"{len(skills.routes)} routes; the chosen ones work from {skills.share:.1%}.")


if __name__ == "__main__":
    main()
