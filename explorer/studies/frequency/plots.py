"""Curves of the frequency estimation study: errors of the mechanisms, and who wins where."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from explorer.privacy.core.bound import BoolArray, Bound, FloatArray, Role
from explorer.studies.base.claims import ClaimedBound
from explorer.studies.base.curve_study import Points
from explorer.studies.base.numbers import nearest
from explorer.studies.base.phrases import error_phrase
from explorer.studies.base.plots import Curve, Plot
from explorer.studies.base.study import (
    Headline,
    Mark,
    Quantity,
    Result,
    Scale,
    Series,
    Statistic,
)
from explorer.studies.frequency import theory
from explorer.studies.frequency.theory import MAX_ALPHA, MIN_ALPHA

BEST = "best"


class FrequencyPoints(Points):
    """Points of a sweep with the calibrated mechanisms at each of them."""

    @cached_property
    def problem(self) -> theory.Problem:
        """Arguments of the formulas."""
        return theory.problem_of(self.swept, self.request, self.space, self.context)

    @cached_property
    def own_errors(self) -> tuple[FloatArray, FloatArray]:
        """Bounds on the squared error and the mean d_EM on the user's own metric."""
        return theory.own_errors(self.problem, self.calibration.alpha0, self.context)

    @cached_property
    def calibration(self) -> theory.Calibration:
        """Parameters of the mechanisms at all points."""
        calibration = theory.calibrate(
            self.problem,
            self.context,
            exact=not self.coarse,
            theorem=not self.coarse or self.request.quantity in ("rmse", "cluster"),
            alpha0=self.swept.x if self.swept.sweep.key == "alpha0" else None,
        )
        return calibration.carried(self.swept)

    @cached_property
    def calibration_here(self) -> theory.Calibration:
        """Parameters of the mechanisms at the sliders."""
        if self.request.quantity != "wins":
            return self.calibration.last
        return theory.calibrate(
            self.problem.last, self.context, exact=not self.coarse, theorem=not self.coarse
        )

    @cached_property
    def edge(self) -> theory.Edge:
        """Smallest α at which GKRR wins."""
        item = theory.item_epsilon(self.problem, self.context, not self.coarse)
        return theory.edge_of(self.problem, item, self.request, self.context, not self.coarse)

    @property
    def edge_bound(self) -> Bound:
        """The α from which GKRR wins: proved in ℓ2, estimated in d_EM."""
        in_l2 = self.request["compared"] == "rmse"
        return Bound(
            self.edge.alpha,
            Role.UPPER if in_l2 and not self.coarse else Role.ESTIMATE,
            theory.GKRR if in_l2 else theory.COMPARED,
            np.isfinite(self.edge.alpha),
            _NO_CROSSING,
        )


# Curves


@dataclass(frozen=True)
class ErrorCurve(Curve):
    """Curve of an error: undefined where it is infinite.

    Attributes
    ----------
    calibrated : bool
        Whether it is an estimate in the coarse answer, whose calibration is one.
    bounded : callable, optional
        From `Points` to whether the number is only an upper bound.
    """

    calibrated: bool = False
    bounded: Callable[[Any], bool] | None = None

    def bound(self, p: Any) -> Bound | None:
        """Return its values at all points; None if it is not part of this answer."""
        bound = super().bound(p)
        if bound is None:
            return None
        role = bound.role
        if self.bounded is not None and self.bounded(p):
            role = Role.UPPER
        if self.calibrated and p.calibration.estimated:
            role = Role.ESTIMATE
        known: BoolArray = np.isfinite(bound.value) & bound.valid
        reason = "" if known.all() else self.why or _TOO_LARGE
        return replace(bound, role=role, valid=known, reason=reason)


_TOO_LARGE = "the error has no number: it is beyond 1e308"
_NO_CROSSING = "GKRR wins at no α up to 800 there"
_NOT_DISTINGUISHED = (
    "items of a cluster are at distance 0: no metric-private answer tells them apart"
)
_NO_THEOREM = (
    "Theorem 4.4's condition holds for no α₀ > 0 there, or items of a cluster are at distance 0"
)
_NO_PRINTED = (
    "the condition of the theorem behind equation (6)/(7) fails there, or α is not below m, or "
    "items of a cluster are at distance 0"
)
_NOT_CALIBRATED = "the paper's, never to calibrate with"
_OTHER_MECHANISM = "it is of another mechanism, whose promise does not depend on how far items move"
_OTHER_GUARANTEE = "different guarantee: user-level DP, {eps}"


def _note(key: str, *notes: str) -> Callable[[FrequencyPoints], str]:
    """Return a curve's note, which states whether the curve is a quick estimate."""

    def note(p: FrequencyPoints) -> str:
        if p.bounds[key].role is Role.ESTIMATE:
            return "; ".join((*notes, "quick estimate of the calibration; the exact one follows"))
        return "; ".join(notes)

    return note


def _distinguishable(p: FrequencyPoints) -> BoolArray:
    return p.problem.distinguishable


def _theorem_holds(p: FrequencyPoints) -> BoolArray:
    return p.problem.distinguishable & p.calibration.theorem_holds


def _printed_holds(p: FrequencyPoints) -> BoolArray:
    return p.problem.distinguishable & p.calibration.printed_holds


def root_errors(clusters: bool) -> tuple[Curve, ...]:
    """Return the curves of the root mean square error, of items or of cluster masses."""

    def gkrr(alpha0: Callable[[FrequencyPoints], FloatArray]) -> Callable[[Any], FloatArray | None]:
        return lambda p: (
            None
            if p.problem.metric is not None
            else np.sqrt(theory.gkrr_squared_error(p.problem, alpha0(p), clusters))
        )

    def hadamard(item: Callable[[FrequencyPoints], FloatArray]) -> Callable[[Any], FloatArray]:
        return lambda p: np.sqrt(theory.hadamard_squared_error(p.problem, item(p), clusters))

    return (
        ErrorCurve(
            "gkrr",
            "GKRR, best α₀ proved",
            "GKRR",
            Role.EXACT,
            theory.GKRR,
            gkrr(lambda p: p.calibration.alpha0),
            _distinguishable,
            _NOT_DISTINGUISHED,
            _note("gkrr"),
            calibrated=True,
        ),
        ErrorCurve(
            "gkrr_theorem",
            "GKRR, α₀ by Theorem 4.4",
            "GKRR by Theorem 4.4",
            Role.EXACT,
            theory.THEOREM44,
            gkrr(lambda p: p.calibration.theorem),
            _theorem_holds,
            _NO_THEOREM,
            primary=0,
        ),
        ErrorCurve(
            "gkrr_printed",
            "GKRR, α₀ of equation (6)/(7)",
            "GKRR by eq. (6)/(7)",
            Role.BASELINE,
            theory.PRINTED_ALPHA0,
            gkrr(lambda p: p.calibration.printed),
            _printed_holds,
            _NO_PRINTED,
            _NOT_CALIBRATED,
            primary=0,
        ),
        ErrorCurve(
            "hadamard_printed",
            "Hadamard, printed budget (not private)",
            "Hadamard, not private",
            Role.BASELINE,
            theory.HADAMARD_PRINTED,
            hadamard(lambda p: p.calibration.item_printed),
            note="the paper's, not (ε, δ)-private; never to calibrate with",
            primary=0,
        ),
        ErrorCurve(
            "laplace_printed",
            "Laplace, printed scale (not private)",
            "Laplace, not private",
            Role.BASELINE,
            theory.LAPLACE_PRINTED,
            # The paper's scale is half of what ε needs: that of 2ε.
            lambda p: np.sqrt(theory.laplace_squared_error(p.problem, 2.0)),
            note="the paper's, private at 2ε only; never to calibrate with",
            primary=0,
        ),
        ErrorCurve(
            "hadamard",
            "Hadamard response",
            "Hadamard response",
            Role.EXACT,
            theory.HADAMARD,
            hadamard(lambda p: p.calibration.item),
            note=_note("hadamard"),
            calibrated=True,
            bounded=lambda p: clusters and bool((p.problem.t > 1).any()),
        ),
        ErrorCurve(
            "laplace",
            "Laplace",
            "Laplace",
            Role.EXACT,
            theory.LAPLACE,
            lambda p: np.sqrt(theory.laplace_squared_error(p.problem)),
        ),
    )


_one_item = partial(
    ErrorCurve,
    role=Role.UPPER,
    note=(
        "every user reports one of their items, drawn at random; for users whose items are spread "
        "evenly, which is the most that it can err"
    ),
)


def _one_item_error(key: str) -> Callable[[FrequencyPoints], FloatArray | None]:
    """Return the error of a mechanism on one drawn item; only in the local model."""

    def value(p: FrequencyPoints) -> FloatArray | None:
        if not p.problem.local:
            return None
        return np.sqrt(theory.one_item_squared_errors(p.problem)[key])

    return value


ONE_ITEM_CURVES = (
    _one_item(
        key="one_hadamard",
        label="one drawn item, Hadamard response",
        short="one item, Hadamard",
        source=theory.ONE_HADAMARD,
        value=_one_item_error("one_hadamard"),
    ),
    _one_item(
        key="one_grr",
        label="one drawn item, k-ary randomised response",
        short="one item, k-ary RR",
        source=theory.ONE_GRR,
        value=_one_item_error("one_grr"),
        primary=0,
    ),
    _one_item(
        key="one_priv_unit",
        label="one drawn item, PrivUnit",
        short="one item, PrivUnit",
        source=theory.ONE_PRIV_UNIT,
        value=_one_item_error("one_priv_unit"),
        primary=0,
    ),
)
_own = partial(
    ErrorCurve,
    "own",
    "exponential mechanism, best α₀ proved",
    "exponential mechanism",
    Role.UPPER,
    theory.EXPONENTIAL,
    why=(
        "the law of the answers can't be inverted at this α₀ (condition above 1e8), or items are "
        "at distance 0"
    ),
    calibrated=True,
)
"""The curve of the user's own metric, in place of GKRR's."""


def _own_root(p: FrequencyPoints) -> FloatArray | None:
    return None if p.problem.metric is None else np.sqrt(p.own_errors[0])


def _own_distance(p: FrequencyPoints) -> FloatArray | None:
    return None if p.problem.metric is None else p.own_errors[1]


def _on_clusters(
    value: Callable[[FrequencyPoints], FloatArray],
) -> Callable[[FrequencyPoints], FloatArray | None]:
    """Return the same where items are clustered; no curve on a metric of the user's."""
    return lambda p: None if p.problem.metric is not None else value(p)


_gkrr_distance = partial(
    ErrorCurve,
    role=Role.UPPER,
    where=_distinguishable,
    why=_NOT_DISTINGUISHED,
    calibrated=True,
)
_CENTRED = "of the estimate shifted to sum 1: without that there is no earth mover's distance"
_DISTANCE_CURVES = (
    _gkrr_distance(
        key="gkrr",
        label="GKRR, halved Theorem 6.5",
        short="GKRR",
        source=theory.TIGHT,
        value=_on_clusters(lambda p: theory.gkrr_distance_bound(p.problem, p.calibration.alpha0)),
        note=_note("gkrr"),
        claimable=1,
    ),
    _gkrr_distance(
        key="theorem65",
        label="Theorem 6.5, as printed",
        short="Theorem 6.5, printed",
        source=theory.THEOREM65,
        value=_on_clusters(
            lambda p: theory.gkrr_distance_bound(p.problem, p.calibration.alpha0, printed=True)
        ),
        note=_note("theorem65"),
        primary=4,
        claimable=1,
    ),
    _gkrr_distance(
        key="theorem66",
        label="Theorem 6.6",
        short="Theorem 6.6",
        source=theory.THEOREM66,
        value=_on_clusters(lambda p: theory.theorem66_bound(p.problem, p.calibration.alpha0)),
        note=_note("theorem66"),
        primary=0,
        claimable=1,
    ),
    ErrorCurve(
        "theorem66_printed",
        "Theorem 6.6 with equation (6)/(7)",
        "Theorem 6.6, eq. (6)/(7)",
        Role.BASELINE,
        theory.PRINTED_ALPHA0,
        _on_clusters(lambda p: theory.theorem66_bound(p.problem, p.calibration.printed)),
        _printed_holds,
        _NO_PRINTED,
        _NOT_CALIBRATED,
        primary=0,
    ),
    ErrorCurve(
        "remark",
        "remark to Theorem 6.6",
        "remark to Theorem 6.6",
        Role.BASELINE,
        theory.REMARK,
        _on_clusters(lambda p: theory.theorem66_remark(p.problem)),
        note="the paper's simplification; exceeded by its own theorem in places",
        primary=0,
    ),
    ErrorCurve(
        "hadamard",
        "Hadamard response",
        "Hadamard response",
        Role.UPPER,
        theory.HADAMARD,
        lambda p: theory.hadamard_distance_bound(p.problem, p.calibration.item),
        note=_note("hadamard", _CENTRED),
        primary=2,
        unclaimed=_OTHER_MECHANISM,
        remark=_OTHER_GUARANTEE,
        calibrated=True,
    ),
    ErrorCurve(
        "laplace",
        "Laplace",
        "Laplace",
        Role.EXACT,
        theory.LAPLACE_DISTANCE,
        lambda p: theory.laplace_distance(p.problem),
        note=_CENTRED,
        bounded=lambda p: p.problem.metric is not None,
        primary=3,
        unclaimed=_OTHER_MECHANISM,
        remark=_OTHER_GUARANTEE,
    ),
    _own(value=_own_distance, claimable=1),
)


def _region_top(p: FrequencyPoints) -> FloatArray:
    """Return the edge within the drawn range of α."""
    alpha = p.edge.alpha[:-1]
    return np.where(np.isfinite(alpha), np.maximum(alpha, MIN_ALPHA), MAX_ALPHA)


def _region(
    curve: Curve, p: FrequencyPoints, low: FloatArray, high: FloatArray, there: BoolArray
) -> Series:
    """Draw a region between two curves where a mechanism wins."""
    y, low, high = (np.where(there, v, np.nan) for v in (_region_top(p), low, high))
    return Series(
        curve.key,
        str(curve.label),
        curve.role,
        p.swept.x,
        y,
        curve.source,
        low=low,
        high=high,
        undefined_reason="" if there.all() else curve.why,
        mark=Mark.AREA,
        formula=True,
    )


def _gkrr_region(curve: Curve, p: FrequencyPoints) -> Series:
    """Draw the region above the edge, where GKRR wins."""
    edge, top = p.edge_bound, _region_top(p)
    curve = replace(curve, role=edge.role, source=edge.reference)
    return _region(curve, p, top, np.full(top.shape, MAX_ALPHA), edge.valid[:-1])


def _rival_region(curve: Curve, p: FrequencyPoints) -> Series | None:
    """Draw the region below the edge where a user-level mechanism wins."""
    key = curve.key.removesuffix("_wins")
    if p.request["rival"] not in (BEST, key) or (key == "one_item" and not p.problem.local):
        return None
    top = _region_top(p)
    return _region(curve, p, np.full(top.shape, MIN_ALPHA), top, p.edge.rival[:-1] == key)


def _slider_point(curve: Curve, p: FrequencyPoints) -> Series | None:
    """Draw the sliders' values as a dot, if the x axis holds them."""
    x, own = p.swept.x, float(p.request[p.swept.sweep.key])
    if not x[0] <= own <= x[-1]:
        return None
    return Series(
        curve.key,
        str(curve.label),
        curve.role,
        np.array([own]),
        np.array([p.here.alpha]),
        curve.source,
        note="α of the slider",
        mark=Mark.DOTS,
    )


# A better calibration of GKRR could only take from the regions of the others: estimates.
_rival = partial(
    Curve,
    role=Role.ESTIMATE,
    why="another user-level mechanism is better there",
    draw=_rival_region,
)


def _line(key: str, label: str, value: Callable[[Any], FloatArray], **more: Any) -> Curve:
    """Return a line in the plane of α where it is within the drawn range."""

    def where(p: FrequencyPoints) -> BoolArray:
        alpha = value(p)
        return (alpha <= MAX_ALPHA) & (alpha >= MIN_ALPHA)

    why = f"outside α from {MIN_ALPHA:g} to {MAX_ALPHA:g}"
    return Curve(
        key, label, role=Role.BASELINE, value=value, where=where, why=why, primary=0, **more
    )


_REGION_CURVES = (
    Curve(
        "gkrr_wins",
        "GKRR wins",
        "",
        Role.UPPER,
        theory.GKRR,
        why=_NO_CROSSING,
        draw=_gkrr_region,
    ),
    _rival(
        key="hadamard_wins",
        label="Hadamard response wins",
        short="Hadamard wins",
        source=theory.HADAMARD,
    ),
    _rival(key="laplace_wins", label="Laplace wins", short="", source=theory.LAPLACE),
    _rival(
        key="one_item_wins",
        label="one drawn item wins",
        short="one drawn item wins",
        source=theory.ONE_HADAMARD,
    ),
    _line(
        "equal",
        "α = ε",
        lambda p: p.eps,
        short="",
        source=theory.CHOICE,
        note="below it metric privacy at α implies user-level privacy at ε",
    ),
    _line(
        "choice",
        "α = ε/r, the paper's choice",
        lambda p: np.where(p.problem.r > 0, p.eps / np.maximum(p.problem.r, 1e-300), np.inf),
        short="α = ε/r, the paper's",
        source=theory.CHOICE,
        note="moving everything within its cluster is then protected at ε",
    ),
    _line(
        "paper",
        "the paper's condition",
        lambda p: theory.printed_edge(p.problem),
        short="the paper's condition",
        source=theory.THRESHOLD,
        note="from there on GKRR should win, by the paper's O(·): its constants are dropped",
    ),
    Curve("here", "current settings", "", Role.BASELINE, theory.CHOICE, draw=_slider_point),
)


def _distance_headline(result: Result, claimed: ClaimedBound | None) -> Headline | None:
    if claimed is None:
        return None
    names = {curve.key: curve.short for curve in _DISTANCE_CURVES}
    name = names.get(claimed.series.key, claimed.series.label)
    unit = "of the largest distance"
    error = error_phrase(claimed.value, Statistic.MEAN, unit)
    text = f"{name}: {error}"
    if claimed.value >= 1:
        text = f"Not informative: any shares at all are within the largest distance. {text}"
    laplace = result.number("laplace")
    if laplace is not None and claimed.series.key != "laplace":
        text += f"; Laplace noise {nearest(laplace)}. Their guarantees are not comparable"
    return Headline(f"{claimed.text.number} {unit}", f"{text}.", statistic=Statistic.MEAN)


_SPACE_AXES = ("space_clusters", "space_each", "space_near", "space_items")
_AXES = ("alpha", "eps", "n", "m", "delta", "alpha0", *_SPACE_AXES)
PLOTS = (
    Plot(
        Quantity(
            "emd",
            "EMD",
            "mean earth mover's distance",
            _AXES,
            scale=Scale.LOG,
            latex=r"\mathrm{EMD}",
            statistic=Statistic.MEAN,
        ),
        _DISTANCE_CURVES,
        sliders=("alpha", "eps", "n", "m"),
        solves="n",
        headline=_distance_headline,
    ),
    Plot(
        Quantity(
            "rmse",
            "RMSE",
            "root mean square error, ℓ2",
            _AXES,
            scale=Scale.LOG,
            statistic=Statistic.RMS,
        ),
        (*root_errors(clusters=False), *ONE_ITEM_CURVES, _own(value=_own_root)),
        sliders=("alpha", "eps", "n", "m"),
    ),
    Plot(
        Quantity(
            "cluster",
            "RMSE",
            "root mean square error of cluster masses",
            _AXES,
            scale=Scale.LOG,
            statistic=Statistic.RMS,
        ),
        root_errors(clusters=True),
        sliders=("alpha", "eps", "n", "m"),
    ),
    Plot(
        Quantity(
            "wins",
            "α",
            "edge of where GKRR wins",
            ("eps", "n", "m", "delta", *_SPACE_AXES),
            scale=Scale.LOG,
            unit="1/diameter",
            latex=r"\alpha",
        ),
        _REGION_CURVES,
        sliders=("eps", "n", "m"),
    ),
)
