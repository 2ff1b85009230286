"""Networks of a whole population: each layer of all learners is one batched product.

The parameters of a population are one matrix, a row per network: first the weights of
each layer, then the biases, then zeros up to a multiple of 64 bytes. So an optimiser
step is a few operations on one matrix.

Gradients are computed without autograd: at these sizes it would spend half of the
time on bookkeeping. The tests compare them with those of autograd.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kaccess.base.types import Array

__all__ = [
    "Layer",
    "Layout",
    "Sample",
    "backward",
    "forward",
    "input_gradient",
    "squash",
    "squash_gradient",
]

_ALIGN = 16  # floats in 64 bytes: same speed and rounding for every row
_LOG_STD = (-20.0, 2.0)  # bounds, as in the code of SAC's authors
_LOG_2PI = math.log(2 * math.pi)

Layer = tuple[Tensor, Tensor]
"""Weights (g, n_in, n_out) and biases (g, 1, n_out) of g networks."""


@dataclass(frozen=True)
class Layout:
    """Positions of the parameters of a network in its row.

    Args:
        sizes: Units of each layer, input and output included.
        n_extra: Numbers in a row after the biases.
    """

    sizes: tuple[int, ...]
    n_extra: int = 0

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Shapes of the weights, then of the biases."""
        weights = list(zip(self.sizes[:-1], self.sizes[1:], strict=True))
        return weights + [(1, n) for n in self.sizes[1:]]

    @property
    def extra(self) -> int:
        """Position of the extra numbers."""
        return sum(n_in * n_out for n_in, n_out in self.shapes)

    @property
    def width(self) -> int:
        """Length of a row."""
        return -(-(self.extra + self.n_extra) // _ALIGN) * _ALIGN

    def split_layers(self, rows: Tensor) -> list[Layer]:
        """Return the layers of the networks in `rows`, (g, width), as views of it."""
        views, start = [], 0
        for n_in, n_out in self.shapes:
            view = rows[:, start : start + n_in * n_out]
            views.append(view.view(-1, n_in, n_out))
            start += n_in * n_out
        n = len(self.sizes) - 1
        return list(zip(views[:n], views[n:], strict=True))

    def draw_initial(self, rng: np.random.Generator) -> Array:
        """Return a (width,) row: uniform within 1/sqrt(inputs), as torch's Linear."""
        row = np.zeros(self.width, dtype=np.float32)
        fan_in = self.sizes[:-1] * 2  # once for the weights, once for the biases
        start = 0
        for (n_in, n_out), fan in zip(self.shapes, fan_in, strict=True):
            size = n_in * n_out
            row[start : start + size] = rng.uniform(-1, 1, size) / math.sqrt(fan)
            start += size
        return row


def forward(layers: Sequence[Layer], x: Tensor) -> list[Tensor]:
    """Return the activations of all layers: input, (g, b, n), hidden ones, output."""
    activations = [x]
    for weight, bias in layers[:-1]:
        x = torch.baddbmm(bias, x, weight).relu_()
        activations.append(x)
    weight, bias = layers[-1]
    if weight.shape[-1] == 1:  # batched products are slow with vectors
        activations.append((x * weight.mT).sum(-1, keepdim=True).add_(bias))
    else:
        activations.append(torch.baddbmm(bias, x, weight))
    return activations


def backward(
    layers: Sequence[Layer], activations: Sequence[Tensor], slope: Tensor, width: int
) -> Tensor:
    """Return the (g, width) gradient of the parameters.

    Args:
        layers: Layers of g networks.
        activations: Activations that `forward` returned.
        slope: (g, b, n_out) gradient with respect to the output.
        width: Length of a row.
    """
    weights: list[Tensor] = []
    biases: list[Tensor] = []
    for depth in range(len(layers) - 1, -1, -1):
        below = activations[depth]
        weights.insert(0, _weight_gradient(below, slope))
        biases.insert(0, slope.sum(1))
        if depth > 0:
            slope = _unit_gradient(slope, layers[depth][0], below)
    used = sum(part.shape[1] for part in weights + biases)
    rest = slope.new_zeros(len(slope), width - used)
    return torch.cat([*weights, *biases, rest], dim=1)


def input_gradient(
    layers: Sequence[Layer], activations: Sequence[Tensor], slope: Tensor
) -> Tensor:
    """Return the (g, b, n_in) gradient with respect to the input."""
    for depth in range(len(layers) - 1, 0, -1):
        slope = _unit_gradient(slope, layers[depth][0], activations[depth])
    return torch.bmm(slope, layers[0][0].mT)


def _weight_gradient(below: Tensor, slope: Tensor) -> Tensor:
    """Return the gradient with respect to a layer's weights, (g, n_in * n_out)."""
    if slope.shape[-1] == 1:
        return (below * slope).sum(1)
    return torch.bmm(below.mT, slope).flatten(1)


def _unit_gradient(slope: Tensor, weight: Tensor, units: Tensor) -> Tensor:
    """Return the gradient with respect to the hidden units below a layer."""
    one = slope.shape[-1] == 1
    result = slope * weight.mT if one else torch.bmm(slope, weight.mT)
    torch.ops.aten.threshold_backward.grad_input(result, units, 0, grad_input=result)
    return result


@dataclass(frozen=True)
class Sample:
    """Actions drawn from a Gaussian and squashed by tanh."""

    action: Tensor
    """(p, b, a) actions in (-1, 1)."""
    log_prob: Tensor
    """(p, b) log of their probability density."""
    spread: Tensor
    """(p, b, a) standard deviation times noise."""
    free: Tensor
    """(p, b, a) whether the standard deviation is within its bounds."""

    def select(self, start: int, stop: int) -> "Sample":
        """Return the actions of part of the batch."""
        every = (self.action, self.log_prob, self.spread, self.free)
        return Sample(*(tensor[:, start:stop] for tensor in every))


def squash(output: Tensor, noise: Tensor) -> Sample:
    """Return actions for the actors' output, (p, b, 2 a), and noise, (p, b, a)."""
    mean, raw = output.chunk(2, dim=-1)
    log_std = raw.clamp(*_LOG_STD)
    spread = log_std.exp().mul_(noise)
    before = mean + spread
    # log(1 - tanh(x)^2) = 2 (log 2 - x - softplus(-2 x)), without rounding to log 0
    shrink = torch.nn.functional.softplus(-2 * before).add_(before).mul_(2)
    each = shrink.sub_(log_std).addcmul_(noise, noise, value=-0.5)
    n = noise.shape[-1]
    log_prob = each.sum(-1).sub_(n * (0.5 * _LOG_2PI + 2 * math.log(2)))
    return Sample(before.tanh_(), log_prob, spread, log_std == raw)


def squash_gradient(sample: Sample, action_slope: Tensor, weight: Tensor) -> Tensor:
    """Return the gradient of `weight * log_prob + f(action)` w.r.t. the actors' output.

    With x = mean + std * noise and a = tanh(x): d log_prob / dx = 2 a, and da / dx =
    1 - a^2. In addition, log_prob contains -log(std).

    Args:
        sample: Sample that `squash` returned.
        action_slope: (p, b, a) gradient of f w.r.t. the actions.
        weight: (p, 1, 1) factor of `log_prob`.

    Returns:
        (p, b, 2 a) gradient with respect to the output.
    """
    a = sample.action
    mean = torch.addcmul(action_slope, action_slope * a, a, value=-1)
    mean = mean.addcmul_(weight, a, value=2)
    log_std = (mean * sample.spread).sub_(weight).mul_(sample.free)
    return torch.cat([mean, log_std], dim=-1)
