"""What is given: check-in files in, validated tables and per-user grid counts out."""

from explorer.checkins.cache import cache_size, clear_cache
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

__all__ = [
    "Box",
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
    "clear_cache",
    "open_checkins",
    "sniff",
]
