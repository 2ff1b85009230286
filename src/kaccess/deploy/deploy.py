"""`kaccess deploy`: from a study or a policy to a Bittle that gets up."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import Array, Progress
from kaccess.config import DeployConfig, SimulateConfig
from kaccess.deploy.angles import MEASURED
from kaccess.deploy.building import build_skills
from kaccess.deploy.check import check_moves
from kaccess.deploy.link import Link, LinkLostError, SerialLink
from kaccess.deploy.loop import run_policy
from kaccess.deploy.network import Network
from kaccess.deploy.record import Log
from kaccess.deploy.routes import Outcome, follow_routes
from kaccess.deploy.session import Session
from kaccess.deploy.simulated import PtyBittle, SimulatedBittle, VirtualLink
from kaccess.deploy.skills import Skills, load_shipped, write_skills
from kaccess.deploy.watchdog import StopError
from kaccess.deploy.wifi import WifiLink
from kaccess.poses import sample_poses
from kaccess.robots import load_robot
from kaccess.study import Study

__all__ = ["Deployed", "deploy"]

SHIPPED = Path(__file__).parents[1] / "policies" / "shipped" / "bittle"
_N_POSES = 12  # drawn, to find one in which a simulated robot lies on its back
_WARNING = (
    "The robot will move its legs at up to 250 deg/s. Put it on a cushion, keep "
    "fingers and faces away, and keep the battery's switch within reach."
)


@dataclass(frozen=True)
class Deployed:
    """What came of a deployment.

    Args:
        outcome: How it ended.
        log: What happened.
        interrupted: Whether Ctrl-C ended it.
    """

    outcome: Outcome
    log: Log
    interrupted: bool = False


def deploy(
    source: str,
    config: DeployConfig,
    simulate: SimulateConfig | None = None,
    *,
    show: Callable[[str], None] | None = None,
    agree: Callable[[str], bool] | None = None,
    progress: Progress | None = None,
) -> Deployed:
    """Get a Bittle up, or check it, or write its skills.

    Args:
        source: `bittle` for what is shipped, folder of a study, or an ONNX file.
        config: How the robot is reached, and what it is to do.
        simulate: Settings of a simulated robot.
        show: Called with each message of a dry run, as text.
        agree: Asked before a real robot moves; by default nobody is asked.
        progress: Called while the skills of a study are made.
    """
    if config.write_skills is not None:
        skills = _find_skills(source, progress)
        paths = write_skills(skills, config.write_skills)
        said = f"{len(skills.routes)} skills in {config.write_skills}: {paths[-1]}."
        return Deployed(Outcome(True, said), Log())
    act = _prepare(source, config, progress)
    is_real = not (config.simulate or config.dry_run)
    if is_real and not config.yes and agree is not None and not agree(_WARNING):
        raise InputError("Nothing was sent. Add --yes to deploy without this question.")
    log = Log({"source": source, "controller": config.controller, "real": is_real})
    with _open_link(config, simulate or SimulateConfig()) as link:
        shown = show if config.dry_run else None
        session = Session(link, load_robot(MEASURED), log=log, show=shown)
        try:
            return _run(session, act)
        finally:
            if config.record is not None:
                log.save(config.record)


def _run(session: Session, act: Callable[[Session], Outcome]) -> Deployed:
    """Connect and act; whatever ends it before it is done, end it safely."""
    try:
        board = session.connect()
        session.log.header["board"] = board.name
        outcome = act(session)
    except (StopError, LinkLostError) as stop:
        session.note(f"stopped: {stop}")
        session.end_safely()
        said = f"Stopped: {stop}. The robot was told to rest, with its servos off."
        return Deployed(Outcome(False, said), session.log)
    except KeyboardInterrupt:
        session.note("stopped: Ctrl-C")
        session.end_safely()
        said = "Stopped by Ctrl-C. The robot was told to rest, with its servos off."
        return Deployed(Outcome(False, said), session.log, interrupted=True)
    except BaseException:
        session.end_safely()
        raise
    session.note(outcome.text)
    session.send(session.board.stream_off)
    return Deployed(outcome, session.log)


def _prepare(
    source: str, config: DeployConfig, progress: Progress | None
) -> Callable[[Session], Outcome]:
    """Return what to do with a session; all files are read before the robot moves."""
    if config.check:
        postures = _find_skills(source, progress).moves

        def check(session: Session) -> Outcome:
            found = check_moves(session, postures, config.moves)
            return Outcome(True, found.text)

        return check
    if config.controller == "policy":
        network = Network(_find_policy(source))
        return lambda session: run_policy(session, network, seconds=config.seconds)
    skills = _find_skills(source, progress)
    return lambda session: follow_routes(session, skills, attempts=config.attempts)


def _find_skills(source: str, progress: Progress | None) -> Skills:
    if source == "bittle":
        return load_shipped()
    if source.endswith(".onnx"):
        raise InputError(
            f"{source} is a policy: add --controller policy. Routes come from a study, "
            "or from `bittle`."
        )
    return build_skills(Study(source), progress=progress)


def _find_policy(source: str) -> Path:
    if source == "bittle":
        return SHIPPED / "fall-recovery.onnx"
    if Path(source).is_dir():
        raise InputError(
            f"{source} is a study: write one of its policies with `kaccess export "
            f"{source} --run LEARNER --onnx policy.onnx`, and deploy that file."
        )
    return Path(source)


@contextmanager
def _open_link(config: DeployConfig, simulate: SimulateConfig) -> Iterator[Link]:
    if config.dry_run:
        yield VirtualLink(_make_bittle(simulate))
    elif config.simulate:
        with (
            PtyBittle(_make_bittle(simulate)) as robot,
            closing(SerialLink(robot.port)) as link,
        ):
            yield link
    elif config.host is not None:
        with closing(WifiLink(config.host)) as wireless:
            yield wireless
    else:
        assert config.port is not None
        with closing(SerialLink(config.port)) as link:
            yield link


def _make_bittle(simulate: SimulateConfig) -> SimulatedBittle:
    robot = load_robot(MEASURED)
    return SimulatedBittle(simulate, _lie_on_back(simulate.seed), robot=robot)


def _lie_on_back(seed: int) -> Array:
    """Return a state in which Bittle lies on its back, (nq,)."""
    poses = sample_poses(load_robot(MEASURED), _N_POSES, seed=seed)
    return np.asarray(poses.qpos[int(poses.gravity[:, 2].argmax())])
