"""The stage `cluster` on a study: files, methods, starts, errors."""

import json

import numpy as np
import pytest
from sklearn.metrics import adjusted_mutual_info_score

from kaccess import (
    AccessConfig,
    ClusterConfig,
    InitialStates,
    InputError,
    Study,
    pipeline,
)
from kaccess.base.npz_files import write_npz
from kaccess.cli import main
from kaccess.cluster import KAccess, assess, format_comparison
from kaccess.cluster.quality import measure_parts
from kaccess.config import DEFAULT_TASK as TASK
from kaccess.config import SampleConfig
from kaccess.envs.tasks import make_task
from kaccess.envs.tasks.stand import Stand
from kaccess.study import StoredClustering
from kaccess.study.names import OfTask
from kaccess.study.start_times import (
    estimate_between,
    estimate_start_times,
    read_start_times,
)
from kaccess.study.starts import find_starts, write_plain_starts
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
    poses = study.poses
    np.testing.assert_array_equal(starts.qpos, poses.qpos[content["centroids"]])
    assert starts.model == poses.robot.fingerprint
    assert starts.names[0] == f"pose {content['centroids'][0]}"
    curve = content["curve"]
    assert curve["k"] == list(range(2, 9))
    assert content["index"] == pytest.approx(max(curve["index"]))
    access = np.maximum(np.exp(-study.times), 1e-8)
    quality = assess(access, content["centroids"], content["labels"])
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
def test_other_methods_give_starts_too(finished, method, name):
    config = ClusterConfig(method=method, k=4)
    path = pipeline.cluster(finished, config)
    assert path.name == f"{name}.npz"
    assert len(InitialStates.load(path)) == 4
    rows = {row.name: row for row in pipeline.compare(finished)}
    assert rows[method].n_clusters == 4
    assert method in format_comparison(list(rows.values()))


def test_a_new_clustering_is_assessed_once(finished, monkeypatch):
    calls = []

    def count(rows, columns, centroids, *args, **kwargs):
        calls.append(list(centroids))
        return measure_parts(rows, columns, centroids, *args, **kwargs)

    study = Study(finished)
    pipeline.cluster(study, ClusterConfig(k=3, n_init=1))
    monkeypatch.setattr("kaccess.cluster.quality.measure_parts", count)
    pipeline.cluster(study, ClusterConfig(k=5, n_init=1))
    rows = {row.name: row for row in pipeline.compare(study)}
    pipeline.compare(study)
    assert rows["kaccess"].n_clusters == 5
    centroids = list(study.clusterings["kaccess"].centroids)
    assert calls.count(centroids) == 2  # by the fit itself, and once for the study


def test_only_poses_that_the_task_can_start_from_are_clustered(finished):
    plain = pipeline.cluster(finished, ClusterConfig(k=3, n_init=2))
    before = plain.read_bytes()
    path = pipeline.cluster(finished, ClusterConfig(task="backflip", k=3, n_init=2))
    assert path == finished / "starts" / "ka@backflip.npz"
    assert plain.read_bytes() == before
    study, task = Study(finished), make_task("backflip")
    members = np.flatnonzero(task.qualifies(study.poses.qpos))
    assert 3 < len(members) < study.n_poses
    found = study.all_clusterings[OfTask("kaccess", "backflip")]
    model = KAccess(3, n_init=2, random_state=0)
    model.fit(study.access[np.ix_(members, members)])
    np.testing.assert_array_equal(found.centroids, members[model.centroid_indices_])
    np.testing.assert_array_equal(found.labels[members], model.labels_)
    assert set(np.delete(found.labels, members)) == {-1}
    assert found.quality.index == pytest.approx(model.index_)
    np.testing.assert_array_equal(found.quality.uncovered, members[model.uncovered_])
    assert "@" not in "".join(study.clusterings)


def test_starts_know_their_task(finished, caplog):
    pipeline.cluster(finished, ClusterConfig(k=12, n_init=2))
    (finished / "starts" / "ka@backflip.npz").unlink(missing_ok=True)
    study, flip, recover = Study(finished), *map(make_task, ("backflip", TASK))
    plain = InitialStates.load(finished / "starts" / "ka.npz")
    fits = flip.qualifies(plain.qpos)
    assert fits.any() and not fits.all()
    old = find_starts(study, "ka", flip)  # as in studies made before starts had a task
    np.testing.assert_array_equal(old.qpos, plain.qpos[fits])
    assert f"kaccess cluster {finished} --task backflip" in caplog.text
    path = pipeline.cluster(study, ClusterConfig(task="backflip", k=2, n_init=2))
    own = InitialStates.load(path)
    np.testing.assert_array_equal(find_starts(study, "ka", flip).qpos, own.qpos)
    assert flip.qualifies(own.qpos).all()
    np.testing.assert_array_equal(find_starts(study, "ka", recover).qpos, plain.qpos)


def test_a_task_that_starts_anywhere_shares_the_starts_of_all(finished):
    path = pipeline.cluster(finished, ClusterConfig(task=TASK, k=2, n_init=1))
    assert path.name == "ka.npz"


def test_rows_of_a_task_are_about_its_poses(finished):
    pipeline.cluster(finished, ClusterConfig(k=3, n_init=1))
    pipeline.cluster(finished, ClusterConfig(task="backflip", k=3, n_init=1))
    study = Study(finished)
    rows = {row.name: row for row in pipeline.compare(study)}
    fits = make_task("backflip").qualifies(study.poses.qpos)
    row = rows["kaccess@backflip"]
    assert row.sizes.sum() == fits.sum()
    centroids = study.all_clusterings[OfTask("kaccess", "backflip")].centroids
    t_0, hits = row.regions.t_0, {}
    for start in centroids:  # a plain loop
        for goal in np.flatnonzero(fits):
            if goal != start and study.times[start, goal] < t_0:
                hits[goal] = hits.get(goal, 0) + 1
    assert row.regions.share == len(hits) / fits.sum()
    expected = sum(hits.values()) / len(hits) if hits else 0.0
    assert row.regions.redundancy == pytest.approx(expected)
    cases = [tuple(each) for each in study.contacts[fits]]
    labels = study.all_clusterings[OfTask("kaccess", "backflip")].labels[fits]
    names = [sorted(set(cases)).index(case) for case in cases]
    assert row.contact == pytest.approx(adjusted_mutual_info_score(names, labels))
    assert rows["rnd"].n_clusters == study.n_poses and rows["rnd"].index is None


def test_a_task_without_starts_cannot_be_clustered(finished):
    class Nowhere(Stand):
        def qualifies(self, qpos):
            return np.zeros(len(qpos), bool)

    with pytest.raises(InputError, match=r"'stand' can start from 0 of the 24 poses"):
        pipeline.cluster(finished, ClusterConfig(task=Nowhere()))


def test_a_pose_without_a_cluster_is_an_error_unless_for_a_task(finished):
    pipeline.cluster(finished, ClusterConfig(k=3, n_init=1))
    pipeline.cluster(finished, ClusterConfig(task="backflip", k=3, n_init=1))
    content = json.loads((finished / "clusters" / "kaccess@backflip.json").read_text())
    access = Study(finished).access
    assert StoredClustering.read(access, content, whole=False).members.size
    with pytest.raises(ValueError, match="`labels` must be 24 numbers from 0 to 2"):
        StoredClustering.read(access, content)


def test_times_between_states_equal_those_of_the_study(finished):
    study, pick = Study(finished), np.array([3, 7, 11])
    qpos = study.poses.qpos
    times = estimate_between(study, qpos[pick], qpos, n_threads=1)
    other = np.arange(study.n_poses) != pick[:, None]
    np.testing.assert_array_equal(times[other], study.times[pick][other])


def test_landings_are_covered_beside_poses_that_were_reached(finished):
    pipeline.cluster(finished, ClusterConfig(k=3, n_init=1))
    study = Study(finished)
    landings, n = study.arrays.read_landings(), study.n_poses
    row = {row.name: row for row in pipeline.compare(study)}["kaccess"]
    centroids, expected = study.clusterings["kaccess"].centroids, set()
    for pose in centroids:  # a plain loop
        for command in range(n + 1):
            node = landings.node[pose, command]
            rests = np.isfinite(landings.seconds[pose, command])
            if rests and landings.distance[pose, command] < 3 and node not in (pose, n):
                expected.add(int(node))
    assert 0 < len(expected) < n
    assert row.landed == len(expected) / n


def test_compare_of_a_study_without_clusterings_is_empty(tiny_study):
    assert pipeline.compare(tiny_study) == []


def test_a_bootstrap_stores_the_stability_of_the_choice(finished):
    pipeline.cluster(finished, ClusterConfig(k_max=5, n_init=2, n_bootstrap=3))
    content = json.loads((finished / "clusters" / "kaccess.json").read_text())
    stability = content["stability"]
    assert len(stability["k"]) == 3 and set(stability["k"]) <= {2, 3, 4, 5}
    assert np.shape(stability["jaccard"]) == (3, content["k"])


def test_all_poses_are_written_as_starts_too(finished):
    pipeline.cluster(finished, ClusterConfig(k=2, n_init=1))
    assert len(InitialStates.load(finished / "starts" / "rnd.npz")) == 24
    assert not (
        finished / "starts" / "9-pose.npz"
    ).exists()  # the tiny robot has no such keyframes


def test_bittle_has_keyframe_starts(tmp_path, bittle):
    path = tmp_path / "study"
    pipeline.sample("bittle", path, SampleConfig(n=4))
    write_plain_starts(Study(path))
    nine = InitialStates.load(path / "starts" / "9-pose.npz")
    assert len(nine) == 9 and nine.names[0] == "back"
    one = InitialStates.load(path / "starts" / "1-pose.npz")
    np.testing.assert_array_equal(one.qpos[0], nine.qpos[0])
    assert bittle.find_contacts(nine.qpos)[0].any(axis=1).all()


def test_times_from_keyframe_starts_are_estimated_once(tmp_path, monkeypatch):
    path = tmp_path / "study"
    study = pipeline.sample("bittle", path, SampleConfig(n=4))
    assert read_start_times(study) == {}
    write_plain_starts(study)
    estimate_start_times(study)
    found = read_start_times(study)
    assert {name: times.shape for name, times in found.items()} == {
        "9-pose": (9, 4),
        "1-pose": (1, 4),
    }
    np.testing.assert_array_equal(found["1-pose"][0], found["9-pose"][0])  # the back
    monkeypatch.setattr("kaccess.study.start_times.estimate_between", None)
    estimate_start_times(study)  # nothing is estimated again
    write_npz(path / "start-times.npz", **{"1-pose": np.ones((1, 5))})
    with pytest.raises(InputError, match=r"has times to other poses\. Delete it"):
        read_start_times(study)


def test_command_prints_a_table(finished, capsys):
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
        (["--k", "3", "--n-bootstrap", "2"], "`n_bootstrap` has no effect if `k`"),
        (["--alpha", "nan"], "`alpha` must be a finite number, got nan"),
        (["--method", "louvain", "--k", "5"], "`k` has no effect with method louvain"),
    ],
)
def test_bad_settings_exit_with_2(finished, capsys, args, message):
    with pytest.raises(SystemExit) as exit_info:
        main(["cluster", str(finished), *args])
    assert exit_info.value.code == 2
    err = capsys.readouterr().err.strip().splitlines()[-1]
    assert message.replace("\\", "") in err


def test_unfinished_times_raise_an_error_with_the_missing_command(tiny_study):
    with pytest.raises(InputError, match=r"576 of 576 pairs .* Run `kaccess access"):
        pipeline.cluster(tiny_study, ClusterConfig())
