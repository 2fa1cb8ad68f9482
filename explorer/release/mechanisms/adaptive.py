"""The adaptive quadtree of a release, on whole numbers, alone and with public priors.

Both mechanisms draw alike; they differ in the map that is made of the stored numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps.adaptive_quadtree import (
    AdaptiveTree,
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
from explorer.privacy.heatmaps.public_prior import prior_densities, prior_map
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
from explorer.release.mechanisms.fields import (
    AREA_FIELDS,
    Area,
    Fields,
    brief,
    epsilon_units,
    text_of,
)
from explorer.release.rounding import rounded_up

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


CHECKINS, GRID, CITIES, EARLIER = "checkins", "grid", "cities", "release"
MAX_LABEL = 200
"""Maximum length of a prior's label."""
MAX_PRIORS = 16
_KEYS = {
    CHECKINS: (r"[0-9a-f]{64}", "the SHA-256 of its unpacked bytes", True),
    GRID: (r"[0-9a-f]{64}", "the SHA-256 of its unpacked bytes", True),
    CITIES: (r"[0-9A-Za-z.+]{1,40}", "the version of the program with the list", False),
    EARLIER: (r"[0-9a-f]{32}", "the id of a release", False),
}
"""Kind of a prior → its key's pattern and name, and whether it has a label."""
_PATH = re.compile(r"[/~.]|[A-Za-z]:|.*\\")


@dataclass(frozen=True, slots=True)
class PriorSource:
    """Declaration of a public prior.

    Attributes
    ----------
    kind : str
        `CHECKINS` or `GRID` (files), `CITIES` (the bundled list), or `EARLIER` (a release).
    key : str
        SHA-256 of the file's unpacked bytes, version of the program, or id of the release.
    label : str
        Typed name of a file's content, never a path; "" for the others.
    """

    kind: str
    key: str
    label: str = ""

    @property
    def text(self) -> str:
        """The declaration as a parameter: kind, key and label, with colons between them."""
        return ":".join((self.kind, self.key, self.label) if self.label else (self.kind, self.key))

    @property
    def name(self) -> str:
        """The label, or a description of what has none."""
        described = {CITIES: f"the cities of Privacy Explorer {self.key}"}
        return self.label or described.get(self.kind, f"release {self.key}")

    @classmethod
    def parse(cls, text: str) -> PriorSource:
        """Parse a declaration.

        Raises
        ------
        ParameterError
            Naming the problem and a remedy.
        """
        kind, _, rest = text.partition(":")
        key, _, label = rest.partition(":")
        if kind not in _KEYS:
            raise ParameterError(
                "priors",
                f"{brief(text)} is not a public map",
                f"begin with one of {', '.join(f'{kind}:' for kind in _KEYS)}",
            )
        pattern, meaning, labelled = _KEYS[kind]
        if not re.fullmatch(pattern, key, re.ASCII):
            raise ParameterError(
                "priors", f"{brief(text)} has no valid key", f"give {meaning} after {kind}:"
            )
        if labelled and (
            not label.strip()
            or len(label) > MAX_LABEL
            or not label.isprintable()
            or _PATH.match(label)
        ):
            raise ParameterError(
                "priors",
                f"the name {brief(label)} of {kind}:{key[:8]}… cannot be named in a certificate",
                f"give a name of 1 to {MAX_LABEL} characters that is not a path",
            )
        if label and not labelled:
            raise ParameterError("priors", f"{brief(text)} has a name", f"leave it out of {kind}:")
        return cls(kind, key, label)


@dataclass(frozen=True, slots=True, eq=False)
class PriorMasses:
    """What a public prior holds on the cells of a map.

    Attributes
    ----------
    masses : ndarray of float64, shape (2^level, 2^level)
        ≥ 0, row 0 south and column 0 west.
    content : str
        Content hash of its file (`explorer.release.content_hash`); "" without one.
    """

    masses: FloatArray
    content: str = ""


@dataclass(frozen=True, slots=True)
class AdaptivePriorParameters(AdaptiveParameters):
    """Parsed parameters with public priors.

    Attributes
    ----------
    priors : tuple of PriorSource
    given : tuple of PriorMasses, or None
        What each holds; None until it is known. It decides the map, not what is drawn, and is not
        compared.
    """

    priors: tuple[PriorSource, ...] = ()
    given: tuple[PriorMasses, ...] | None = field(default=None, compare=False, repr=False)

    def as_parameters(self) -> dict[str, Plain]:
        """Return the parameters as in a certificate."""
        # by name: super() has no class cell in a dataclass with slots
        stated = AdaptiveParameters.as_parameters(self)
        return stated | {"priors": [prior.text for prior in self.priors]}

    def with_given(self, given: tuple[PriorMasses, ...]) -> AdaptivePriorParameters:
        """Return the parameters with what all priors hold.

        Raises
        ------
        ParameterError
            If a prior can't be used, or their number is not that of the declarations.
        """
        if len(given) != len(self.priors):
            raise ParameterError(
                "priors", f"{len(given)} of {len(self.priors)} are given", "give all"
            )
        try:
            prior_densities([one.masses for one in given], self.level, self.start)
        except ValueError as error:
            raise ParameterError("priors", str(error), "choose other public maps") from None
        return replace(self, given=given)

    def known(self) -> tuple[PriorMasses, ...]:
        """Return what each prior holds.

        Raises
        ------
        ParameterError
            If it is not known.
        """
        if self.priors and self.given is None:
            names = ", ".join(f"“{prior.name}”" for prior in self.priors)
            raise ParameterError(
                "priors", f"what the public maps {names} hold is not known", "give --prior for each"
            )
        return self.given or ()


def priors_in(parameters: object) -> tuple[PriorSource, ...]:
    """Return the public priors in a mechanism's parsed parameters, () for those without any."""
    return parameters.priors if isinstance(parameters, AdaptivePriorParameters) else ()


Q = TypeVar("Q", bound=AdaptiveParameters)


class _AdaptiveTree(ReleaseMechanism[Q]):
    """Tree of readings that both mechanisms draw; see `AdaptiveHeatmap` for the proof."""

    own: ClassVar[tuple[str, ...]] = (
        *AREA_FIELDS,
        "side",
        "start_level",
        "last_level",
        "share",
        "threshold",
        "units",
    )

    def of_fields(self, fields: Fields) -> AdaptiveParameters:
        """Parse the parameters of the tree; the threshold must make empty trees die out."""
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

    def reads(self, p: Q) -> Reads:
        """Return coordinates, and times if there is a range."""
        return p.area.reads()

    def parts(self, p: Q, epsilon: Fraction) -> tuple[Part, ...]:
        """Return the first readings of the levels; on every path their ε add up to ε.

        In a cell that is not split, a second reading spends the ε of the finer levels.
        """
        budgets = self.budgets(p, epsilon)
        return tuple(
            Part(f"counts in cells of level {level}", budgets.of(level, 0), p.units)
            for level in range(p.start, p.last + 1)
        )

    def budgets(self, p: Q, epsilon: Fraction) -> ExactBudgets:
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

    def max_numbers(self, p: Q, epsilon: Fraction) -> int:
        """Return the number of stored integers if every cell is split."""
        return 4 * 2 * sum(1 << 2 * level for level in range(p.start, p.last + 1))

    def draw(
        self,
        records: UserRecords,
        p: Q,
        epsilon: Fraction,
        random_bytes: RandomBytes,
    ) -> Output:
        """Read the tree; stored is [level, Morton code, draw, noisy number] of every reading."""
        budgets = self.budgets(p, epsilon)
        counts = heatmap_counts(records, p.area, p.level, p.units)
        noise = fresh_noise(discrete_laplace, bits_of(random_bytes))
        result = adaptive_tree_exact(counts, budgets, noise, float(p.threshold))
        return Output({"readings": [list(one) for one in result.noisy]}, (len(result.noisy), 4))

    def expected_error(self, p: Q, epsilon: Fraction) -> list[dict[str, Any]]:
        """Return the errors of single readings, in users."""
        budgets = self.budgets(p, epsilon)
        result = []
        for level in range(p.start, p.last + 1):
            for draw, name in enumerate(("first", "second") if level < p.last else ("only",)):
                quantity = f"number of users in a cell of level {level} ({name} reading)"
                result.append(noise_error(quantity, budgets.of(level, draw), p.units, p.units))
        return result

    def noise_table(self, p: Q, epsilon: Fraction) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return a row per level: its side, and ε and half-width of its readings.

        The second reading is that of a cell that is not split; the deepest level has one.
        """
        budgets = self.budgets(p, epsilon)
        widths = iter(self.expected_error(p, epsilon))
        rows = []
        for level in range(p.start, p.last + 1):
            cells = [str(level), f"{1 << level:,}"]
            for draw in (0, 1):
                if draw and level == p.last:
                    cells += ["–", "–"]
                    continue
                spent = rounded_up(budgets.of(level, draw))
                cells += [spent, f"{int(next(widths)['half_width']):,}"]
            rows.append(tuple(cells))
        return ("Level", "Side", "ε first", "±", "ε last", "±"), rows

    def tree(self, output: Mapping[str, Any], p: Q, epsilon: Fraction) -> AdaptiveTree:
        """Return the tree of stored readings."""
        readings = [(level, cell, draw, value) for level, cell, draw, value in output["readings"]]
        return tree_of_readings(readings, self.budgets(p, epsilon), p.units)


class AdaptiveHeatmap(_AdaptiveTree[AdaptiveParameters]):
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
        return self.of_fields(Fields(self.id, parameters, self.own))

    def shown(self, output: Mapping[str, Any], p: AdaptiveParameters, epsilon: Fraction) -> Shown:
        """Return the map fitted to the readings, smoothed inside unsplit cells."""
        result = fit_adaptive(self.tree(output, p, epsilon), p.level)
        return Shown(
            result.smooth(),
            result.total,
            steps=(
                "A map is fitted to all noisy counts of the tree by weighted least squares, and "
                "replaced by the nearest map without negative values.",
                "It is divided by its total, and smoothed by moving averages inside the cells that "
                "were not split.",
            ),
            blocks=result.flat(),
        )


class AdaptivePriorHeatmap(_AdaptiveTree[AdaptivePriorParameters]):
    """Heatmap on an adaptive quadtree, completed with public priors.

    Privacy
    -------
    The numbers are drawn as in `AdaptiveHeatmap`, by the same code, without the priors, so its
    proof holds: the stored output is ε-DP. The map is a function of the stored output and of the
    priors (`explorer.privacy.heatmaps.public_prior`), hence post-processing for every prior that is
    fixed without the data. A prior that is an earlier release of the same ledger depends on the
    data through that release alone: readings and map together are its ε plus this one's (adaptive
    composition), and both are in the sum. Nobody in a public file is protected.
    """

    own = (*_AdaptiveTree.own, "priors")
    id: ClassVar[str] = "heatmap.adaptive/2"
    label: ClassVar[str] = "Heatmap, adaptive quadtree, public priors"
    privacy: ClassVar[str] = (
        "One user has B units in all; on every path down the tree the readings' ε add up to ε, and "
        "noisy numbers alone decide what is read. Public maps change only what is made of them."
    )

    def parse(self, parameters: Mapping[str, Any]) -> AdaptivePriorParameters:
        """Parse parameters; ``priors`` is a list of declarations (`PriorSource`), empty if none."""
        fields = Fields(self.id, parameters, self.own)
        texts = (
            fields.texts("priors") if fields.has("priors") and parameters["priors"] != [] else ()
        )
        if len(texts) > MAX_PRIORS:
            raise ParameterError(
                "priors", f"has {len(texts)} entries", f"give {MAX_PRIORS} at most"
            )
        priors = tuple(map(PriorSource.parse, texts))
        if len({(prior.kind, prior.key) for prior in priors}) < len(priors):
            raise ParameterError("priors", "are not all different", "give each once")
        tree = self.of_fields(fields)
        return AdaptivePriorParameters(
            tree.area,
            tree.level,
            tree.start,
            tree.last,
            tree.share,
            tree.threshold,
            tree.units,
            priors,
        )

    def steps(
        self, output: Mapping[str, Any], p: AdaptivePriorParameters, epsilon: Fraction
    ) -> tuple[str, ...]:
        """Return the steps, which the declarations decide; the readings must be those of a tree."""
        self.tree(output, p, epsilon)
        interpolated = (
            "The noisy counts of the tree are combined by weighted least squares, made "
            "non-negative, divided by their total, and interpolated between neighbouring cells "
            "inside cells that were not split."
        )
        if not p.priors:
            return (interpolated,)
        names = ", ".join(f"“{prior.name}”" for prior in p.priors)
        mixed = (
            "On every level the noisy counts decide how far the public maps are followed inside "
            f"cells ({names}). Their weights by level stand in the exported map."
        )
        return interpolated, mixed

    def shown(
        self, output: Mapping[str, Any], p: AdaptivePriorParameters, epsilon: Fraction
    ) -> Shown:
        """Return the map of readings and priors, with the weight of all priors on every level.

        Raises
        ------
        ParameterError
            If it is not known what the priors hold.
        """
        masses = [one.masses for one in p.known()]
        tree = self.tree(output, p, epsilon)
        result = prior_map(tree, prior_densities(masses, p.level, p.start))
        return Shown(
            result.grid,
            result.total,
            steps=self.steps(output, p, epsilon),
            blocks=fit_adaptive(tree, p.level).flat(),
            prior_weights=tuple(result.prior_weights.items()) if p.priors else (),
        )
