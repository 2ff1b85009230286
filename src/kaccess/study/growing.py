"""Growing the posture graph of a study: more poses, and get-up skills."""

from dataclasses import asdict, dataclass, replace

from kaccess.access import PostureGraph, replay_plan
from kaccess.access.growth import GrowthRound, PlanTest, grow_graph
from kaccess.access.skills import SkillFound, search_skills
from kaccess.base.errors import InputError
from kaccess.base.json_files import read_json
from kaccess.base.types import Array, Progress
from kaccess.config import GetUpConfig, GrowConfig
from kaccess.engines import Engine
from kaccess.engines.stepper import Stepper
from kaccess.poses import Stream, draw_poses
from kaccess.study.study import Study

__all__ = [
    "Growth",
    "SkillSearch",
    "grow_study",
    "has_grown",
    "needs_skills",
    "search_get_ups",
]

_GROWTH_FILE = "growth.json"
_ENOUGH = 0.9  # share of poses that stand up; with fewer, single moves do not suffice


@dataclass(frozen=True)
class Growth:
    """How a study has grown.

    Args:
        rounds: Size and quality of the graph before each round of this run, and at
            its end.
        seconds: Time in which the robot had to stand up [s].
        share: Share of fresh poses that was aimed at.
    """

    rounds: tuple[GrowthRound, ...]
    seconds: float
    share: float


@dataclass(frozen=True)
class SkillSearch:
    """The get-up skills that a search has found; empty if no pose is trapped."""

    found: tuple[SkillFound, ...]


def grow_study(
    study: Study,
    config: GrowConfig,
    *,
    engine: Engine,
    replayer: Engine,
    test: PlanTest | None = None,
    progress: Progress | None = None,
) -> Growth:
    """Grow the posture graph of a study, and store it after each round.

    The rounds of all runs are in its `growth.json`. No two rounds have the same fresh
    poses, so that a graph is never tested on poses from which it has grown.

    Args:
        study: Study whose moves are all estimated.
        config: When to stop.
        engine: Simulator of all moves of new poses and commands.
        replayer: Simulator that follows plans: a few moves at a time.
        test: How a plan is tested; by default by its replays.
        progress: Called with (poses in the graph, most poses) from time to time.
    """
    horizon, rounds = study.test_seconds, []
    before = read_json(study.path / _GROWTH_FILE).get("rounds", [])
    growing = grow_graph(
        _get_graph(study),
        config,
        horizon=horizon,
        draw=lambda number: _draw_fresh(study, config, len(before) + number, replayer),
        engine=engine,
        replayer=replayer,
        test=test,
        progress=progress,
    )
    best = -1
    for graph, found in growing:
        rounds.append(found)
        if found.n_in_time > best:
            best = found.n_in_time
            _store(study, graph, replayer)
        _write_rounds(study, config, [*before, *map(asdict, rounds)], done=False)
    _write_rounds(study, config, [*before, *map(asdict, rounds)], done=True)
    return Growth(tuple(rounds), horizon, config.share)


def has_grown(study: Study, config: GrowConfig) -> bool:
    """Return whether growth with these settings has come to its end."""
    stored = read_json(study.path / _GROWTH_FILE)
    return bool(stored.get("done")) and stored.get("settings") == asdict(config)


def needs_skills(study: Study) -> bool:
    """Return whether too few poses stand up, and no skill was searched for yet.

    Poses stand up in replays, or before there are any, by chains of landings.
    """
    plan, graph = study.plan, study.graph
    if plan is None or graph is None or graph.commands.is_skill.any():
        return False
    n_moves = plan.n_moves if study.n_moves is None else study.n_moves
    return bool((n_moves > 0).mean() < _ENOUGH)


def _write_rounds(
    study: Study, config: GrowConfig, rounds: list[dict[str, int]], *, done: bool
) -> None:
    content = {"settings": asdict(config), "seconds": study.test_seconds, "done": done}
    study.write_json(_GROWTH_FILE, content | {"rounds": rounds})


def search_get_ups(
    study: Study,
    config: GetUpConfig,
    *,
    engine: Engine,
    replayer: Engine,
    stepper: Stepper,
    progress: Progress | None = None,
) -> SkillSearch:
    """Search for get-up skills, and store the graph after each one.

    Arguments as in `grow_study`, and `stepper`: the simulator of explorations.
    `progress` is called with (rounds done, total).
    """
    searching = search_skills(
        _get_graph(study),
        config,
        horizon=study.test_seconds,
        engine=engine,
        stepper=stepper,
        progress=progress,
    )
    found = []
    for graph, skill in searching:
        found.append(skill)
        _store(study, graph, replayer)
    return SkillSearch(tuple(found))


def _get_graph(study: Study) -> PostureGraph:
    """Return the posture graph; an error if there is none, or it cannot grow."""
    if study.partial is None:
        study.arrays.require_finished()
    graph = study.graph
    if graph is None:
        raise InputError(
            f"{study.path} has no graph that can grow: its robot does not stand, or "
            "the study was made before the program stored where moves end."
        )
    if graph.landings.states is None:
        raise InputError(
            f"{study.path} has too many poses to grow: the states in which moves end "
            "are not stored."
        )
    return graph


def _draw_fresh(study: Study, config: GrowConfig, number: int, engine: Engine) -> Array:
    """Return the fresh poses of a round, (tests, nq)."""
    sampling = replace(
        study.sampling.for_others(config.tests), seed=config.seed + number
    )
    poses, _ = draw_poses(study.robot, sampling, engine=engine, stream=Stream.GROWTH)
    return poses.qpos


def _store(study: Study, graph: PostureGraph, replayer: Engine) -> None:
    """Replay the plan of a graph from the study's poses, and store both."""
    plan = graph.make_plan(horizon=study.test_seconds)
    replay = replay_plan(plan, study.poses.qpos, study.access_config, engine=replayer)
    study.write_graph(graph, replay.n_moves)
