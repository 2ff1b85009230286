"""The stage `cluster` on a study: files, methods, starts, refusals."""

import json

import numpy as np
import pytest
from kaccess.stored import load_poses, write_plain_starts

from kaccess import (
    AccessConfig,
    ClusterConfig,
    InitialStates,
    InputError,
    Study,
    pipeline,
    views,
)
from kaccess.cli import main
from kaccess.cluster import assess
from kaccess.config import SampleConfig
from tests.conftest import TINY


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    path = tmp_path_factory.mktemp("cluster") / "study"
    pipeline.sample(str(TINY), path, SampleConfig(n=24))
    pipeline.access(path, AccessConfig())
    return path


def test_centroids_become_starts(finished):
    path = pipeline.cluster(finished, ClusterConfig(k_max=8, n_init=3))
    assert path == finished / "starts" / "ka.npz"
    study, starts = Study(finished), InitialStates.load(path)
    content = json.loads((finished / "clusters" / "kaccess.json").read_text())
    poses = load_poses(study)
    np.testing.assert_array_equal(starts.qpos, poses.qpos[content["centroids"]])
    assert starts.model == poses.robot.fingerprint
    assert starts.names[0] == f"pose {content['centroids'][0]}"
    curve = content["curve"]
    assert curve["k"] == list(range(2, 9))
    assert content["index"] == pytest.approx(max(curve["index"]))
    quality = assess(
        np.maximum(np.exp(-study.times), 1e-8), content["centroids"], content["labels"]
    )
    assert content["index"] == pytest.approx(quality.index, rel=1e-5)
    assert content["coverage"] == quality.coverage


@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("kmeans", "km"),
        ("weighted-kmeans", "wkm"),
        ("kmedoids", "kmedoids"),
        ("spectral", "spectral"),
    ],
)
def test_rivals_give_starts_too(finished, method, name):
    config = ClusterConfig(method=method, k=4, n_init=2)
    path = pipeline.cluster(finished, config)
    assert path.name == f"{name}.npz"
    assert len(InitialStates.load(path)) == 4
    assert method in views.compare(finished)


def test_a_bootstrap_tells_how_sure_the_choice_is(finished):
    pipeline.cluster(finished, ClusterConfig(k_max=5, n_init=2, n_bootstrap=3))
    content = json.loads((finished / "clusters" / "kaccess.json").read_text())
    stability = content["stability"]
    assert len(stability["k"]) == 3 and set(stability["k"]) <= {2, 3, 4, 5}
    assert np.shape(stability["jaccard"]) == (3, content["k"])


def test_all_poses_are_starts_as_well(finished):
    pipeline.cluster(finished, ClusterConfig(k=2, n_init=1))
    assert len(InitialStates.load(finished / "starts" / "rnd.npz")) == 24
    assert not (finished / "starts" / "9-pose.npz").exists()  # it has no such keyframes


def test_bittle_gets_the_nine_poses_and_the_lying_one(tmp_path, bittle):
    path = tmp_path / "study"
    pipeline.sample("bittle", path, SampleConfig(n=4))
    study = Study(path)
    write_plain_starts(study, load_poses(study))
    nine = InitialStates.load(path / "starts" / "9-pose.npz")
    assert len(nine) == 9 and nine.names[0] == "back"
    one = InitialStates.load(path / "starts" / "1-pose.npz")
    np.testing.assert_array_equal(one.qpos[0], nine.qpos[0])
    assert bittle.find_contacts(nine.qpos)[0].any(axis=1).all()


def test_the_command_prints_a_table(finished, capsys):
    main(["cluster", str(finished), "--k", "3", "--n-init", "2"])
    out = capsys.readouterr().out
    assert "coverage" in out and "kaccess" in out and "ka.npz" in out
    main(["info", str(finished)])
    assert "coverage" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--k", "25"], r"`n_clusters` must lie in \[1, 24\]"),
        (["--k", "0"], "`k` must be at least 1"),
        (["--k-max", "1"], "`k_max` must be at least 2"),
        (["--k", "3", "--n-bootstrap", "2"], "`n_bootstrap` must not be"),
    ],
)
def test_bad_settings_exit_with_2(finished, capsys, args, message):
    with pytest.raises(SystemExit) as exit_info:
        main(["cluster", str(finished), *args])
    assert exit_info.value.code == 2
    err = capsys.readouterr().err.strip().splitlines()[-1]
    assert message.replace("\\", "") in err


def test_an_unfinished_matrix_says_which_command_is_missing(tiny_study):
    with pytest.raises(InputError, match=r"576 of 576 pairs .* Run `kaccess access"):
        pipeline.cluster(tiny_study, ClusterConfig())
