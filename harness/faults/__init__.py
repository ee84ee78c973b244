"""Every fault, one file each: a new fault is one new file and its test."""

from harness.faults.base import FAULTS, FaultModel, Proof, Stage

__all__ = ["FAULTS", "FaultModel", "Proof", "Stage"]
