"""Means of bounded columns over users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from explorer.privacy.heatmaps.integers import RESOLUTION
from explorer.privacy.releases.means import DECIMAL_PLACES, exact_decimal, mean_from_noisy
from explorer.release.errors import ParameterError
from explorer.release.mechanisms.base import (
    UNIT,
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
from explorer.release.mechanisms.contributions import MAX_UNITS, mean_sums
from explorer.release.mechanisms.fields import (
    AREA_FIELDS,
    Area,
    Fields,
    brief,
    epsilon_units,
    text_of,
)

MAX_COLUMNS = 100


@dataclass(frozen=True, slots=True)
class MeanParameters:
    """Parsed parameters.

    Attributes
    ----------
    area : Area
    columns : tuple of str
    low, high : tuple of str
        Public bounds of each column as typed; values beyond count as the bound.
    count_share : Fraction
        Of ε, for the number of users.
    units : int
        B.
    """

    area: Area
    columns: tuple[str, ...]
    low: tuple[str, ...]
    high: tuple[str, ...]
    count_share: Fraction
    units: int

    def bounds(self) -> list[tuple[Fraction, Fraction]]:
        """Return the bounds of each column."""
        return [
            (exact_decimal("low", low), exact_decimal("high", high))
            for low, high in zip(self.low, self.high, strict=True)
        ]

    def as_parameters(self) -> dict[str, Plain]:
        """Return the parameters as in a certificate."""
        return self.area.as_parameters() | {
            "value_columns": list(self.columns),
            "low": list(self.low),
            "high": list(self.high),
            "count_share": text_of(self.count_share),
            "units": self.units,
        }


class Mean(ReleaseMechanism[MeanParameters]):
    """Means of columns between public bounds, in which every user has the same weight.

    Privacy
    -------
    A user's K ≥ 1 rows that are readable in all d columns become y = ⌊B·Σ(clip x − a)/(K(b − a))⌋
    in 0…B and t = 2y − B for every column, in exact decimals: each sum of t moves by at most B, the
    number of users by 1. Discrete Laplace noise of scale B/ε_S and 1/ε_N makes these ε_S- and
    ε_N-DP for adding or removing a user; d·ε_S + ε_N add up. The mean is post-processing.
    """

    id: ClassVar[str] = "mean/1"
    label: ClassVar[str] = "Mean of columns"
    privacy: ClassVar[str] = (
        "One user changes each column's sum by at most B units and the number of people by 1; the "
        "ε of all add up."
    )

    def parse(self, parameters: Mapping[str, Any]) -> MeanParameters:
        """Parse parameters."""
        own = (*AREA_FIELDS, "value_columns", "low", "high", "count_share", "units")
        fields = Fields(self.id, parameters, own)
        columns = fields.columns("value_columns")
        if len(columns) > MAX_COLUMNS:
            raise ParameterError("value_columns", "are too many", f"give at most {MAX_COLUMNS}")
        low, high = (fields.decimals(name, len(columns)) for name in ("low", "high"))
        for column, (_, least), (b, most) in zip(columns, low, high, strict=True):
            if not least < most:
                raise ParameterError(
                    "high", f"{brief(b)} of {brief(column)} is not above low", "give more"
                )
        return MeanParameters(
            Area.of(fields, needs_box=False),
            columns,
            tuple(text for text, _ in low),
            tuple(text for text, _ in high),
            fields.fraction("count_share", "1/5", Fraction(0), Fraction(1)),
            fields.whole("units", RESOLUTION, 1, MAX_UNITS),
        )

    def reads(self, p: MeanParameters) -> Reads:
        """Return the value columns and those of box and time range."""
        return p.area.reads(*p.columns, numbers=True)

    def parts(self, p: MeanParameters, epsilon: Fraction) -> tuple[Part, ...]:
        """Return the columns' sums and the number of users."""
        whole = epsilon_units(epsilon)
        users = whole * p.count_share.numerator // p.count_share.denominator
        each = (whole - users) // len(p.columns)
        users = whole - each * len(p.columns)
        if min(users, each) < 1:
            raise ParameterError("epsilon", "a part would get less than 2^-40", "give more")
        sums = (Part(f"sum of column {name}", each * UNIT, p.units) for name in p.columns)
        return (*sums, Part("count of users", users * UNIT, 1))

    def max_numbers(self, p: MeanParameters, epsilon: Fraction) -> int:
        """Return the number of stored integers."""
        return len(p.columns) + 1

    def draw(
        self, records: UserRecords, p: MeanParameters, epsilon: Fraction, random_bytes: RandomBytes
    ) -> Output:
        """Draw and store the noisy centred sums S and the noisy number of users N."""
        *sums, count = self.parts(p, epsilon)
        bits = bits_of(random_bytes)
        scale = 10**DECIMAL_PLACES
        bounds = [(int(low * scale), int(high * scale)) for low, high in p.bounds()]
        totals, users = mean_sums(records, p.area, p.columns, bounds, p.units)
        result = noisy(totals, p.units, sums[0].epsilon, bits)
        (noisy_users,) = noisy(users, 1, count.epsilon, bits)
        stored = {"centred_sums": result, "noisy_users": noisy_users}
        return Output(stored, (len(result) + 1,))

    def expected_error(self, p: MeanParameters, epsilon: Fraction) -> list[dict[str, Any]]:
        """Return the errors of the sums, in users, and of the number of users.

        A sum's error divided by the number of users is the mean's, in halves of high − low.
        """
        *sums, count = self.parts(p, epsilon)
        return [
            *(
                noise_error(
                    f"sum (−1 to 1 per user) of column {name}", part.epsilon, p.units, p.units
                )
                for name, part in zip(p.columns, sums, strict=True)
            ),
            noise_error("number of users", count.epsilon, 1),
        ]

    def shown(self, output: Mapping[str, Any], p: MeanParameters, epsilon: Fraction) -> Shown:
        """Return the means and the number of users."""
        users = output["noisy_users"]
        means = [
            (name, float(mean_from_noisy(total, users, low, high, p.units)))
            for name, total, (low, high) in zip(
                p.columns, output["centred_sums"], p.bounds(), strict=True
            )
        ]
        return Shown(
            table=(
                *((f"Mean of {name}", value) for name, value in means),
                ("People", float(users)),
            ),
            steps=(
                "The mean of a column with lower bound a and upper bound b is "
                f"a + (b − a)(1/2 + S/(2B·max(N, 1))) with B = {p.units}, limited to the range "
                "from a to b: S is the noisy sum of the column, N the noisy number of users.",
            ),
        )
