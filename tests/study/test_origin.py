"""What a study says about its robot, and about the versions that made it."""

import dataclasses
import json

import mujoco

import kaccess
from kaccess import Study
from kaccess.robots import Stance
from kaccess.study.origin import describe_loading, describe_origin


def test_the_origin_is_the_model_and_the_versions(tiny, bittle):
    assert describe_origin(tiny) == {
        "model": tiny.fingerprint,
        "versions": {"kaccess": kaccess.__version__, "mujoco": mujoco.__version__},
    }
    assert describe_origin(tiny)["model"] != describe_origin(bittle)["model"]


def test_another_place_of_the_file_is_no_other_origin(tiny):
    moved = dataclasses.replace(tiny, source="elsewhere.xml", known_stance=tiny.stance)
    assert describe_origin(moved) == describe_origin(tiny)


def test_a_study_stores_what_was_found_in_the_model(tiny, clustered):
    stored = Study(clustered).settings
    assert stored["loaded"] == json.loads(json.dumps(describe_loading(tiny)))
    assert stored["loaded"]["name"] == "tiny"
    assert Stance.from_settings(stored["loaded"]["stance"]).stands
    assert describe_origin(tiny).items() <= stored.items()
