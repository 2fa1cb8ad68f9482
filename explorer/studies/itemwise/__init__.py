"""Item-wise release: every item randomised, all answers shuffled, any metric space."""

from explorer.studies.itemwise.study import ItemWise

__all__ = ["ItemWise"]
