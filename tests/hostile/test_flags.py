"""Numbers and names that no command can use: one sentence, exit code 2, no change."""

import itertools
import shutil

import pytest

from kaccess import InputError, load_robot, make_engine, pipeline, sample_poses
from kaccess.config import (
    AccessConfig,
    EngineConfig,
    EvaluateConfig,
    SampleConfig,
    SkillConfig,
    TrainConfig,
)
from kaccess.engines import as_engine, make_engines, make_replayer
from kaccess.envs import RobotVectorEnv
from kaccess.envs.physics.physics import make_physics
from tests.conftest import TINY
from tests.hostile.attacks import run
from tests.training.runs import refusal


@pytest.fixture(scope="module")
def study(clustered, tmp_path_factory):
    """A copy for all tests: none of them changes it."""
    return shutil.copytree(clustered, tmp_path_factory.mktemp("flags") / "study")


HUGE = "1000000000000"
FLAGS = {  # those that take numbers, by command
    "run ROBOT NEW": "seed threads kp kd",
    "sample ROBOT NEW": "n seed threads time-limit drop-height kp still.window",
    "access STUDY": "threads time-limit move-time joint-tol height-tol gravity-tol",
    "grow STUDY": "share most tests added patience seed threads",
    "cluster STUDY": "k k-max alpha n-init n-bootstrap seed",
    "search STUDY": "postures seconds candidates rounds noise seed get-up.skills "
    "get-up.postures get-up.candidates get-up.rounds get-up.posture-time "
    "get-up.explored",
    "train STUDY": "seeds first-seed episodes test-every test-poses threads sac.gamma "
    "sac.return-steps sac.hidden sac.batch-size sac.learning-rate sac.tau "
    "sac.initial-alpha sac.warmup-steps sac.envs-per-learner sac.updates-per-step "
    "sac.capacity",
    "evaluate STUDY": "poses threads",
    "play ROBOT": "pose poses seed seconds",
    "play ROBOT --viewer": "port",
    "compare-engines STUDY --engines mujoco bullet": "pairs seed threads",
}
SEEDS = ("seed", "first-seed")  # the huge number is a good seed


def list_cases():
    for command, flags in FLAGS.items():
        for flag in flags.split():
            yield command, flag, "-1"
            if flag not in SEEDS:
                yield command, flag, HUGE
    yield "cluster STUDY", "alpha", "nan"
    yield "cluster STUDY", "alpha", "inf"
    for flag in ("gamma", "tau", "target-entropy", "initial-alpha", "learning-rate"):
        yield "train STUDY", f"sac.{flag}", "nan"
        yield "train STUDY", f"sac.{flag}", "-inf"


def list_files(folder):
    """Return all files but those that hold the duration of each command."""
    ignored = (".lock", "timings.json")
    return sorted(path for path in folder.rglob("*") if path.name not in ignored)


@pytest.mark.parametrize(("command", "flag", "value"), list(list_cases()))
def test_a_number_out_of_range_is_one_sentence(
    study, tmp_path, capsys, command, flag, value
):
    places = {"ROBOT": TINY, "STUDY": study, "NEW": tmp_path / "new"}
    args = [places.get(word, word) for word in command.split()]
    before = list_files(study)
    err = refusal(capsys, *args, f"--{flag}={value}")
    name = flag.rpartition(".")[2].replace("-", "_")
    assert err.startswith(f"kaccess: `{name}` must ")
    assert not (tmp_path / "new").exists()
    assert list_files(study) == before


BAD_TEXTS = ("x", "", "nan", "-inf", "1e999", "1,5", "0x")


@pytest.mark.hostile
@pytest.mark.parametrize("command", FLAGS)
def test_texts_that_are_no_numbers_are_refused(
    study, tmp_path, capsys, command, record_property
):
    places = {"ROBOT": TINY, "STUDY": study, "NEW": tmp_path / "new"}
    args = [places.get(word, word) for word in command.split()]
    before, flags = list_files(study), FLAGS[command].split()
    for flag, text in itertools.product(flags, BAD_TEXTS):
        code, said = run(capsys, *args, f"--{flag}={text}")
        assert code == 2 and "Traceback" not in said, (flag, text)
        names = (f"--{flag}", f"`{flag.rpartition('.')[2].replace('-', '_')}`")
        assert any(name in said for name in names), (flag, text, said)
    assert list_files(study) == before and not (tmp_path / "new").exists()
    record_property("bad inputs", len(flags) * len(BAD_TEXTS))


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("cluster STUDY --method louvain --k 5", "`k` has no effect with method louv"),
        ("cluster STUDY --method infomap --k 5", "`k` has no effect with method infom"),
        ("cluster STUDY --method kmeans --n-init 5", "`n_init` has no effect"),
        ("cluster STUDY --k 3 --k-max 5", "`k_max` has no effect if `k` is given"),
        ("play STUDY --transition 0 1 --pose 2", "`pose` has no effect with `trans"),
        ("play STUDY --run routes --poses 5", "`poses` has no effect in a study"),
        ("play bittle --trained-under slope=5", "`trained_under` has no effect for"),
        ("play STUDY --viewer --video a.mp4", "`--video` has no effect with"),
        ("play STUDY --port 8080", "`--port` has no effect without `--viewer`"),
        ("search STUDY --task stand --rounds 3", "`rounds` has no effect here"),
        ("search STUDY --get-up.rounds 3", "`get_up` has no effect with task backfli"),
        (
            "compare-engines STUDY --engines mujoco bullet --device cuda:0",
            "`device` is for the engine 'warp'",
        ),
    ],
)
def test_a_flag_without_effect_is_refused(study, capsys, command, message):
    args = [study if word == "STUDY" else word for word in command.split()]
    assert message in refusal(capsys, *args)


@pytest.mark.parametrize("engine", ["foo", "MuJoCo", "", None, 3])
def test_an_unknown_engine_is_refused_by_all_that_take_one(study, tmp_path, engine):
    robot, still = load_robot(TINY), None
    calls = [
        lambda: make_engine(engine, robot),
        lambda: make_replayer(engine, robot, still),
        lambda: make_engines(["mujoco", engine], robot, still),
        lambda: make_physics(engine, robot, 1, n_substeps=1),
        lambda: EngineConfig(engine=engine),
        lambda: TrainConfig(engine=engine),
        lambda: RobotVectorEnv(1, robot=robot, engine=engine),
        lambda: sample_poses(robot, 4, engine=engine),
        lambda: pipeline.run(str(TINY), tmp_path / "new", "tiny", engine=engine),
        lambda: pipeline.sample(
            str(TINY), tmp_path / "new", SampleConfig(n=4), engine=engine
        ),
        lambda: pipeline.access(study, AccessConfig(), engine=engine),
        lambda: pipeline.grow(study, engine=engine),
        lambda: pipeline.search(study, SkillConfig(), engine=engine),
        lambda: pipeline.evaluate(study, EvaluateConfig(poses=2), engine=engine),
        lambda: pipeline.compare_engines(study, ["mujoco", engine], n_pairs=9),
    ]
    for call in calls:
        with pytest.raises(InputError, match="`engine` must be one of mujoco, warp, b"):
            call()
    with pytest.raises(InputError, match="`engine` must be one of"):
        as_engine(engine, robot)
    if engine is not None:  # that of the training
        with pytest.raises(InputError, match="`test_engine` must be one of mujoco, wa"):
            TrainConfig(test_engine=engine)
    assert not (tmp_path / "new").exists()
