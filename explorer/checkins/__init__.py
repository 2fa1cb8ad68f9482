"""What is given: check-in files in, validated tables and per-user grid counts out.

Nothing is imported before it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorer.checkins.cache import CacheUse, cache_size, cache_use, clear_cache
    from explorer.checkins.data import CheckinData
    from explorer.checkins.errors import CheckinError, LoadCancelled, MappingNeeded
    from explorer.checkins.loading import open_checkins
    from explorer.checkins.model import (
        Box,
        Cell,
        Dialect,
        Example,
        Format,
        Histogram,
        LoadReport,
        Mapping,
        PointSet,
        Preview,
        Progress,
        Reason,
    )
    from explorer.checkins.sniffing import sniff

_HOME = {
    name: module
    for module, names in {
        "cache": "CacheUse cache_size cache_use clear_cache",
        "data": "CheckinData",
        "errors": "CheckinError LoadCancelled MappingNeeded",
        "loading": "open_checkins",
        "model": (
            "Box Cell Dialect Example Format Histogram LoadReport Mapping PointSet Preview "
            "Progress Reason"
        ),
        "sniffing": "sniff",
    }.items()
    for name in names.split()
}

__all__ = [
    "Box",
    "CacheUse",
    "Cell",
    "CheckinData",
    "CheckinError",
    "Dialect",
    "Example",
    "Format",
    "Histogram",
    "LoadCancelled",
    "LoadReport",
    "Mapping",
    "MappingNeeded",
    "PointSet",
    "Preview",
    "Progress",
    "Reason",
    "cache_size",
    "cache_use",
    "clear_cache",
    "open_checkins",
    "sniff",
]


def __getattr__(name: str) -> Any:
    """Import what is asked for (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
