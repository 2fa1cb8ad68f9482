"""The adaptive quadtree of a release, on whole numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from explorer.privacy.heatmaps.adaptive_quadtree import (
    adaptive_tree_exact,
    fit_adaptive,
    fresh_noise,
    tree_of_readings,
)
from explorer.privacy.heatmaps.budget_schedule import (
    SHARE,
    START,
    ExactBudgets,
    adaptive_budgets_exact,
    check_threshold,
    measured_levels,
)
from explorer.privacy.heatmaps.integers import RESOLUTION
from explorer.privacy.noise.exact import discrete_laplace
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
)
from explorer.release.mechanisms.contributions import MAX_UNITS, heatmap_counts
from explorer.release.mechanisms.fields import AREA_FIELDS, Area, Fields, epsilon_units, text_of

MAX_SIDE = 1024


@dataclass(frozen=True, slots=True)
class AdaptiveParameters:
    """Parsed parameters: ρ is the share, τ the threshold, B the units, Δ = 2^level."""

    area: Area
    level: int
    start: int
    last: int
    share: Fraction
    threshold: Fraction
    units: int

    def as_parameters(self) -> dict[str, Plain]:
        """Return the parameters as in a certificate."""
        return self.area.as_parameters() | {
            "side": 1 << self.level,
            "start_level": self.start,
            "last_level": self.last,
            "share": text_of(self.share),
            "threshold": text_of(self.threshold),
            "units": self.units,
        }


class AdaptiveHeatmap(ReleaseMechanism[AdaptiveParameters]):
    """Heatmap on an adaptive quadtree, finer where there are many users.

    Privacy
    -------
    Each user's rows in the box become whole numbers z ≥ 0 of cells, with the total B (or 0 without
    a row), by cumulative floors of their own rows. Fix all noisy numbers. Which cells are read with
    which budgets is a function of them and of public parameters. A reading of cell c with budget b
    adds discrete Laplace noise of scale B/b, fresh for every cell and draw, so that it changes the
    log-likelihood by at most b·z(c)/B. Along every path down the tree of readings the budgets add
    up to E·2⁻⁴⁰ exactly (to ε, if a single level is read): a split cell spends e_i and hands on
    r_{i+1} = r_i − e_i, one that is not split spends e_i + r_{i+1}, the deepest level all that is
    left. The tree's leaves m partition the box and z(c) = Σ_{m⊆c} z(m), hence the log-ratio is at
    most Σ_m z(m)·E·2⁻⁴⁰/B ≤ E·2⁻⁴⁰ ≤ ε for adding or removing a user. Fit and smoothing are
    post-processing. The proof with its attacks is that of
    `explorer.privacy.heatmaps.adaptive_quadtree`.
    """

    id: ClassVar[str] = "heatmap.adaptive/1"
    label: ClassVar[str] = "Heatmap, adaptive quadtree"
    privacy: ClassVar[str] = (
        "One user has B units in all; on every path down the tree the readings' ε add up to ε, and "
        "noisy numbers alone decide what is read."
    )

    def parse(self, parameters: Mapping[str, Any]) -> AdaptiveParameters:
        """Parse parameters; the threshold must make trees without users die out."""
        own = (*AREA_FIELDS, "side", "start_level", "last_level", "share", "threshold", "units")
        fields = Fields(self.id, parameters, own)
        level = fields.side(MAX_SIDE)
        start, last = measured_levels(
            level,
            fields.whole("start_level", START, 0, 6),
            fields.whole("last_level", level, 0, 30),
        )
        return AdaptiveParameters(
            Area.of(fields, needs_box=True),
            level,
            start,
            last,
            fields.fraction("share", text_of(SHARE), Fraction(0), Fraction(1)),
            fields.fraction("threshold", "10/1", Fraction(0), Fraction(10**6)),
            fields.whole("units", RESOLUTION, 1, MAX_UNITS),
        )

    def reads(self, p: AdaptiveParameters) -> Reads:
        """Return coordinates, and times if there is a range."""
        return p.area.reads()

    def parts(self, p: AdaptiveParameters, epsilon: Fraction) -> tuple[Part, ...]:
        """Return the first readings of the levels; on every path their ε add up to ε.

        In a cell that is not split, a second reading spends the ε of the finer levels.
        """
        budgets = self.budgets(p, epsilon)
        return tuple(
            Part(f"counts in cells of level {level}", budgets.of(level, 0), p.units)
            for level in range(p.start, p.last + 1)
        )

    def budgets(self, p: AdaptiveParameters, epsilon: Fraction) -> ExactBudgets:
        """Return the ε that each level spends and passes on."""
        try:
            result = adaptive_budgets_exact(epsilon_units(epsilon) * UNIT, p.start, p.last, p.share)
            if p.start == p.last:  # nothing is split
                result = replace(result, spent=(1,), left=(1,), unit=Fraction(epsilon))
            check_threshold(float(p.threshold), result.rounded())
        except ParameterError:
            raise
        except ValueError as error:
            field, _, text = str(error).partition(": ")
            problem, _, remedy = text.partition("; ")
            raise ParameterError(field, problem, remedy) from None
        return result

    def max_numbers(self, p: AdaptiveParameters, epsilon: Fraction) -> int:
        """Return the number of stored integers if every cell is split."""
        return 4 * 2 * sum(1 << 2 * level for level in range(p.start, p.last + 1))

    def draw(
        self,
        records: UserRecords,
        p: AdaptiveParameters,
        epsilon: Fraction,
        random_bytes: RandomBytes,
    ) -> Output:
        """Read the tree; stored is [level, Morton code, draw, noisy number] of every reading."""
        budgets = self.budgets(p, epsilon)
        counts = heatmap_counts(records, p.area, p.level, p.units)
        noise = fresh_noise(discrete_laplace, bits_of(random_bytes))
        result = adaptive_tree_exact(counts, budgets, noise, float(p.threshold))
        return Output({"readings": [list(one) for one in result.noisy]}, (len(result.noisy), 4))

    def expected_error(self, p: AdaptiveParameters, epsilon: Fraction) -> list[dict[str, Any]]:
        """Return the errors of single readings, in users."""
        budgets = self.budgets(p, epsilon)
        result = []
        for level in range(p.start, p.last + 1):
            for draw, name in enumerate(("first", "second") if level < p.last else ("only",)):
                quantity = f"number of users in a cell of level {level} ({name} reading)"
                result.append(noise_error(quantity, budgets.of(level, draw), p.units, p.units))
        return result

    def shown(self, output: Mapping[str, Any], p: AdaptiveParameters, epsilon: Fraction) -> Shown:
        """Return the map fitted to the readings, smoothed inside unsplit cells."""
        readings = [(level, cell, draw, value) for level, cell, draw, value in output["readings"]]
        tree = tree_of_readings(readings, self.budgets(p, epsilon), p.units)
        result = fit_adaptive(tree, p.level)
        return Shown(
            result.smooth(),
            result.total,
            steps=(
                "A map is fitted to all noisy counts of the tree by weighted least squares, and "
                "replaced by the nearest map without negative values.",
                "It is divided by its total, and smoothed by moving averages inside the cells that "
                "were not split.",
            ),
        )
