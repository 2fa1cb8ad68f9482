"""Metric spaces, normalised to diameter at most 1, and the earth mover's distance on each."""

from explorer.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__spec__)
