"""Overlap of a new release with earlier ones about the same people, as information.

The difference of two nested releases describes the part between them. It is protected by the sum
of both ε, which the budget covers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from explorer.release.errors import ParameterError
from explorer.release.ledger.state import Release
from explorer.release.mechanisms.fields import AREA_FIELDS, Area, Fields
from explorer.user_rows import TURN


@dataclass(frozen=True)
class Overlap:
    """Overlap of a new release with an earlier one.

    Attributes
    ----------
    release : Release
        The earlier one.
    area, time : Fraction or None
        Shares of the new release's box (in square degrees) and time range that both cover; None
        if the new one is unbounded and the earlier one is not.
    nested : bool
        Whether one contains the other in space and time.
    between : Fraction or None
        If nested: share of the larger one outside the smaller one; None if the larger one is
        unbounded.
    total : Fraction
        Sum of both ε.
    """

    release: Release
    area: Fraction | None
    time: Fraction | None
    nested: bool
    between: Fraction | None
    total: Fraction

    @property
    def sentence(self) -> str:
        """Description for the curator."""
        name = f"Release {self.release.seq}"
        if self.nested and self.between != 0:
            part = _percent(self.between, "part")
            return (
                f"{name} and this one are nested: their difference describes the {part} between; "
                f"protected by the total ε = {self.total}."
            )
        area, time = _percent(self.area, "a part"), _percent(self.time, "a part")
        return (
            f"This one has {area} of its area and {time} of its time in common with "
            f"{name.lower()}; the total ε is {self.total}."
        )


Span = tuple[Fraction | None, Fraction | None]
"""Start and end; None where unbounded."""

_TURNS = (0, TURN, 0)
"""Periods of latitude, longitude and time; 0 if not periodic."""


def overlaps(
    parameters: Mapping[str, Any], epsilon: Fraction, earlier: Iterable[Release]
) -> list[Overlap]:
    """Return the overlaps of a new release with earlier ones about the same people.

    Parameters
    ----------
    parameters : mapping
        Of the new release; ``box``, ``start`` and ``end`` are used.
    epsilon : Fraction
        Its price.
    earlier : iterable of Release
        Those without parameters are skipped.
    """
    mine = _spans(parameters)
    shared = []
    for release in earlier:
        theirs = None if release.parameters is None else _spans(release.parameters)
        if mine is None or theirs is None:
            continue
        high, wide, time = map(_share, mine, theirs, _TURNS)
        area = None if high is None or wide is None else high * wide
        if 0 in (high, wide, time):
            continue
        inside = all(map(_within, mine, theirs, _TURNS))
        around = all(map(_within, theirs, mine, _TURNS))
        small, large = (mine, theirs) if inside else (theirs, mine)
        between = _between(small, large) if inside or around else None
        total = epsilon + release.epsilon
        shared.append(Overlap(release, area, time, inside or around, between, total))
    return shared


def _spans(parameters: Mapping[str, Any]) -> tuple[Span, Span, Span] | None:
    """Return the spans of latitude, longitude and time; None if the parameters are invalid."""
    given = {name: parameters[name] for name in AREA_FIELDS if name in parameters}
    try:
        area = Area.of(Fields("this release", given, AREA_FIELDS), needs_box=False)
    except ParameterError:
        return None
    start, end = (None if t is None else Fraction(t) for t in (area.start, area.end))
    if (box := area.edges) is None:
        return (None, None), (None, None), (start, end)
    return (
        (Fraction(box.south), Fraction(box.north)),
        (Fraction(box.west), Fraction(box.east)),
        (start, end),
    )


def _share(mine: Span, theirs: Span, turn: int) -> Fraction | None:
    """Return the share of a span that another one covers; None if the span is unbounded.

    Values that differ by `turn` are equal (longitudes).
    """
    if mine[0] is not None and mine[1] is not None and None not in theirs:
        common = sum(
            (max(_overlap(mine, theirs, by), Fraction(0)) for by in {0, turn, -turn}), Fraction(0)
        )
        return common / (mine[1] - mine[0])
    low = max((x for x in (mine[0], theirs[0]) if x is not None), default=None)
    high = min((x for x in (mine[1], theirs[1]) if x is not None), default=None)
    if low is not None and high is not None and low >= high:
        return Fraction(0)
    if _within(mine, theirs, turn):
        return Fraction(1)
    if mine[0] is None or mine[1] is None or low is None or high is None:
        return None
    return (high - low) / (mine[1] - mine[0])


def _overlap(mine: Span, theirs: Span, by: int) -> Fraction:
    """Return the length of the intersection with the other span shifted; ≤ 0 if disjoint."""
    a, b, c, d = cast("tuple[Fraction, ...]", (*mine, *theirs))
    return min(b, d + by) - max(a, c + by)


def _within(inner: Span, outer: Span, turn: int) -> bool:
    if None not in inner and None not in outer:
        return _share(inner, outer, turn) == 1
    low = outer[0] is None or (inner[0] is not None and inner[0] >= outer[0])
    high = outer[1] is None or (inner[1] is not None and inner[1] <= outer[1])
    return low and high


def _between(small: tuple[Span, ...], large: tuple[Span, ...]) -> Fraction | None:
    covered = Fraction(1)
    for inner, outer, turn in zip(small, large, _TURNS, strict=True):
        share = _share(outer, inner, turn)
        if share is None:
            return None
        covered *= share
    return 1 - covered


def _percent(share: Fraction | None, unknown: str) -> str:
    if share is None:
        return unknown
    percent = share * 100
    if percent.denominator == 1:
        return f"{percent} %"
    return "less than 1 %" if percent < 1 else f"{float(percent):.3g} %"
