"""Data sets of any size: the reduction to s draws, and group privacy over distance."""

from explorer.studies.unbounded.study import Unbounded

__all__ = ["Unbounded"]
