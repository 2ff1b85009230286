"""Simpler predictors of moves, and of route times, that networks are compared with."""

from dataclasses import dataclass

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import KDTree
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from torch import Tensor, nn

from kaccess.access import Nodes
from kaccess.base.types import Array, IntArray
from kaccess.learned import Moves
from kaccess.learned.features import Features

_CLOSEST = 0.3  # [tolerances], so that weights of nearby poses stay finite
_UNITS = 8  # intervals of each component of a quasimetric


@dataclass(frozen=True, eq=False)
class Guess:
    """Predicted moves: chance, time [s], and landing relative to the goal."""

    chance: Array
    times: Array
    places: Array | None = None


class Vote:
    """The k poses nearest to the source and those nearest to the goal vote.

    Args:
        nodes: Poses, with the distance between them.
        train: Poses whose moves are known.
        times: (n, n) times; only those between `train` are read.
        k: Number of neighbours of each.
    """

    def __init__(self, nodes: Nodes, train: IntArray, times: Array, k: int) -> None:
        self._places, self._train = nodes.places[:-1], np.sort(train)
        self._tree, self._k = KDTree(self._places[self._train]), k
        known = times[np.ix_(self._train, self._train)]
        self._reached = np.isfinite(known)
        self._seconds = np.where(self._reached, known, 0.0)

    def predict(self, source: IntArray, goal: IntArray) -> Guess:
        """Predict moves between poses, (b,) each."""
        left, right = self._weigh(np.unique(source)), self._weigh(np.unique(goal))
        row = np.searchsorted(np.unique(source), source)
        column = np.searchsorted(np.unique(goal), goal)
        chance = left @ (right @ self._reached.T.astype(float)).T
        total = left @ (right @ self._seconds.T).T
        with np.errstate(invalid="ignore", divide="ignore"):
            times = total / chance
        return Guess(chance[row, column], times[row, column])

    def _weigh(self, poses: IntArray) -> csr_array:
        distance, near = self._tree.query(self._places[poses], k=range(1, self._k + 1))
        weight = 1 / (_CLOSEST + np.asarray(distance)) ** 2
        weight /= weight.sum(axis=1, keepdims=True)
        rows = np.repeat(np.arange(len(poses)), self._k)
        shape = (len(poses), len(self._train))
        return csr_array((weight.ravel(), (rows, near.ravel())), shape=shape)

    def find_nearest(self, poses: IntArray) -> IntArray:
        """Return the nearest training pose of each pose."""
        return np.asarray(self._train[self._tree.query(self._places[poses])[1]])


class Trees:
    """Gradient-boosted trees on gravity, height, joints, and their differences."""

    def __init__(
        self, features: Features, qpos: Array, *, most: int, seed: int
    ) -> None:
        inputs = features.describe(qpos)[:, :, : 4 + features.robot.model.nu]
        self._inputs, self._most = inputs, most
        self._rng = np.random.default_rng(seed)

    def fit(self, moves: Moves) -> None:
        """Learn from moves and their mirror images."""
        if len(moves) > self._most:
            moves = moves.take(self._rng.choice(len(moves), self._most, replace=False))
        rows = self._describe(moves.source, moves.goal)
        reached = np.tile(moves.reached, len(self._inputs))
        settings = {"max_leaf_nodes": 63, "early_stopping": False}
        self._arrives = HistGradientBoostingClassifier(
            max_iter=300, min_samples_leaf=40, **settings
        ).fit(rows, reached)
        seconds = np.tile(moves.times, len(self._inputs))[reached]
        self._time = HistGradientBoostingRegressor(
            loss="absolute_error", max_iter=150, **settings
        ).fit(rows[reached], np.log(seconds))

    def predict(self, source: IntArray, goal: IntArray) -> Guess:
        """Predict moves, averaged over their mirror images."""
        rows = self._describe(source, goal)
        shape = (len(self._inputs), -1)
        chance = self._arrives.predict_proba(rows)[:, 1].reshape(shape)
        times = np.exp(self._time.predict(rows)).reshape(shape)
        return Guess(chance.mean(axis=0), times.mean(axis=0))

    def _describe(self, source: IntArray, goal: IntArray) -> Array:
        images = []
        for inputs in self._inputs:
            begin, end = inputs[source], inputs[goal]
            turn = (begin[:, :3] * end[:, :3]).sum(axis=1, keepdims=True)
            images.append(np.concatenate([begin, end, end - begin, turn], axis=1))
        return np.concatenate(images)


def find_route_times(times: Array) -> Array:
    """Return the times of the fastest routes between all poses, (n, n) [s]."""
    edges = np.where(np.isfinite(times), np.maximum(times, 1e-6), 0.0)
    np.fill_diagonal(edges, 0.0)
    return np.asarray(dijkstra(csr_array(edges)))


class RouteTimes(nn.Module):
    """Predicts route times from descriptions of two poses.

    Args:
        inputs: Numbers that describe a pose.
        head: `quasimetric`: the distance of an interval quasimetric embedding, which
            satisfies the triangle inequality; `plain`: a network of both descriptions.
    """

    def __init__(self, inputs: int, head: str, width: int = 128) -> None:
        super().__init__()
        self._head = head
        first = inputs if head == "quasimetric" else 2 * inputs
        last = 16 * _UNITS if head == "quasimetric" else 1
        self._layers = nn.Sequential(
            nn.Linear(first, width),
            nn.SiLU(),
            nn.Linear(width, width),
            nn.SiLU(),
            nn.Linear(width, last),
        )
        self._log_scale = nn.Parameter(torch.zeros(1))

    def forward(self, source: Tensor, goal: Tensor) -> Tensor:
        """Return route times, (b,)."""
        if self._head == "plain":
            both = self._layers(torch.cat([source, goal], dim=1))[:, 0]
            return nn.functional.softplus(both)
        begin = self._layers(source).reshape(len(source), -1, _UNITS)
        end = self._layers(goal).reshape(len(goal), -1, _UNITS)
        lengths = measure_unions(begin, torch.maximum(begin, end))
        mixed = 0.5 * lengths.mean(dim=1) + 0.5 * lengths.amax(dim=1)
        return mixed * self._log_scale.exp()


def measure_unions(begin: Tensor, end: Tensor) -> Tensor:
    """Return the length of the union of intervals [begin, end] along the last axis.

    The distance of Wang and Isola, "Improved Representation of Asymmetrical Distances
    with Interval Quasimetric Embeddings" (2022).
    """
    order = begin.argsort(dim=-1)
    begin, end = begin.gather(-1, order), end.gather(-1, order)
    reach = end.cummax(dim=-1).values
    before = torch.cat([begin[..., :1], reach[..., :-1]], dim=-1)
    return (reach - torch.maximum(begin, before)).clamp(min=0).sum(dim=-1)


def fit_route_times(
    inputs: Array, routes: Array, head: str, *, steps: int = 2000, seed: int = 0
) -> RouteTimes:
    """Train on all finite route times between poses, (n, n)."""
    torch.manual_seed(seed)
    model = RouteTimes(inputs.shape[1], head)
    row, column = np.nonzero(np.isfinite(routes) & ~np.eye(len(routes), dtype=bool))
    source, goal = torch.from_numpy(row), torch.from_numpy(column)
    x, y = torch.from_numpy(inputs), torch.from_numpy(routes[row, column]).float()
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, 4e-3, total_steps=steps + 1
    )
    for _ in range(steps):
        batch = torch.randint(len(y), (1024,))
        found = model(x[source[batch]], x[goal[batch]])
        loss = (found - y[batch]).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model
