"""Metric DP for users: the parameter α from the changes that must be protected."""

from explorer.studies.choose_alpha.study import ChooseAlpha

__all__ = ["ChooseAlpha"]
