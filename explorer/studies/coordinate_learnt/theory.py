"""The small domain, its levels by brute force, beliefs after a report, and their sources."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from explorer.privacy import coordinates as co
from explorer.privacy.core.bound import COORDINATES as PAPER, FloatArray, Reference
from explorer.studies.base.parameters import table_rows
from explorer.studies.coordinate_learnt.domain_tables import DomainTables, kernel_of

LDP = Reference(PAPER, "Definition 1", "by brute force")
BDP = Reference(PAPER, "Definition 2 and Proposition 1", "by brute force over inputs of mass > 0")
CDP = Reference(PAPER, "Definition 3", "by brute force over the whole product domain")
BCDP = Reference(
    PAPER, "Definition 4", "by brute force; suprema over events are over single values"
)
THEOREM_1 = Reference(PAPER, "Theorem 1", "both hypotheses' roles; errata coord-A6, coord-C5")
NEYMAN_PEARSON = Reference("Neyman and Pearson 1933", "most powerful tests")
BAYES = Reference(PAPER, "Definition 4", "Bayes' rule on the exact conditional laws")
CERTIFICATE = Reference(PAPER, "Proposition 4, sharpened", "log((1−q)e^c + q·e^L)")
PART_1 = Reference(PAPER, "Proposition 4, part 1", "the sum is over coordinates; errata coord-A6")
PART_2 = Reference(PAPER, "Proposition 4, part 2")
EXAMPLE_1_SOURCE = Reference(
    PAPER, "Example 1", "finite only if not b=c=1 and not a=b=1; errata coord-A5"
)
EXAMPLE_2_SOURCE = Reference(PAPER, "Example 2")
CHANCE = Reference(PAPER, "Section 3.1", "a test that ignores the report")
FIGURE_1 = Reference(PAPER, "Figure 1", "arrows with their levels at this domain")
PROPOSITION_5 = Reference(PAPER, "Proposition 5", "post-processing, by brute force")
REFERENCES = (
    BCDP,
    LDP,
    CDP,
    BDP,
    THEOREM_1,
    CERTIFICATE,
    EXAMPLE_1_SOURCE,
    EXAMPLE_2_SOURCE,
    FIGURE_1,
    PROPOSITION_5,
)


TABLE, EXAMPLE_2, M_MEAN, OWN = "table", "example2", "m_mean", "own"
"""Mechanisms."""
_BIT = ("0", "1")
_MAX_ENTRIES = 2_000_000
MAX_DRAWN_OUTPUTS = 4
"""Reports whose beliefs are drawn one by one."""


@dataclass(frozen=True)
class Domain:
    """Finite domain: its prior and its channel.

    Attributes
    ----------
    values : tuple of tuple of str
        Values of each coordinate.
    prior : ndarray of shape (points,)
        The last coordinate runs fastest.
    channel : ndarray of shape (points, outputs)
        P(y | x) of one report.
    copies : int
        Number of independent reports.
    outputs : tuple of str
        Values of one report.
    records : int
        Number of public records that the prior was counted from; 0 if it is given.
    """

    values: tuple[tuple[str, ...], ...]
    prior: FloatArray
    channel: FloatArray
    copies: int
    outputs: tuple[str, ...]
    records: int = 0

    @property
    def d(self) -> int:
        """Number of coordinates."""
        return len(self.values)

    @property
    def sizes(self) -> list[int]:
        """Number of values of each coordinate."""
        return [len(values) for values in self.values]

    @property
    def composed(self) -> FloatArray:
        """P(y | x) of all reports together."""
        return co.composed_channel(self.channel, self.copies)

    def masses(self, place: int) -> FloatArray:
        """Return the law of one coordinate."""
        cube = np.moveaxis(self.prior.reshape(self.sizes), place, 0)
        result: FloatArray = cube.reshape(self.sizes[place], -1).sum(axis=1)
        return result

    def only_value(self, place: int) -> str | None:
        """Return the only possible value of a coordinate; None if there are several."""
        possible = np.flatnonzero(self.masses(place) > 0.0)
        return self.values[place][int(possible[0])] if possible.size == 1 else None

    def names(self) -> list[str]:
        """Return the names of the records: ``01``, or ``young no`` where values are words."""
        short = all(len(value) == 1 for values in self.values for value in values)
        sign = "" if short else " "
        return [
            sign.join(values[j] for values, j in zip(self.values, where, strict=True))
            for where in np.ndindex(*self.sizes)
        ]

    def hypotheses(self, place: int) -> tuple[str, str, FloatArray] | None:
        """Return two values of a coordinate and P(y | x_i = each); None if only one is possible.

        Of more than two values the pair with the largest log-ratio of a report, which attains the
        coordinate's level.
        """
        laws = co.conditional_laws(self.sizes, self.prior, self.composed, place)
        if laws.shape[0] < 2:
            return None
        # Products of many factors sum to 1 only up to rounding.
        laws = laws / laws.sum(axis=1, keepdims=True)
        names = [
            value
            for value, mass in zip(self.values[place], self.masses(place), strict=True)
            if mass > 0.0
        ]
        with np.errstate(divide="ignore", invalid="ignore"):
            gaps = np.abs(np.log(laws)[:, None] - np.log(laws)[None])
        farthest = np.nan_to_num(gaps, nan=0.0, posinf=np.inf).max(axis=2)
        # argmax returns the pair with the smaller index first; of equal laws any two will do.
        first, second = divmod(int(np.argmax(farthest)), laws.shape[0])
        if first == second:
            first, second = 0, 1
        return names[first], names[second], laws[[first, second]]


def joint(p1: float, p2: float, rho: float) -> FloatArray:
    """Return the law of two bits (00, 01, 10, 11) with a share ρ of the possible dependence."""
    most = min(p1, p2) - p1 * p2
    least = p1 * p2 - max(0.0, p1 + p2 - 1.0)
    both = p1 * p2 + (rho * most if rho >= 0.0 else rho * least)
    law = np.array([1.0 - p1 - p2 + both, p2 - both, p1 - both, both])
    # What the marginals forbid has probability 0, not that of a rounding error.
    law[law < 1e-15] = 0.0
    result: FloatArray = law / law.sum()
    return result


def domain_of(values: Mapping[str, Any], own: DomainTables | None = None) -> Domain:
    """Return the domain of the parameters; `own` holds the user's tables."""
    prior = joint(float(values["p1"]), float(values["p2"]), float(values["rho"]))
    copies = int(values["copies"])
    two = (_BIT, _BIT)
    if values["mechanism"] == OWN and own is not None:
        entries = own.prior.size * len(own.outputs) ** copies
        if entries > _MAX_ENTRIES:
            raise ValueError(
                f"copies: {copies} reports of {len(own.outputs)} outputs for {own.prior.size} "
                "records are too many to go through; ask for fewer reports"
            )
        return Domain(own.values, own.prior, own.channel, copies, own.outputs, own.records)
    if values["mechanism"] == EXAMPLE_2:
        law = np.repeat(prior, 2) / 2.0
        pairs = ("00", "01", "10", "11")
        return Domain((*two, _BIT), law, co.example2_channel(), copies, pairs)
    if values["mechanism"] == M_MEAN:
        # Directions fall into the chambers of the corners with equal chances for two bits, so
        # likelihoods up to a factor are the law up to their sum.
        weights = np.exp(co.corner_log_likelihoods([float(values["c1"]), float(values["c2"])]))
        channel = weights / weights.sum(axis=1, keepdims=True)
        names = _BIT if weights.shape[1] == 2 else _numbered(weights.shape[1])
        return Domain(two, prior, channel, copies, names)
    one = np.array([float(values[key]) for key in ("m00", "m01", "m10", "m11")])
    return Domain(two, prior, np.stack([1.0 - one, one], axis=1), copies, _BIT)


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(str(j) for j in range(1, count + 1))


def post_process(domain: Domain, values: Mapping[str, Any]) -> tuple[Domain, str]:
    """Return the domain after Proposition 5's step, or the reason why the step is left out."""
    kernel, why = kernel_of(values, domain.channel.shape[1])
    if kernel is None:
        return domain, why
    names = _numbered(kernel.shape[1])
    if len(table_rows(str(values["kernel"]), "kernel")) == 1:
        merged = [np.flatnonzero(column) for column in kernel.T]
        names = tuple("|".join(domain.outputs[y] for y in outputs) for outputs in merged)
    return replace(domain, channel=co.post_processed(domain.channel, kernel), outputs=names), ""


@dataclass(frozen=True)
class Levels:
    """Exact levels of the four notions, and levels certified from two of them.

    Attributes
    ----------
    ldp, bdp : float
    cdp, bcdp, coupling : ndarray of shape (d,)
    certified, part1, part2 : ndarray of shape (d,)
        From cdp, ldp and the coupling: the sharpened Proposition 4 and its two parts.
    """

    ldp: float
    bdp: float
    cdp: FloatArray
    bcdp: FloatArray
    coupling: FloatArray
    certified: FloatArray
    part1: FloatArray
    part2: FloatArray


def levels_of(domain: Domain, coupling: FloatArray | None = None) -> Levels:
    """Compute all levels of all reports together by brute force.

    `coupling` replaces that of the prior where the prior is only an estimate.
    """
    channel = domain.composed
    ldp = co.ldp_level(channel)
    cdp = co.cdp_levels(domain.sizes, channel)
    q = co.coupling(domain.sizes, domain.prior) if coupling is None else coupling
    return Levels(
        ldp,
        co.bdp_level(domain.prior, channel),
        cdp,
        co.bcdp_levels(domain.sizes, domain.prior, channel),
        q,
        co.best_certificate(cdp, q, ldp),
        co.bcdp_from_cdp(cdp, q),
        co.bcdp_from_cdp_and_ldp(cdp, q, ldp),
    )


def coupling_bound(domain: Domain, beta: float) -> FloatArray | None:
    """Return upper confidence bounds on q from the records that the prior was counted from.

    None if the prior is given. The bound is 1 for a column of one value.
    """
    if not domain.records:
        return None
    cells = np.array(list(np.ndindex(*domain.sizes)))
    counts = np.rint(domain.prior * domain.records).astype(int)
    if domain.d == 1:
        return np.zeros(1)
    upper = co.coupling_upper_of_counts(cells, counts, domain.sizes, beta)
    result: FloatArray = np.where(np.isnan(upper), 1.0, upper)
    return result


def easiest_pair(channel: FloatArray) -> tuple[int, int]:
    """Return the first two points with the largest total variation distance of their reports."""
    best, pair = -1.0, (0, 0)
    for first, row in enumerate(channel):
        distance = 0.5 * np.abs(channel - row).sum(axis=1)
        second = int(np.argmax(distance))
        if distance[second] > best:
            best, pair = float(distance[second]), (first, second)
    return pair


def belief_after(belief: FloatArray, zero: float, one: float) -> FloatArray:
    """Return the belief in 1 after a report with these likelihoods; 0 and 1 stay."""
    top, bottom = belief * one, (1.0 - belief) * zero
    with np.errstate(invalid="ignore", divide="ignore"):
        after = top / (top + bottom)
    certain = (belief <= 0.0) | (belief >= 1.0)
    result: FloatArray = np.where(certain, belief, after)
    return result


def after_level(belief: FloatArray, level: float) -> FloatArray:
    """Return the largest belief after a report at a level; at −level, the smallest."""
    with np.errstate(divide="ignore", over="ignore"):
        odds = np.exp(np.log(belief) - np.log1p(-belief) + np.clip(level, -745.0, 700.0))
        after = np.where(np.isinf(odds), 1.0, odds / (1.0 + np.where(np.isinf(odds), 0.0, odds)))
    if np.isinf(level):
        after = np.full(belief.shape, 1.0 if level > 0 else 0.0)
    certain = (belief <= 0.0) | (belief >= 1.0)
    result: FloatArray = np.where(certain, belief, after)
    return result


@dataclass(frozen=True)
class Setting:
    """Domain of a request and its levels.

    Attributes
    ----------
    before, domain : Domain
        Without and with Proposition 5's step.
    levels : Levels
    coupling : ndarray or None
        Upper confidence bounds on the coupling, if the prior was counted.
    tables : DomainTables or None
        The user's own tables.
    skipped : str
        Why a step that is asked for is left out.
    place : int
        Index of the coordinate.
    """

    before: Domain
    domain: Domain
    levels: Levels
    coupling: FloatArray | None
    tables: DomainTables | None
    skipped: str
    place: int

    @property
    def name(self) -> str:
        """Name of the coordinate: ``x₁``."""
        return f"x{'₁₂₃₄'[self.place]}"

    @property
    def two_values(self) -> tuple[str, str]:
        """The two values of the coordinate whose reports differ most."""
        pair, values = self.domain.hypotheses(self.place), self.domain.values[self.place]
        return pair[:2] if pair else (values[0], values[-1])

    def beliefs(self, belief: FloatArray) -> dict[str, FloatArray]:
        """Return beliefs after the report: by output if these are few, else the extreme ones.

        Keys are ``output0`` … or ``most`` and ``least``; the values of the latter are NaN if the
        coordinate has one possible value.
        """
        pair = self.domain.hypotheses(self.place)
        if pair is None:
            return dict.fromkeys(("most", "least"), np.full(belief.shape, np.nan))
        laws = pair[2]
        possible = laws.sum(axis=0) > 0.0
        if self.domain.copies == 1 and laws.shape[1] <= MAX_DRAWN_OUTPUTS:
            return {
                f"output{y}": belief_after(belief, float(laws[0, y]), float(laws[1, y]))
                for y in np.flatnonzero(possible)
            }
        with np.errstate(divide="ignore"):
            ratios = np.log(laws[1, possible]) - np.log(laws[0, possible])
        return {
            "most": after_level(belief, float(ratios.max())),
            "least": after_level(belief, float(ratios.min())),
        }


def setting_of(values: Mapping[str, Any], tables: DomainTables | None) -> Setting:
    """Return the domain that the parameters describe and its levels."""
    before = domain_of(values, tables)
    domain, skipped = post_process(before, values) if values["step"] else (before, "")
    coupling = coupling_bound(domain, float(values["beta"]))
    place = min(int(values["coordinate"]), domain.d) - 1
    levels = levels_of(domain, coupling)
    return Setting(before, domain, levels, coupling, tables, skipped, place)
