"""One module a room of mathematics, each with ADAPTERS: vector function name → callable.

An adapter takes a vector's arguments by name and returns a number, a string, a list or array, or
a dict of these (keys that the vector does not mention are ignored). Where a minimiser may
differ without being wrong, it returns `tests.vectors.Argmin`. Modules are found by themselves:
adding one here is all there is to do.
"""
