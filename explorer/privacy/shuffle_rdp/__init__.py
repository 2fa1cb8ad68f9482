"""Rényi DP of the subsampled shuffle model (Girgis, Data & Diggavi)."""

from explorer.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__spec__)
