"""User-level metric differential privacy under the earth mover's distance.

Imola, Roy Chowdhury and Chaudhuri, *Metric Differential Privacy at the User-Level* (2024): a user's
whole dataset is protected, and the better the less of it moves and the shorter its way. α is the
parameter per normalised distance of a user's data, α₀ that of one item, ε a pure number. Datasets
of equal public size m are *bounded*; `reduction` takes datasets of any size to these.

Calibrate with `group_alpha0` (exact hops) and not with the paper's equations (6) and (7), which are
`closed_form` and wrong by factors either way (errata user-A1 to user-A8).
"""

from explorer.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__spec__)
