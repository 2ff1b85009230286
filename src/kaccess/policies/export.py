"""Policies as ONNX files, for other programs, such as the robot's own."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kaccess.base.files import whole_file
from kaccess.base.types import Array
from kaccess.policies.policy import Policy

if TYPE_CHECKING:
    from onnx import GraphProto, ValueInfoProto

__all__ = ["export_onnx"]

_OPSET = 17
_ACTIVATIONS, _OUTPUTS = (
    {"relu": "Relu", "elu": "Elu"},
    {"tanh": "Tanh", "clip": "Clip"},
)
_IR_VERSION = 8  # as old as the opset: runtimes refuse files newer than themselves


def export_onnx(
    policy: Policy, path: Path, metadata: Mapping[str, Any] | None = None
) -> Path:
    """Write a policy as ONNX: input `obs`, (n, obs), output `action`, (n, act).

    Args:
        policy: Policy to write.
        path: File to write; its folder is made if need be.
        metadata: Facts to add to the policy's own. Each becomes a property of the file:
            a string as it is, anything else as JSON.

    Returns:
        The file.

    Raises:
        ImportError: If onnx is not installed.
    """
    try:
        import onnx
        from onnx import helper
    except ImportError as error:
        raise ImportError(
            "Writing ONNX needs onnx, which is not installed. Run "
            "`pip install 'kaccess[onnx]'`."
        ) from error
    model = helper.make_model(
        _make_graph(policy),
        producer_name="kaccess",
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
    )
    texts = _convert_to_text({**policy.metadata, **(metadata or {})})
    helper.set_model_props(model, texts)
    onnx.checker.check_model(model)
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as draft:
        draft.write_bytes(model.SerializeToString())
    return path


def _make_graph(policy: Policy) -> "GraphProto":
    from onnx import TensorProto, helper, numpy_helper

    def describe(name: str, length: int) -> "ValueInfoProto":
        shape = ["n", length]
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    steps, constants = _list_steps(policy)
    return helper.make_graph(
        [helper.make_node(kind, inputs, [output]) for kind, inputs, output in steps],
        "policy",
        [describe("obs", policy.obs_dim)],
        [describe("action", policy.act_dim)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )


def _list_steps(
    policy: Policy,
) -> tuple[list[tuple[str, list[str], str]], dict[str, Array]]:
    """Return the steps (operator, inputs, output) and the constants they use."""
    activation, output = _ACTIVATIONS[policy.activation], _OUTPUTS[policy.output]
    half = np.asarray(0.5 * (policy.high - policy.low), dtype=np.float32)
    middle = np.asarray(policy.low + half, dtype=np.float32)
    constants: dict[str, Array] = {"half_range": half, "middle": middle}
    if output == "Clip":
        constants |= {
            "least": np.array(-1, np.float32),
            "most": np.array(1, np.float32),
        }
    steps, x = [], "obs"
    for i, (weight, bias) in enumerate(zip(policy.weights, policy.biases, strict=True)):
        constants |= {f"weight_{i}": weight, f"bias_{i}": bias}
        steps.append(("Gemm", [x, f"weight_{i}", f"bias_{i}"], f"linear_{i}"))
        last = i == len(policy.weights) - 1
        kind, x, inputs = output if last else activation, f"unit_{i}", [f"linear_{i}"]
        steps.append((kind, inputs + (["least", "most"] if kind == "Clip" else []), x))
    steps.append(("Mul", [x, "half_range"], "centred"))
    steps.append(("Add", ["centred", "middle"], "action"))
    return steps, constants


def _convert_to_text(metadata: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in metadata.items()
    }
