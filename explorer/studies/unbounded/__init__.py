"""Data sets of any size: drawn down to one size, and what that promises over distance."""

from explorer.studies.unbounded.study import Unbounded

__all__ = ["Unbounded"]
