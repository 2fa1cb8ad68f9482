"""Curves over a grid of parameters: small multiples and one table."""
