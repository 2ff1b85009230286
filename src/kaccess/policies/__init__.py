"""Trained policies: to act with NumPy alone, to export as ONNX, and shipped ones."""

from kaccess.policies.export import export_onnx
from kaccess.policies.policy import BEST_POLICY, LAST_POLICY, Policy

__all__ = ["BEST_POLICY", "LAST_POLICY", "Policy", "export_onnx"]
