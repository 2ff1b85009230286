"""Which stages a whole run makes."""

from dataclasses import replace

import pytest

from kaccess import Study, pipeline
from kaccess.config import PRESETS, GetUpConfig, GrowConfig, Preset, SampleConfig
from kaccess.study import growing
from tests.conftest import TINY


@pytest.mark.parametrize("trapped", [True, False])
def test_a_whole_run_searches_for_skills_only_where_moves_fail(
    tmp_path, monkeypatch, trapped
):
    stages = []

    def watch(stage, *args, **kwargs):
        stages.append(stage.__name__)
        runs = stage.__name__ in ("sample", "access")
        return stage(*args, **kwargs) if runs else None

    monkeypatch.setattr(growing, "needs_skills", lambda _: trapped)
    size = Preset(poses=4, search=GetUpConfig(), growth=GrowConfig())
    monkeypatch.setitem(PRESETS, "quick", size)
    pipeline.run(str(TINY), tmp_path / "study", watch=watch)
    assert stages[:2] == ["sample", "access"]
    assert stages[2:-4] == (["search", "grow"] if trapped else ["grow"])


@pytest.mark.parametrize("has_routes", [True, False])
def test_clones_are_trained_only_if_there_is_a_guide(tmp_path, monkeypatch, has_routes):
    pytest.importorskip("torch")
    trained = []

    def watch(stage, *args, **kwargs):
        if stage.__name__ == "train":
            trained.append(args[1])
        runs = stage.__name__ in ("sample", "access")
        return stage(*args, **kwargs) if runs else None

    monkeypatch.setattr(Study, "has_routes", property(lambda _: has_routes))
    size = replace(PRESETS["fast"], poses=4, pairs=None, search=None, growth=None)
    monkeypatch.setitem(PRESETS, "fast", size)
    pipeline.run(str(TINY), tmp_path / "study", "fast", watch=watch)
    assert [each.algorithm for each in trained] == (["clone"] if has_routes else [])


def test_the_folder_of_a_new_study_may_be_a_string(tmp_path):
    folder = tmp_path / "study"
    made = pipeline.sample("bittle", str(folder), SampleConfig(n=2))
    assert made.path == folder
    assert pipeline.sample("bittle", str(folder), SampleConfig(n=2)).n_poses == 2
