"""Metric DP for users: from what must be protected, and how well, to the parameter α."""

from explorer.studies.choose_alpha.study import ChooseAlpha

__all__ = ["ChooseAlpha"]
