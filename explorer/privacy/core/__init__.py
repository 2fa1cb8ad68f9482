"""Shared foundations of `privacy`: bounds, argument checks, divergences, sums and roots."""
