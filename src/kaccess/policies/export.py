"""Policies as ONNX files, for whatever runs on the robot."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kaccess.base.files import whole_file
from kaccess.base.types import Array
from kaccess.policies.policy import Policy

__all__ = ["export_onnx"]

_OPSET = 17
_IR_VERSION = 8  # of that opset's time: runtimes refuse files newer than themselves


def export_onnx(
    policy: Policy, path: Path, metadata: Mapping[str, Any] | None = None
) -> None:
    """Write a policy as ONNX: `obs`, (n, obs), to `action`, (n, act), in its bounds.

    Args:
        policy: The policy.
        path: File to write.
        metadata: Added to the policy's own; each item becomes a property of the file,
            text as it is and the rest as JSON.

    Raises:
        ImportError: If onnx is not installed.
    """
    try:
        import onnx
        from onnx import TensorProto, helper, numpy_helper
    except ImportError as error:
        raise ImportError(
            "Writing ONNX needs onnx, which is not installed. Run "
            "`pip install 'kaccess[onnx]'`."
        ) from error
    steps, constants = _graph(policy)
    graph = helper.make_graph(
        [helper.make_node(kind, inputs, [output]) for kind, inputs, output in steps],
        "policy",
        [
            helper.make_tensor_value_info(
                "obs", TensorProto.FLOAT, ["n", policy.obs_dim]
            )
        ],
        [
            helper.make_tensor_value_info(
                "action", TensorProto.FLOAT, ["n", policy.act_dim]
            )
        ],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(
        graph,
        producer_name="kaccess",
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
    )
    helper.set_model_props(model, _texts({**policy.metadata, **(metadata or {})}))
    onnx.checker.check_model(model)
    with whole_file(path) as draft:
        draft.write_bytes(model.SerializeToString())


def _graph(policy: Policy) -> tuple[list[tuple[str, list[str], str]], dict[str, Array]]:
    """Return the steps (operator, inputs, output) and the constants they use."""
    half = np.asarray(0.5 * (policy.high - policy.low), dtype=np.float32)
    middle = np.asarray(policy.low + half, dtype=np.float32)
    constants: dict[str, Array] = {"half_range": half, "middle": middle}
    steps, x = [], "obs"
    for i, (weight, bias) in enumerate(zip(policy.weights, policy.biases, strict=True)):
        constants |= {f"weight_{i}": weight, f"bias_{i}": bias}
        steps.append(("Gemm", [x, f"weight_{i}", f"bias_{i}"], f"linear_{i}"))
        last = i == len(policy.weights) - 1
        x = f"unit_{i}"
        steps.append(("Tanh" if last else "Relu", [f"linear_{i}"], x))
    steps.append(("Mul", [x, "half_range"], "centred"))
    steps.append(("Add", ["centred", "middle"], "action"))
    return steps, constants


def _texts(metadata: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in metadata.items()
    }
