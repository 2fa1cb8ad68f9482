"""Study of the accountant of the subsampled shuffle model."""

from explorer.studies.shuffle_accountant.study import ShuffleAccountant

__all__ = ["ShuffleAccountant"]
