"""What may leave: mechanisms whose stored output is whole numbers with exact noise.

A *user map* turns all rows of one user into whole numbers; what mixes users and adds noise is
integer arithmetic; what is made of the stored numbers afterwards is free.
"""
