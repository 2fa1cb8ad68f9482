"""Histogram of a column over users of equal weight."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

from explorer.privacy.heatmaps.integers import RESOLUTION
from explorer.privacy.releases.means import exact_decimal, read_decimal
from explorer.release.errors import ParameterError
from explorer.release.mechanisms.base import (
    Output,
    Part,
    Plain,
    RandomBytes,
    Reads,
    ReleaseMechanism,
    Shown,
    UserRecords,
    bits_of,
    noise_error,
    noisy,
)
from explorer.release.mechanisms.contributions import MAX_UNITS, bin_counts
from explorer.release.mechanisms.fields import (
    AREA_FIELDS,
    NO_TEXTS,
    Area,
    Fields,
    brief,
    single_part,
)


@dataclass(frozen=True, slots=True)
class HistogramParameters:
    """Parsed parameters. Bins are texts or intervals; the last bin is everything else.

    Attributes
    ----------
    area : Area
    column : str
    values : tuple of str
        Texts with a bin each; empty if there are edges.
    edges : tuple of str
        Increasing decimals as typed. Bins include their lower edge, the last one also the upper.
    units : int
        B.
    """

    area: Area
    column: str
    values: tuple[str, ...]
    edges: tuple[str, ...]
    units: int

    @property
    def count(self) -> int:
        """Number of bins, including that of everything else."""
        return (len(self.values) or len(self.edges) - 1) + 1

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the bins."""
        pairs = pairwise(self.edges)
        return (*(self.values or (f"{low} to {high}" for low, high in pairs)), "other")

    def sides(self) -> tuple[Fraction, ...]:
        """Return the edges."""
        return tuple(exact_decimal("edges", edge) for edge in self.edges)

    def bin_of(self) -> Callable[[str], int | None]:
        """Return the map from text to bin; it returns None for a text that is no decimal."""
        if self.values:
            places = {value: k for k, value in enumerate(self.values)}
            other = len(places)
            return lambda text: places.get(text, other)
        edges = [read_decimal(edge) for edge in self.edges]
        sides = [edge for edge in edges if edge is not None]
        other = len(sides) - 1

        def find(text: str) -> int | None:
            value = read_decimal(text)
            if value is None:
                return None
            if not sides[0] <= value <= sides[-1]:
                return other
            return min(bisect_right(sides, value) - 1, other - 1)

        return find

    def as_parameters(self) -> dict[str, Plain]:
        """Return the parameters as in a certificate."""
        bins: dict[str, Plain] = (
            {"values": list(self.values)} if self.values else {"edges": list(self.edges)}
        )
        return (
            self.area.as_parameters() | {"value_column": self.column} | bins | {"units": self.units}
        )


class Histogram(ReleaseMechanism[HistogramParameters]):
    """Histogram of a column in which every user has the same weight.

    Privacy
    -------
    A user's rows become whole numbers z ≥ 0 of bins with the total B (or 0 without a row) by
    cumulative floors of their own rows: ℓ1-sensitivity B. Discrete Laplace noise of scale B/ε on
    every bin, the one for all other values included, gives ε for adding or removing a user.
    """

    id: ClassVar[str] = "histogram/1"
    label: ClassVar[str] = "Histogram of a column"
    privacy: ClassVar[str] = "One user changes all bins together by B units."

    def parse(self, parameters: Mapping[str, Any]) -> HistogramParameters:
        """Parse parameters; either ``values`` or ``edges`` must be given."""
        own = (*AREA_FIELDS, "value_column", "values", "edges", "units")
        fields = Fields(self.id, parameters, own)
        if fields.has("values") == fields.has("edges"):
            raise ParameterError("values", "and edges are given, or neither", "give one")
        column = fields.text("value_column")
        if column in NO_TEXTS:
            raise ParameterError(
                "value_column", f"{brief(column)} is not a column of texts", "give the name of one"
            )
        values = fields.texts("values") if fields.has("values") else ()
        edges = fields.decimals("edges") if fields.has("edges") else ()
        if len(set(values)) < len(values):
            raise ParameterError("values", "are not all different", "give each once")
        sides = [value for _, value in edges]
        if edges and (len(sides) < 2 or any(high <= low for low, high in pairwise(sides))):
            raise ParameterError("edges", "do not increase", "give two or more in order")
        return HistogramParameters(
            Area.of(fields, needs_box=False),
            column,
            values,
            tuple(text for text, _ in edges),
            fields.whole("units", RESOLUTION, 1, MAX_UNITS),
        )

    def reads(self, p: HistogramParameters) -> Reads:
        """Return the value column and those of box and time range."""
        return p.area.reads(p.column, numbers=bool(p.edges))

    def parts(self, p: HistogramParameters, epsilon: Fraction) -> tuple[Part, ...]:
        """Return the single measurement."""
        return single_part("counts in bins", epsilon, p.units)

    def max_numbers(self, p: HistogramParameters, epsilon: Fraction) -> int:
        """Return the number of stored integers."""
        return p.count

    def draw(
        self,
        records: UserRecords,
        p: HistogramParameters,
        epsilon: Fraction,
        random_bytes: RandomBytes,
    ) -> Output:
        """Draw noisy counts of the bins, in units; the bin of all other values is last."""
        counts = bin_counts(records, p.area, p.column, p.bin_of(), p.count, p.units)
        result = noisy(counts, p.units, epsilon, bits_of(random_bytes))
        return Output({"bins": result}, (p.count,))

    def expected_error(self, p: HistogramParameters, epsilon: Fraction) -> list[dict[str, Any]]:
        """Return the error of a bin, in users."""
        return [noise_error("number of users in a bin", epsilon, p.units, p.units)]

    def shown(self, output: Mapping[str, Any], p: HistogramParameters, epsilon: Fraction) -> Shown:
        """Return the bins in users."""
        values = (value / p.units for value in output["bins"])
        return Shown(
            table=tuple(zip(p.names, values, strict=True)),
            steps=(f"The noisy counts are divided by {p.units}, the weight of one user.",),
        )
