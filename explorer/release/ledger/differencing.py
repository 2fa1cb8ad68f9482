"""What a new release shares with earlier ones: information, as the sum covers the risk.

From two nested releases anybody can subtract one from the other; what then describes the part
between is protected by the total ε, and by nothing more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from explorer.release.errors import ParameterError
from explorer.release.ledger.accounts import Release
from explorer.release.mechanisms.area import WHERE, Area
from explorer.release.mechanisms.fields import Fields
from explorer.user_rows import TURN


@dataclass(frozen=True)
class Overlap:
    """How a new release lies to an earlier one.

    Attributes
    ----------
    release : Release
        The earlier one.
    area, time : Fraction or None
        The share of the new one's box, in square degrees, and of its time, that they have in
        common; None where the new one has no end and the earlier one has.
    nested : bool
        Whether one lies within the other, in place and in time.
    between : Fraction or None
        Of nested ones that are not equal: the share of the larger that is not in the smaller; None
        where the larger has no end.
    total : Fraction
        ε of both.
    """

    release: Release
    area: Fraction | None
    time: Fraction | None
    nested: bool
    between: Fraction | None
    total: Fraction

    @property
    def sentence(self) -> str:
        """What the curator is told."""
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
"""From and to, each None without an end."""

_TURNS = (0, TURN, 0)
"""What latitudes, longitudes and times that are the same differ by."""


def overlaps(
    parameters: Mapping[str, Any], epsilon: Fraction, earlier: Iterable[Release]
) -> list[Overlap]:
    """Compare a new release with earlier ones about the same people that share something with it.

    Parameters
    ----------
    parameters : mapping
        The new one's; ``box``, ``start`` and ``end`` count.
    epsilon : Fraction
        Its price.
    earlier : iterable of Release
        Those whose parameters are not known are left out.
    """
    mine = _spans(parameters)
    found = []
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
        found.append(Overlap(release, area, time, inside or around, between, total))
    return found


def _spans(parameters: Mapping[str, Any]) -> tuple[Span, Span, Span] | None:
    """Return latitudes, longitudes and times; None where they can't be read."""
    given = {name: parameters[name] for name in WHERE if name in parameters}
    try:
        area = Area.of(Fields("this release", given, WHERE), needs_box=False)
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
    """Return how much of a span another covers; None of one without an end.

    With a `turn` numbers that differ by it are one longitude.
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
    """Return the length that two spans have in common, the other moved; 0 or less if none."""
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
