"""Mechanisms of releases: exact noise on whole numbers.

The contributions of a user (`contributions`) are whole numbers made from that user's rows alone.
Sums over users and noise are integer arithmetic. Everything made from the stored numbers afterwards
is post-processing. `MECHANISMS` is the table of all of them.
"""

from __future__ import annotations

from typing import Any

from explorer.release.errors import ParameterError
from explorer.release.mechanisms.adaptive import AdaptiveHeatmap, AdaptivePriorHeatmap
from explorer.release.mechanisms.base import ReleaseMechanism
from explorer.release.mechanisms.counts import CellCounts, UserCount
from explorer.release.mechanisms.fields import brief
from explorer.release.mechanisms.histogram import Histogram
from explorer.release.mechanisms.levels import PaperHeatmap, PyramidHeatmap
from explorer.release.mechanisms.mean import Mean
from explorer.release.mechanisms.select import RegionSelection

MECHANISMS: dict[str, ReleaseMechanism[Any]] = {
    mechanism.id: mechanism
    for mechanism in (
        AdaptiveHeatmap(),
        AdaptivePriorHeatmap(),
        PaperHeatmap(),
        PyramidHeatmap(),
        CellCounts(),
        UserCount(),
        RegionSelection(),
        Histogram(),
        Mean(),
    )
}
"""By id, in the order in which they are offered. An id, once given, means the same for ever."""


def mechanism_of(name: str) -> ReleaseMechanism[Any]:
    """Return the mechanism of an id.

    Raises
    ------
    ParameterError
        If there is none.
    """
    if name not in MECHANISMS:
        raise ParameterError(
            "id", f"{brief(name)} is not known here", f"give one of {', '.join(MECHANISMS)}"
        )
    return MECHANISMS[name]
