"""Requests to studies: complete, hashable questions, and the origins of private choices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

from explorer.geography.region import Region
from explorer.studies.base.parameters import PLANE, Fidelity, Sweep, Value


class Origin(StrEnum):
    """Origin of a choice that must not depend on the data; later members are worse."""

    PUBLIC = "public"
    """A constant of the program, a sample or a paper."""
    TYPED = "typed"
    """Typed by the user, who must vouch that it does not depend on the check-ins."""
    STAND_IN = "stand-in"
    """Found on other people's check-ins; whoever took it must vouch that they have nothing to do
    with these."""
    THEORY = "theory"
    """By proved bounds, for a number of users that was assumed: to be vouched for as that is."""
    UNKNOWN = "unknown"
    """No origin is recorded."""
    DRAWN = "drawn"
    """Drawn on the map, or dragged while the map follows, over the check-ins."""
    BUSIEST = "busiest"
    """Picked from cells with most check-ins."""
    FIRST = "first"
    """Found by the program where check-ins are densest."""
    EXTENT = "extent"
    """The extent of the check-ins, found by the program."""
    JUDGED = "judged"
    """Found by comparing maps of the check-ins with the true one."""

    @property
    def independent(self) -> bool | None:
        """Whether the choice is independent of the data; None where only the user can know."""
        if self is Origin.PUBLIC:
            return True
        return None if self in (*_CHOSEN, Origin.UNKNOWN) else False

    @property
    def may_be_told(self) -> bool:
        """Whether the choice may appear in public output."""
        return self is Origin.PUBLIC or self in _CHOSEN


_CHOSEN = (Origin.TYPED, Origin.STAND_IN, Origin.THEORY)
"""Somebody's choices that need not have to do with the data."""
Origins = tuple[Origin, Origin, Origin, Origin]
"""Of south, west, north and east."""


def all_sides(origin: Origin) -> Origins:
    """Return the origins of a region that came as a whole."""
    return (origin, origin, origin, origin)


def worst(origins: Iterable[Origin]) -> Origin:
    """Return the origin that reveals most about the data."""
    return max(origins, key=list(Origin).index)


class Unit(StrEnum):
    """The privacy unit: what counts as one person and is protected as a whole."""

    USER = "user"
    """All rows with one value of the user column."""
    ROW = "row"
    """Every row by itself; only of files without a user column, as the next."""
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Selection:
    """Which part of the loaded check-ins a request is about.

    Attributes
    ----------
    data : str
        sha256 of the data file (its fingerprint), never a path.
    region : Region
    start, end : str or None
        ISO 8601 UTC instants; rows with start ≤ time < end are used. None is unbounded.
    users : int or None
        How many users to sample at most, by the hash of their ids; None uses all.
    data_seed : int
        Seed of that sample.
    share : float or None
        Which share of the users to sample in place of a number, above 0 and at most 1; the
        decimal number it is written as.
    region_from : tuple of four Origin
        Where south, west, north and east came from.
    time_from, n0_from : Origin
        Where the time range (if there is one) and the assumed number of users came from.
    image : str or None
        Which picture's points, in a file that has some of several; None uses all.
    epsilon_from : Origin
        Where ε came from. Once it was found on the check-ins it stays so while it is moved by hand:
        who moved it has seen the errors.
    settings_from : Origin
        The same of mechanism, number of users and all other settings together.
    unit : Unit
        The privacy unit that the data set is opened with.

    Raises
    ------
    ValueError
        If the share is out of range, or given beside a number.
    """

    data: str
    region: Region
    start: str | None = None
    end: str | None = None
    users: int | None = None
    data_seed: int = 0
    share: float | None = None
    region_from: Origins = (Origin.UNKNOWN,) * 4
    time_from: Origin = Origin.UNKNOWN
    n0_from: Origin = Origin.TYPED
    epsilon_from: Origin = Origin.TYPED
    settings_from: Origin = Origin.TYPED
    image: str | None = None
    unit: Unit = Unit.USER

    def __post_init__(self) -> None:
        if self.share is not None:
            if not 0 < self.share <= 1:
                raise ValueError(f"share: {self.share:g} is not above 0 and at most 1")
            if self.users is not None:
                raise ValueError("users, share: choose one of them")

    @property
    def region_origin(self) -> Origin:
        """Where the region came from: the worst of its sides."""
        return worst(self.region_from)

    @property
    def time_origin(self) -> Origin:
        """Where the time range came from; all times are nobody's choice."""
        return Origin.PUBLIC if self.start is self.end is None else self.time_from

    @property
    def judged(self) -> bool:
        """Whether ε or another setting was found by comparing maps of the check-ins."""
        return False in (self.epsilon_from.independent, self.settings_from.independent)

    @property
    def sampled(self) -> bool:
        """Whether a sample of the users is used."""
        return self.users is not None or self.share is not None

    @property
    def exact_share(self) -> Fraction | None:
        """The share as the decimal number it is written as."""
        return None if self.share is None else Fraction(repr(self.share))

    @property
    def rows(self) -> Selection:
        """The selection without origins: the cache key of its rows."""
        plain = Origin.UNKNOWN
        return replace(
            self,
            region_from=all_sides(plain),
            time_from=plain,
            n0_from=plain,
            epsilon_from=plain,
            settings_from=plain,
        )


@dataclass(frozen=True, slots=True)
class Request:
    """A question, complete and hashable: the same request always has the same answer.

    Attributes
    ----------
    study : str
        Id of the study.
    values : tuple of (key, value)
        Every parameter of the study, in declaration order.
    quantity : str
        Key of the quantity on the y axis; empty for studies without axes.
    sweep : Sweep or None
        What is on the x axis.
    selection : Selection or None
        Which check-ins, for studies that need them.
    seed : int
        Seed of demonstration noise and simulation.
    fidelity : Fidelity
        The best answer wanted.
    """

    study: str
    values: tuple[tuple[str, Value], ...]
    quantity: str = ""
    sweep: Sweep | None = None
    selection: Selection | None = None
    seed: int = 0
    fidelity: Fidelity = Fidelity.FULL

    def __getitem__(self, key: str) -> Any:
        for name, value in self.values:
            if name == key:
                return value
        raise KeyError(key)

    @property
    def unit_values(self) -> dict[str, Value]:
        """Values for `with_unit`: all, and the unit of a plane that is not the Earth."""
        region = None if self.selection is None else self.selection.region
        of_plane = {} if region is None or region.plane is None else {PLANE: region.unit}
        return dict(self.values) | of_plane

    def with_value(self, key: str, value: Value) -> Request:
        """Return this request with one parameter changed."""
        return replace(self, values=tuple((k, value if k == key else v) for k, v in self.values))
