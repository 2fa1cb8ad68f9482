"""The accountant of the subsampled shuffle model as a study."""

from explorer.studies.shuffle_accountant.study import ShuffleAccountant

__all__ = ["ShuffleAccountant"]
