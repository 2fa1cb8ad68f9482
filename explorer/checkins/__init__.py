"""Reads check-in files and provides validated rows and counts per user and grid cell.

Names are imported on first use.
"""

from explorer.lazy import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__spec__)
