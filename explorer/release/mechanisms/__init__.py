"""What may leave: mechanisms whose stored output is whole numbers with exact noise.

A *user map* turns all rows of one user into whole numbers; what mixes users and adds noise is
integer arithmetic; what is made of the stored numbers afterwards is free.
"""

from explorer.release.mechanisms.table import MECHANISMS, mechanism_of

__all__ = ["MECHANISMS", "mechanism_of"]
