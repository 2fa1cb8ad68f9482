"""Curves of the study of shuffled histograms, and the points at which they are computed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from explorer.privacy.core.bound import Bound, FloatArray, Reference, Role
from explorer.privacy.histograms import Query
from explorer.privacy.histograms.baselines import LAPLACE, STABLE, UNARY
from explorer.studies.base.claims import ClaimedBound
from explorer.studies.base.curve_study import Points
from explorer.studies.base.numbers import at_least, at_most
from explorer.studies.base.plots import Curve, Plot
from explorer.studies.base.study import (
    Headline,
    Mark,
    Quantity,
    Result,
    Scale,
    Statistic,
)
from explorer.studies.base.sweeping import SweptPoints
from explorer.studies.shuffled_histograms import own_column, theory
from explorer.studies.shuffled_histograms.tables import Row, table1_orders
from explorer.studies.shuffled_histograms.theory import (
    EXACT,
    LAW,
    MESSAGES,
    PRINTED_31,
    PRINTED_32,
    PRINTED_ONE,
    PROOF_31,
    PROOF_32,
    SIMULATED,
    TABLE_1,
    TAILS,
    THEOREM_31,
    THEOREM_32,
    WARNER,
    Settings,
    Values,
)

_CALIBRATED_SWEEPS = ("n", "eps", "delta", "trusted")
"""Sweeps of which every point has a noise of its own to calibrate."""
_COARSE_POINTS = 12
_POINTS, _SLOW_POINTS = 100, 50
SLOW_EPS = 0.3
"""Below it a calibration takes up to a tenth of a second: fewer points then."""


class HistogramPoints(Points):
    """Points of a sweep with the noise at each of them."""

    part: HistogramPoints
    """Points at which the least number of users is known so far."""
    users: FloatArray
    """The least number of users at these points."""

    @property
    def kind(self) -> Query:
        """Whether a histogram is released, or a single count."""
        run = self.request.quantity == "run"
        return Query.HISTOGRAM if run else Query(self.request["release"])

    @property
    def shared(self) -> bool:
        """Whether β is shared among the bins that can err."""
        return self.request.quantity in ("error", "run") and self.kind is Query.HISTOGRAM

    @cached_property
    def settings(self) -> Settings:
        """Parameters of the protocol."""
        return Settings.of(self.swept, self.kind)

    @cached_property
    def noise(self) -> theory.Noise:
        """Least noise by the exact δ."""
        return theory.calibrate_noise(self.settings, self.context)

    @cached_property
    def paper_noise(self) -> theory.Noise:
        """Noise by the paper's constants."""
        return theory.paper_noise(self.settings)

    @cached_property
    def bins(self) -> FloatArray:
        """How many bins share β."""
        return self.settings.h if self.shared else self.ones

    @property
    def domain(self) -> FloatArray:
        """How many bins can err if every bin of the domain is noisy."""
        return self.settings.d if self.request.quantity == "error" else self.ones

    @property
    def ones(self) -> FloatArray:
        """1 at every point."""
        return np.ones(self.settings.n.shape)

    @cached_property
    def table_1(self) -> list[Row]:
        """Rows of Table 1 that are orders of growth only."""
        s = self.settings
        return table1_orders(s.n, s.d, s.eps, s.delta)

    @cached_property
    def fewer(self) -> HistogramPoints:
        """Points of the curves for which noise is calibrated."""
        if self.coarse:
            return self.thinned(_COARSE_POINTS)
        key = self.swept.sweep.key
        noisy = key in _CALIBRATED_SWEEPS
        if not noisy and self.request.quantity != "loss":
            return self
        slow = noisy and key != "eps" and self.request["eps"] < SLOW_EPS
        return self.thinned(_SLOW_POINTS if slow else _POINTS)

    @cached_property
    def at_sliders(self) -> HistogramPoints:
        """The sliders' own point alone."""
        last = {key: column[-1:] for key, column in self.swept.columns.items()}
        return self.at(SweptPoints(self.swept.sweep, np.empty(0), last))

    @cached_property
    def own(self) -> own_column.OwnColumn:
        """The user's own column, or a synthetic one."""
        return own_column.column_of(self.request, self.context)

    @cached_property
    def run(self) -> own_column.Outcome | None:
        """P_hist run on the column; None where no noise reaches (ε, δ)."""
        if not self.at_sliders.noise.valid[0]:
            return None
        task = (self.own, 1.0 - self.missing, self.request.seed)
        outcome: own_column.Outcome = self.context.cached(
            ("histograms", "run", task),
            lambda: self.context.run_in_worker(own_column.run, *task),
        )
        return outcome

    @property
    def missing(self) -> float:
        """1 − p at the sliders, where there is a noise."""
        return float(self.at_sliders.noise.q[0])

    @cached_property
    def margin(self) -> float:
        """Error within which all bins of a run are at once with probability 1 − β."""
        one = self.at_sliders
        return float(theory.tails(one.settings, one.noise, one.bins, self.context).value[0])

    @property
    def adding_here(self) -> float | None:
        """Users who add noise at the sliders, where that is plotted; else None."""
        return float(self.settings.adding[-1]) if self.request.quantity == "loss" else None

    @cached_property
    def delta_reached(self) -> float | None:
        """Exact δ if fewer or more users add noise than are trusted to; None if as many do."""
        one, adding = self.at_sliders, self.adding_here
        held = float(one.settings.held[0])
        if adding is None or adding == held or not one.noise.valid[0]:
            return None
        eps, q = float(one.settings.eps[0]), float(one.noise.q[0])
        return float(theory.exact_delta(self.kind, eps, adding, q))


@dataclass(frozen=True)
class _Curve(Curve):
    """Curve with another name and source for a single count.

    Attributes
    ----------
    name : str
        Label for a histogram, and for a count if `count` has none.
    count : tuple of (str, Reference), optional
        Label and source for a single count.
    """

    name: str = ""
    count: tuple[str, Reference] | None = None

    def bound(self, p: HistogramPoints) -> Bound | None:
        """Return the values at all points; infinite ones are undefined."""
        result = None if self.value is None else self.value(p)
        if result is None:
            return None
        value = np.asarray(np.broadcast_to(result.value, p.settings.n.shape), float)
        known = np.broadcast_to(result.valid, value.shape) & np.isfinite(value)
        why = "" if known.all() else result.reason
        source = self.source
        if self.count is not None and p.kind is Query.COUNT:
            source = self.count[1]
        return Bound(value, self.role, source, known, why, result.truncated)


def _curve(
    key: str,
    name: str,
    short: str,
    role: Role,
    source: Reference,
    value: Callable[[HistogramPoints], Values | None] | None,
    *,
    count: tuple[str, Reference] | None = None,
    **more: Any,
) -> _Curve:
    """Return a curve whose label depends on what is released."""

    def label(p: HistogramPoints) -> str:
        return count[0] if count is not None and p.kind is Query.COUNT else name

    return _Curve(key, label, short, role, source, value, name=name, count=count, **more)


def _fewer(p: HistogramPoints) -> HistogramPoints:
    return p.fewer


def _order(
    key: str, row: int, name: str, short: str, *, messages: bool = False, **more: Any
) -> Curve:
    """Return a curve of Table 1 that is an order of growth, with its constant set to 1."""

    def value(p: HistogramPoints) -> Values | None:
        if p.kind is Query.COUNT:
            return None
        bound = p.table_1[row].messages if messages else p.table_1[row].value
        if bound is None:
            return None
        why = "Table 1 assumes ε ≤ 1; its rows of [13] also δ < 1/ln d"
        return Values(bound.value, bound.valid, why)

    note = "an order of growth with its constant set to 1: compare slopes, not heights"
    return _curve(
        key,
        f"{name} (order only)",
        short,
        Role.ESTIMATE,
        TABLE_1,
        value,
        note=note,
        primary=0,
        **more,
    )


_CHEU = ("cheu_order", 1, "shuffled, the paper's [8]", "shuffled [8], order only")
_FEW = ("few_order", 2, "shuffled, the paper's [13], few messages", "few messages [13], order")
_FEWEST = (
    "fewest_order",
    3,
    "shuffled, the paper's [13], fewest messages",
    "fewest messages [13]",
)
_CURATOR = "it trusts a curator who sees the data, and the claim trusts a shuffler alone"
_OTHER_NOISE = "it is of the paper's noise, and the claim is of the noise calibrated by the exact δ"
_ERRORS_OF_ALL = (
    _curve(
        "calibrated",
        "P_hist, calibrated exactly",
        "exact noise",
        Role.UPPER,
        EXACT,
        lambda p: theory.error(p.settings, p.noise, p.bins),
        count=("P_zsum, calibrated exactly", EXACT),
        note=lambda p: (
            f"(1−p) + 2√(p(1−p)ln({theory.odds_of_failure(p.shared)})/n) with the least noise "
            "whose exact δ is small enough"
        ),
        primary=0,
        claimable=2,
        points=_fewer,
    ),
    _curve(
        "paper",
        "P_hist, the paper's constants",
        "the paper's constants",
        Role.UPPER,
        PROOF_32,
        lambda p: theory.error(p.settings, p.paper_noise, p.bins),
        count=("P_zsum, the paper's constants", PROOF_31),
        note="the same formula with the paper's p, constant 50",
        primary=2,
        unclaimed=_OTHER_NOISE,
        remark="noise of the paper, not the exact one",
    ),
    _curve(
        "printed",
        "P_hist, α of Theorem 3.2(iii) as printed",
        "Theorem 3.2(iii)",
        Role.UPPER,
        PRINTED_32,
        lambda p: (
            theory.printed_error(p.settings, p.paper_noise, p.settings.n) if p.shared else None
        ),
        count=("P_zsum, α of Theorem 3.1(ii) as printed", PRINTED_31),
        note=("the paper's p, β shared among all n users (needs no h), and without the proof's √p"),
        primary=0,
        unclaimed=_OTHER_NOISE,
        remark="noise of the paper, not the exact one",
    ),
    _curve(
        "printed_one",
        "P_hist, α of Theorem 3.2(ii) as printed",
        "Theorem 3.2(ii)",
        Role.UPPER,
        PRINTED_ONE,
        lambda p: None if p.shared else theory.printed_error(p.settings, p.paper_noise, p.bins),
        count=("P_zsum, α of Theorem 3.1(ii) as printed", PRINTED_31),
        note="the paper's p, without the proof's √p",
        primary=0,
        unclaimed=_OTHER_NOISE,
        remark="noise of the paper, not the exact one",
    ),
    _curve(
        "local",
        "local: unary encoding",
        "local, no shuffler",
        Role.UPPER,
        UNARY,
        lambda p: theory.local_comparator(p.settings, p.domain),
        count=("local: randomised response", WARNER),
        note="ε-LDP on every user's device; no shuffler is trusted",
        primary=3,
        unclaimed="it is of a protocol in which no shuffler is trusted",
    ),
    _curve(
        "central",
        "central: Laplace",
        "a trusted curator",
        Role.EXACT,
        LAPLACE,
        lambda p: theory.central_comparator(p.settings, p.domain),
        note="a curator sees the data; pure ε, every bin of the domain noisy",
        primary=4,
        unclaimed=_CURATOR,
        remark="different trust: a curator",
    ),
    # After the others, so that the simulated dots, which come last, have the colour of this curve.
    _curve(
        "tails",
        "P_hist, calibrated exactly, exact tails",
        "exact noise and tails",
        Role.UPPER,
        TAILS,
        lambda p: theory.tails(p.settings, p.noise, p.bins, p.context),
        count=("P_zsum, calibrated exactly, exact tails", TAILS),
        note="the same noise, with the binomial's own tails",
        primary=1,
        claimable=1,
        points=_fewer,
    ),
    _curve(
        "stable",
        "central: stability-based",
        "curator, stability-based",
        Role.UPPER,
        STABLE,
        lambda p: theory.stable_comparator(p.settings) if p.shared else None,
        note="a curator sees the data; (ε, δ), only bins that occur; independent of d",
        primary=0,
        unclaimed=_CURATOR,
        remark="different trust: a curator",
    ),
)
_SIMULATED = Curve("simulated", "simulated", "simulated", Role.ESTIMATE, SIMULATED, primary=5)
"""Dots that `simulated_series` draws after the last curve."""
_ERRORS_ORDERS = (
    _order("local_order", 0, "local, the paper's [3]", "local [3], order only"),
    _order(*_CHEU),
    _order(*_FEW),
    _order(*_FEWEST),
    _order("central_order", 4, "central, the paper's [4, 7, 9, 14]", "central, order only"),
)
_RMSE = (
    _curve(
        "rmse",
        "P_hist, calibrated exactly",
        "exact noise, RMSE",
        Role.EXACT,
        LAW,
        lambda p: theory.root_mean_square(p.settings, p.noise)[0],
        count=("P_zsum, calibrated exactly", LAW),
        points=_fewer,
    ),
    _curve(
        "bias",
        "P_hist, calibrated exactly: |bias|",
        "its |bias|",
        Role.EXACT,
        LAW,
        lambda p: theory.root_mean_square(p.settings, p.noise)[1],
        count=("P_zsum, calibrated exactly: |bias|", LAW),
        note=(
            "small counts are cut to 0: near s = n(1−p) the bias dominates; drawn while it is "
            "above a thousandth of the rms error"
        ),
        primary=0,
        points=_fewer,
    ),
    _curve(
        "paper_rmse",
        "P_hist, the paper's constants",
        "the paper's noise, RMSE",
        Role.EXACT,
        LAW,
        lambda p: theory.root_mean_square(p.settings, p.paper_noise)[0],
        count=("P_zsum, the paper's constants", LAW),
    ),
    _curve(
        "local_rmse",
        "local: unary encoding",
        "local, RMSE",
        Role.EXACT,
        UNARY,
        lambda p: theory.local_root_mean_square(p.settings),
        count=("local: randomised response", WARNER),
    ),
    _curve(
        "central_rmse",
        "central: Laplace",
        "a trusted curator, RMSE",
        Role.EXACT,
        LAPLACE,
        lambda p: theory.central_root_mean_square(p.settings),
    ),
    replace(_SIMULATED, primary=1),
)
_NOISE = (
    _curve(
        "noise",
        "least noise, calibrated exactly",
        "least noise",
        Role.EXACT,
        EXACT,
        lambda p: theory.missing_bits(p.settings, p.noise),
        points=_fewer,
    ),
    _curve(
        "paper_noise",
        "the paper's constants",
        "the paper's noise",
        Role.UPPER,
        THEOREM_32,
        lambda p: theory.missing_bits(p.settings, p.paper_noise),
        count=("the paper's constants", THEOREM_31),
    ),
)
_USERS = (
    _curve(
        "users",
        "least users, by the exact δ",
        "least users, exact δ",
        Role.EXACT,
        EXACT,
        lambda p: Values(p.users),
        points=lambda p: p.part,
    ),
    _curve(
        "paper_users",
        "the paper's constants",
        "the paper's users",
        Role.UPPER,
        THEOREM_32,
        lambda p: theory.printed_users(p.settings),
        count=("the paper's constants", THEOREM_31),
    ),
)
_MESSAGES = (
    _curve(
        "messages",
        "P_hist, calibrated exactly (expected)",
        "exact noise, messages",
        Role.EXACT,
        MESSAGES,
        lambda p: theory.messages(p.settings, p.noise),
        count=("P_zsum, calibrated exactly (with a 1)", THEOREM_31),
        points=_fewer,
    ),
    _curve(
        "paper_messages",
        "P_hist, the paper's constants (expected)",
        "the paper's messages",
        Role.EXACT,
        MESSAGES,
        lambda p: theory.messages(p.settings, p.paper_noise),
        count=("P_zsum, the paper's constants (of a user with a 1)", THEOREM_31),
    ),
    _curve(
        "most_messages",
        "P_hist, at most",
        "at most",
        Role.UPPER,
        MESSAGES,
        lambda p: Values(1 + p.settings.d),
        count=("P_zsum, at most", THEOREM_31),
    ),
    _curve(
        "one_message",
        "local: one message",
        "local, one message",
        Role.EXACT,
        UNARY,
        lambda p: Values(1.0),
        count=("local: one message", WARNER),
    ),
    _order(*_CHEU, messages=True),
    _order(*_FEW, messages=True),
    _order(*_FEWEST, messages=True),
)
_LOSS = (
    _curve(
        "loss",
        "δ with the calibrated noise",
        "δ with exact noise",
        Role.EXACT,
        EXACT,
        lambda p: theory.loss(p.settings, p.noise, p.context),
        note="m users add noise where the calibration counted on nₕ",
        points=_fewer,
    ),
    _curve(
        "paper_loss",
        "δ with the paper's noise",
        "δ with the paper's noise",
        Role.EXACT,
        EXACT,
        lambda p: theory.loss(p.settings, p.paper_noise, p.context),
        points=_fewer,
    ),
    _curve(
        "target",
        "the δ that was asked for",
        "the δ asked for",
        Role.BASELINE,
        EXACT,
        lambda p: Values(p.settings.delta),
    ),
)


def _headline(result: Result, found: ClaimedBound | None) -> Headline | None:
    if found is None:
        return None
    one = result.request.quantity == "query"
    runs = at_least(100 * (1 - float(result.request["beta"])))
    points = _percentage_points(found.value)
    bins = "A bin" if one else "Every bin"
    text = f"{bins} is within {points} percentage points of the truth in {runs} of 100 runs"
    paper = result.number("paper")
    if paper is not None:
        text += f"; the paper's noise guarantees only {_percentage_points(paper)}"
    return Headline(f"error ≤ {points} percentage points", f"{text}.", statistic=Statistic.QUANTILE)


def _percentage_points(frequency: float) -> str:
    """Return an upper bound on a frequency in percentage points, rounded up."""
    return at_most(math.nextafter(100 * frequency, math.inf))


PLOTS = (
    Plot(
        Quantity(
            "error",
            "α",
            "largest error of all bins",
            ("n", "d", "eps", "delta", "beta", "h"),
            unit="frequency",
            scale=Scale.LOG,
            latex=r"\alpha",
            statistic=Statistic.QUANTILE,
        ),
        (*_ERRORS_OF_ALL, *_ERRORS_ORDERS, _SIMULATED),
        sliders=("eps", "n", "d", "h"),
        solves="n",
        headline=_headline,
    ),
    Plot(
        Quantity(
            "query",
            "α",
            "error of one bin",
            ("n", "eps", "delta", "beta"),
            unit="frequency",
            scale=Scale.LOG,
            latex=r"\alpha",
            statistic=Statistic.QUANTILE,
        ),
        (*_ERRORS_OF_ALL, _SIMULATED),
        sliders=("eps", "n", "delta", "beta"),
        solves="n",
        headline=_headline,
    ),
    Plot(
        Quantity(
            "rmse",
            "RMSE",
            "root mean square error of a bin with s users",
            ("s", "n", "eps", "delta"),
            unit="frequency",
            scale=Scale.LOG,
            statistic=Statistic.RMS,
        ),
        _RMSE,
        sliders=("eps", "n", "s"),
    ),
    Plot(
        Quantity(
            "noise",
            "n(1−p)",
            "noise",
            ("n", "eps", "delta", "trusted"),
            unit="users",
            scale=Scale.LOG,
            latex=r"n(1-p)",
        ),
        _NOISE,
        sliders=("eps", "n", "delta"),
    ),
    Plot(
        Quantity(
            "users",
            "n",
            "least number of users",
            ("eps", "delta"),
            unit="users",
            scale=Scale.LOG,
            latex=r"n",
        ),
        _USERS,
        sliders=("eps", "delta"),
    ),
    Plot(
        Quantity(
            "messages",
            "",
            "messages sent by a user",
            ("d", "n", "eps", "delta"),
            unit="messages",
            scale=Scale.LOG,
        ),
        _MESSAGES,
        sliders=("d", "n", "eps"),
    ),
    Plot(
        Quantity(
            "loss",
            "δ",
            "if users add no noise",
            ("adding", "n"),
            scale=Scale.LOG,
            latex=r"\delta",
        ),
        _LOSS,
        sliders=("adding", "n", "eps", "delta"),
    ),
    Plot(
        Quantity(
            "run",
            "ŷ",
            "histogram of your column, run",
            ("place",),
            unit="frequency",
            latex=r"\hat y",
        ),
        (
            Curve(
                "estimated",
                "P_hist, one run, with the error at β",
                "one run of P_hist",
                Role.ESTIMATE,
                THEOREM_32,
                draw=own_column.draw_estimates,
                mark=Mark.DOTS,
            ),
            Curve(
                "truth",
                "the column itself",
                "the column itself",
                Role.BASELINE,
                Reference("Own data", "not private"),
                draw=own_column.draw_truth,
                mark=Mark.BARS,
            ),
        ),
        sliders=("column_file", "eps", "delta", "beta"),
    ),
)
