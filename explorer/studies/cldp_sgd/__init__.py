"""Study of private learning with shuffled gradients (CLDP-SGD)."""

from explorer.studies.cldp_sgd.study import CldpSgd

__all__ = ["CldpSgd"]
