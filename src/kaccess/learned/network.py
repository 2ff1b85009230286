"""The networks of an ensemble, side by side: a leading axis counts the members.

The first layer adds what source and goal contribute, so that it is computed once for
each pose and not for each pair.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional

__all__ = ["Parameters", "combine", "describe_shapes", "draw_parameters", "enter"]

Parameters = dict[str, Tensor]
"""Weights and biases of all members, by name."""


def describe_shapes(
    members: int, inputs: int, width: int, layers: int, outputs: int
) -> dict[str, tuple[int, ...]]:
    """Return the shapes of all parameters by name."""
    shapes: dict[str, tuple[int, ...]] = {
        "source": (members, inputs, width),
        "goal": (members, inputs, width),
        "enter": (members, 1, width),
    }
    for layer in range(1, layers):
        shapes[f"weight_{layer}"] = (members, width, width)
        shapes[f"bias_{layer}"] = (members, 1, width)
    last = {"weight_out": (members, width, outputs), "bias_out": (members, 1, outputs)}
    return shapes | last


def draw_parameters(
    shapes: dict[str, tuple[int, ...]], random: torch.Generator
) -> Parameters:
    """Draw the parameters that training begins with."""
    parameters = {}
    for name, shape in shapes.items():
        fan_in = shape[1] if shape[1] > 1 else shape[2]
        values = torch.rand(shape, generator=random) * 2 - 1
        parameters[name] = values / math.sqrt(fan_in)
    return parameters


def enter(
    parameters: Parameters, source: Tensor, goal: Tensor
) -> tuple[Tensor, Tensor]:
    """Return what sources and goals, (m or 1, b, inputs), add to the first layer."""
    members = len(parameters["source"])
    source, goal = (each.expand(members, -1, -1) for each in (source, goal))
    return (
        torch.baddbmm(parameters["enter"], source, parameters["source"]),
        torch.bmm(goal, parameters["goal"]),
    )


def combine(parameters: Parameters, first: Tensor) -> Tensor:
    """Return the outputs, (m, b, outputs), from the sums of the first layer."""
    hidden, layer = functional.silu(first), 1
    while f"weight_{layer}" in parameters:
        weight, bias = parameters[f"weight_{layer}"], parameters[f"bias_{layer}"]
        hidden = functional.silu(torch.baddbmm(bias, hidden, weight))
        layer += 1
    return torch.baddbmm(parameters["bias_out"], hidden, parameters["weight_out"])
