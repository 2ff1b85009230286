"""Training of an ensemble on known moves.

Each member leaves out another share of the poses. Moves between two poses that it has
left out are its test, and calibrate the ensemble.
"""

from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import minimize_scalar
from torch import Tensor
from torch.nn import functional

from kaccess.base.types import Array, BoolArray, IntArray, Progress
from kaccess.config import AccessConfig, LearnConfig
from kaccess.learned.features import Features
from kaccess.learned.figures import Figures, measure_figures
from kaccess.learned.model import AccessModel
from kaccess.learned.moves import Moves
from kaccess.learned.network import combine, describe_shapes, draw_parameters, enter
from kaccess.robots import Robot

__all__ = ["fit_model"]

_TIME_WEIGHT = 3.0  # of the error of times, against that of the chance
_LANDING_WEIGHT = 0.1  # of the error of landings
_WEIGHT_DECAY = 0.01
_SHARES = 2  # times the members: poses are split into so many shares
_REPORT_EVERY = 20  # steps


def fit_model(
    robot: Robot,
    qpos: Array,
    moves: Moves,
    tolerances: AccessConfig,
    config: LearnConfig | None = None,
    *,
    mirrored: bool = False,
    device: torch.device | None = None,
    progress: Progress | None = None,
) -> tuple[AccessModel, Figures]:
    """Learn from known moves between poses.

    Args:
        robot: Robot.
        qpos: (n, nq) poses.
        moves: Known moves between them.
        tolerances: Tolerances of a reached pose.
        config: Size of the ensemble, and how it is trained.
        mirrored: Whether pose 2i + 1 is the mirror image of pose 2i.
        device: Device of torch; by default the CPU.
        progress: Called with (steps done, steps to do).

    Returns:
        The model, and how well a single member predicts moves between two poses that
        it has not seen.
    """
    moves.require_enough()
    config, device = config or LearnConfig(), device or torch.device("cpu")
    features = Features(robot, tolerances)
    inputs = features.describe(qpos)
    mean = inputs.mean(axis=(0, 1))
    spread = inputs.std(axis=(0, 1)) + 1e-3
    folds = _split_poses(len(qpos), config, mirrored)
    data = _Data.of(features, (inputs - mean) / spread, qpos, moves, device)
    parameters = _train(data, _list_lessons(moves, folds, config), config, progress)
    model = AccessModel(features, parameters, mean=mean, spread=spread, device=device)
    return model, _calibrate(model, qpos, moves, folds)


def _split_poses(n: int, config: LearnConfig, mirrored: bool) -> IntArray:
    """Return which member leaves out each pose, (n,); partners stay together.

    Members leave out one share each. Nobody leaves out the other shares, so that each
    member learns from most of the poses.
    """
    n_draws = (n + 1) // 2 if mirrored else n
    rng = np.random.default_rng([config.seed, 1])
    fold = rng.permutation(n_draws) % (_SHARES * config.members)
    return np.repeat(fold, 2)[:n] if mirrored else fold


def _list_lessons(moves: Moves, folds: IntArray, config: LearnConfig) -> list[IntArray]:
    """Return the moves that each member learns from."""
    source, goal = folds[moves.source], folds[moves.goal]
    return [
        np.flatnonzero((source != member) & (goal != member))
        for member in range(config.members)
    ]


@dataclass(frozen=True, eq=False)
class _Data:
    """Moves to learn from, as tensors.

    Args:
        inputs: (n_images, n, n_inputs) standardized inputs of poses.
        places: (n_images, b, n_places) landings; 0 where not known.
        known: (b,) 1 where the landing is known.
        source: (b,) pose that each move starts from.
        goal: (b,) pose whose joints are commanded.
        reached: (b,) 1 where the goal is reached.
        log_times: (b,) logarithm of the time; 0 where not reached.
    """

    inputs: Tensor
    places: Tensor
    known: Tensor
    source: Tensor
    goal: Tensor
    reached: Tensor
    log_times: Tensor

    @classmethod
    def of(
        cls,
        features: Features,
        inputs: Array,
        qpos: Array,
        moves: Moves,
        device: torch.device,
    ) -> "_Data":
        places = features.locate(moves.ends, qpos[moves.goal])
        reached = moves.reached
        arrays = (
            inputs.astype(np.float32),
            np.nan_to_num(places),
            np.isfinite(places[0]).all(axis=1).astype(np.float32),
            moves.source.astype(np.int64),
            moves.goal.astype(np.int64),
            reached.astype(np.float32),
            np.log(np.where(reached, moves.times, 1.0)).astype(np.float32),
        )
        return cls(*(torch.from_numpy(each).to(device) for each in arrays))


def _train(
    data: _Data,
    lessons: list[IntArray],
    config: LearnConfig,
    progress: Progress | None,
) -> dict[str, Tensor]:
    """Train all members side by side."""
    device, random = data.inputs.device, torch.Generator().manual_seed(config.seed)
    n_outputs = 2 + data.places.shape[-1]
    shapes = describe_shapes(
        config.members, data.inputs.shape[-1], config.width, config.layers, n_outputs
    )
    drawn = draw_parameters(shapes, random)
    parameters = {name: each.to(device) for name, each in drawn.items()}
    leaves = [each.requires_grad_() for each in parameters.values()]
    n_pairs = max(map(len, lessons))
    n_steps = max(config.least_steps, round(config.passes * n_pairs / config.batch))
    optimizer = torch.optim.AdamW(leaves, weight_decay=_WEIGHT_DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, config.learning_rate, total_steps=n_steps + 1
    )
    pools = [torch.from_numpy(each) for each in lessons]
    for step in range(n_steps):
        batch = _draw_batch(pools, config.batch, random).to(device)
        image = torch.randint(len(data.inputs), batch.shape, generator=random)
        loss = _measure_loss(parameters, data, batch, image.to(device))
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
        if progress and (step + 1) % _REPORT_EVERY == 0:
            progress(step + 1, n_steps)
    if progress:
        progress(n_steps, n_steps)
    return {name: each.detach() for name, each in parameters.items()}


def _draw_batch(pools: list[Tensor], size: int, random: torch.Generator) -> Tensor:
    """Draw moves for each member, (m, size), of those that it learns from."""
    rows = [pool[torch.randint(len(pool), (size,), generator=random)] for pool in pools]
    return torch.stack(rows)


def _measure_loss(
    parameters: dict[str, Tensor], data: _Data, batch: Tensor, image: Tensor
) -> Tensor:
    """Return the loss of moves, (m, b), of which some are seen in the mirror."""
    source = data.inputs[image, data.source[batch]]
    goal = data.inputs[image, data.goal[batch]]
    begin, end = enter(parameters, source, goal)
    outputs = combine(parameters, begin + end)
    reached, known = data.reached[batch], data.known[batch]
    chance = functional.binary_cross_entropy_with_logits(outputs[..., 0], reached)
    late = (reached * (outputs[..., 1] - data.log_times[batch]).abs()).mean()
    places = data.places[image, batch]
    miss = functional.huber_loss(outputs[..., 2:], places, reduction="none")
    total: Tensor = chance + _TIME_WEIGHT * late
    # Members do not share weights: a sum over them trains each as if it were alone.
    return (total + _LANDING_WEIGHT * (miss.mean(-1) * known).mean()) * len(batch)


def _calibrate(
    model: AccessModel, qpos: Array, moves: Moves, folds: IntArray
) -> Figures:
    """Set the temperature of a model, and return its figures on unseen poses."""
    logits, seconds, misses, tested = [], [], [], []
    for member in range(model.n_members):
        apart = (folds[moves.source] == member) & (folds[moves.goal] == member)
        test = moves.take(apart)
        if not len(test):
            continue
        raw = model.predict_raw(qpos, test.source, test.goal, member)
        logits.append(raw.logits[0])
        seconds.append(np.exp(raw.log_times[0]))
        true = model.features.locate(test.ends, qpos[test.goal])[0]
        misses.append(np.linalg.norm(raw.places[0] - true, axis=1))
        tested.append(test.times)
    times, odds = np.concatenate(tested), np.concatenate(logits)
    model.temperature = _fit_temperature(np.isfinite(times), odds)
    chance = 1 / (1 + np.exp(-odds / model.temperature))
    missed = np.concatenate(misses)
    return measure_figures(
        times,
        chance,
        np.concatenate(seconds),
        missed if np.isfinite(missed).any() else None,
    )


def _fit_temperature(reached: BoolArray, logits: Array) -> float:
    """Return the number that log odds must be divided by to be calibrated."""
    sign = np.where(reached, -1.0, 1.0)

    def loss(log_temperature: float) -> float:
        return float(np.logaddexp(0, sign * logits / np.exp(log_temperature)).mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-2, 2), method="bounded").x))
