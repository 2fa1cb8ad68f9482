"""Item-wise release: every item randomised alone, all answers shuffled."""

from explorer.studies.itemwise.study import ItemWise

__all__ = ["ItemWise"]
