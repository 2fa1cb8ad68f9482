"""Bayesian coordinate differential privacy.

Aliakbarpour, Chaudhuri, Courtade, Fallah and Jordan, *Enhancing Feature-Specific Data Protection
via Bayesian Coordinate Differential Privacy* (2024): the four notions (LDP, BDP, CDP, BCDP) with
exact levels on finite domains, certificates, M_LDP and M_mean, budget vectors, exact errors,
better allocations, and least-squares regression.

The δ_i of this package are *coordinate levels*, one privacy level a coordinate, and never the δ of
approximate differential privacy.
"""

from explorer.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__spec__)
