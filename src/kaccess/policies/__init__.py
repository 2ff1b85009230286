"""Policies as files: NumPy arrays that need no torch, ONNX, and those we ship."""

from kaccess.policies.export import export_onnx
from kaccess.policies.policy import BEST_POLICY, LAST_POLICY, Policy

__all__ = ["BEST_POLICY", "LAST_POLICY", "Policy", "export_onnx"]
