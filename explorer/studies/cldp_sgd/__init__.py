"""CLDP-SGD: privacy, convergence and accuracy of learning from shuffled, randomised gradients."""

from explorer.studies.cldp_sgd.study import CldpSgd

__all__ = ["CldpSgd"]
