"""Noise that the average of a linear query needs, by every mechanism."""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import Bound, Role
from explorer.studies.base.builders import (
    choice,
    count,
    decimal_sign,
    delta,
    epsilon,
    file,
    real,
    table,
)
from explorer.studies.base.claims import ClaimedBound
from explorer.studies.base.curve_study import CurveStudy
from explorer.studies.base.numbers import at_most, nearest
from explorer.studies.base.phrases import error_phrase, times
from explorer.studies.base.plots import Curve, Plot
from explorer.studies.base.study import (
    Condition,
    Context,
    Fidelity,
    Guarantee,
    Headline,
    Quantity,
    Request,
    Result,
    ScalarResult,
    Scale,
    SpacePicture,
    Statistic,
    Table,
)
from explorer.studies.base.sweeping import scalar_from, series_from, swept_points
from explorer.studies.guarantees.tradeoffs import with_tradeoff
from explorer.studies.linear_queries import guarantee, theory
from explorer.studies.linear_queries.help import PAGE, PRESETS
from explorer.studies.linear_queries.queries import (
    CELLS,
    COORDINATE,
    FILE,
    GIVEN,
    IN_LENGTHS,
    LANDMARKS,
    MAX_CENTRES,
    POSITION,
    SPREAD,
    TYPED_CENTRES,
)
from explorer.studies.linear_queries.theory import (
    CENTRAL,
    LOCAL,
    LinearPoints,
    analytic_sigma,
    printed_private_up_to,
    sensitivity,
    true_deltas_at,
)
from explorer.studies.metric_space.parameters import SPHERE, space_parameters

_ERRORS = ("rmse", "coordinate", "euclid", "own", "quantile")
_CENTRED = (("query", (LANDMARKS, CELLS)),)

PARAMETERS = (
    choice(
        "model",
        "",
        "model",
        "Central: a curator adds noise once to the answer of all users' data. Local: every "
        "user adds noise to their own answer, and the answers are averaged; more private "
        "towards the curator, and √n times noisier.",
        CENTRAL,
        ((CENTRAL, "central: noise added once"), (LOCAL, "local: every user adds noise")),
    ),
    epsilon(
        "privacy of a user",
        "The privacy of a user's whole data, per largest distance: a change by earth mover's "
        "distance w is protected at ε = αw. Smaller is more private.",
        25.0,
        1e-2,
        800.0,
        key="alpha",
        symbol="α",
        unit="1/diameter",
    ),
    delta(
        1e-12,
        1e-40,
        help="What Gaussian noise may fail by; K-norm noise never fails. Smaller is more private.",
    ),
    count(
        "n",
        "n",
        "users",
        "How many users there are, every one with the same public number of items. More users "
        "hide each other better: less noise at one α.",
        100_000,
        1,
        10**9,
        quantities=_ERRORS,
    ),
    epsilon(
        "user-level privacy, for comparison",
        "The parameter of user-level differential privacy, which protects all changes of a "
        "user's data alike. Smaller is more private.",
        1.0,
        1e-2,
        100.0,
        quantities=_ERRORS,
    ),
    choice(
        "query",
        "",
        "query",
        "Which function of an item is averaged over all items of all users.",
        LANDMARKS,
        (
            (LANDMARKS, "mean distance to k landmarks"),
            (POSITION, "mean position"),
            (COORDINATE, "mean of one coordinate"),
            (CELLS, "histogram over k soft cells"),
            (GIVEN, "any: dimension and Lipschitz constant given"),
            (FILE, "your own (CSV: one row of values an item)"),
        ),
        quantities=(*_ERRORS, "lip"),
    ),
    count(
        "landmarks",
        "k",
        "landmarks or cells",
        "How many public points the query measures from: each adds a number to the answer.",
        3,
        1,
        MAX_CENTRES,
        relevant_when=_CENTRED,
        quantities=(*_ERRORS, "lip"),
    ),
    choice(
        "centres",
        "",
        "where they are",
        "Spread over the space, each as far as possible from those before it, or where you say. "
        "They must be public.",
        SPREAD,
        ((SPREAD, "spread over the space"), (TYPED_CENTRES, "typed, the first k rows")),
        relevant_when=_CENTRED,
        quantities=(*_ERRORS, "lip"),
    ),
    table(
        "centres_typed",
        "typed centres",
        "A row for each: x and y in a square or grid, latitude and longitude on the Earth, a "
        "number on the line, the number of the item (from 1) in a space of your own.",
        "40.7128 -74.006",
        relevant_when=(("centres", (TYPED_CENTRES,)), *_CENTRED),
        quantities=(*_ERRORS, "lip"),
    ),
    real(
        "width",
        "h",
        "width of a cell",
        "An item counts fully at a cell's centre and nothing at distance h from it, as a share "
        "of the largest distance. Narrow cells change fast, and need more noise.",
        0.1,
        1e-3,
        1.0,
        relevant_when=(("query", (CELLS,)),),
        quantities=(*_ERRORS, "lip"),
    ),
    count(
        "dim",
        "d",
        "dimension of the answer",
        "How many numbers the query answers with.",
        10,
        1,
        10_000,
        relevant_when=(("query", (GIVEN,)),),
        quantities=(*_ERRORS, "lip"),
    ),
    real(
        "slope",
        "ℓ",
        "Lipschitz constant, ℓ2",
        "By how much the answer of one item changes at most, in the ℓ2 norm, per largest "
        "distance the item moves: ‖F‖₂ for a linear function F of an embedding.",
        1.0,
        1e-3,
        1e3,
        latex=r"\ell",
        relevant_when=(("query", (GIVEN,)),),
        quantities=(*_ERRORS, "lip"),
    ),
    file(
        "values",
        "file of values",
        "A CSV file with one row an item of the space and one column a number of the answer; a "
        "first row and a first column of names are allowed. Rows go by name where the space's "
        "file has names too, else by its order. It must be public.",
        relevant_when=(("query", (FILE,)),),
        quantities=(*_ERRORS, "lip"),
    ),
    decimal_sign(
        "values_decimal",
        relevant_when=(("query", (FILE,)),),
        quantities=(*_ERRORS, "lip"),
    ),
    real(
        "w",
        "w",
        "example change",
        "Earth mover's distance of a change of a user's data, as a share of the largest: 0.008 "
        "is everything moved by 0.8 % of it. Only the sentence about the guarantee uses it.",
        0.008,
        1e-4,
        1.0,
    ),
    real(
        "p",
        "p",
        "another norm",
        "K-norm noise has the shape of the unit ball of a norm: ℓ1 (Laplace), ℓ2, ℓ∞ and this "
        "one. All have the same guarantee.",
        3.0,
        1.0,
        64.0,
        group="mechanism",
        quantities=(*_ERRORS, "lip"),
    ),
    real(
        "beta",
        "β",
        "share of releases",
        "The error that is not exceeded by this share of all releases.",
        0.95,
        0.01,
        0.9999,
        Scale.LINEAR,
        group="mechanism",
        latex=r"\beta",
        quantities=("quantile",),
    ),
    *space_parameters(default=SPHERE),
)


def _error_note(key: str, p: LinearPoints) -> str:
    what, notes = p.request.quantity, []
    if key == "printed":
        notes.append("as the paper (v1) prints it, never to calibrate with: errata user-B1")
    if what in ("own", "quantile"):
        notes.append("each in the norm of its own noise")
        if p.request["model"] == LOCAL:
            notes.append("of one user's answer; averaging over n users makes it smaller")
    jensen = what in ("euclid", "coordinate") and p.bounds[key].role is Role.UPPER
    if jensen and key.startswith("k"):
        notes.append("at most the root mean square error, by Jensen's inequality")
    return "; ".join(notes)


def _in_other_norm(label: str, p: LinearPoints) -> str:
    """Return a label with the p of the other norm, where it is one number."""
    if p.swept.sweep.key == "p":
        return label
    return label.replace("ℓp", f"ℓ{nearest(float(p.request['p']))}")


def _printed_label(p: LinearPoints) -> str:
    private = p.true_deltas[0] <= float(p.request["delta"])
    return "printed Gaussian width" + ("" if private else " (not private here)")


_K_NORM_LABELS = {
    "k1": "ℓ1 K-norm (Laplace)",
    "k2": "ℓ2 K-norm",
    "kinf": "ℓ∞ K-norm",
    "kp": "ℓp K-norm",
}


def _k_norm(key: str, short: str, primary: int, claimable: int) -> Curve:
    """Return the curve of the error of K-norm noise."""
    label = _K_NORM_LABELS[key]
    return Curve(
        key,
        partial(_in_other_norm, label) if key == "kp" else label,
        short,
        Role.EXACT,
        theory.K_NORM,
        partial(LinearPoints.k_norm, key=key),
        note=partial(_error_note, key),
        primary=primary,
        claimable=claimable,
    )


def _error_curves(claims: bool) -> tuple[Curve, ...]:
    """Return the curves of an error of every mechanism."""
    weaker = "its promise is weaker: (α·w, δ), where the K-norm noise that is claimed has δ = 0"
    user_remark = "different guarantee: user-level DP, {eps}"
    gaussian, user_level = LinearPoints.gaussian, LinearPoints.user_level
    return (
        _k_norm("k1", "ℓ1 noise (Laplace)", 3, 4 * claims),
        _k_norm("k2", "ℓ2 noise", 2, 2 * claims),
        _k_norm("kinf", "ℓ∞ noise", 1, 1 * claims),
        _k_norm("kp", "ℓp noise", 0, 3 * claims),
        Curve(
            "gauss",
            "analytic Gaussian",
            "Gaussian, exact",
            Role.EXACT,
            theory.ANALYTIC,
            partial(gaussian, key="gauss"),
            note=partial(_error_note, "gauss"),
            primary=4,
            unclaimed=weaker,
            remark="different guarantee: δ above 0",
        ),
        Curve(
            "textbook",
            "textbook Gaussian",
            "Gaussian, textbook",
            Role.UPPER,
            theory.TEXTBOOK,
            partial(gaussian, key="textbook"),
            note=partial(_error_note, "textbook"),
            primary=0,
            unclaimed=weaker,
            remark="different guarantee: δ above 0",
        ),
        Curve(
            "printed",
            _printed_label,
            "Gaussian as printed",
            Role.BASELINE,
            theory.PRINTED,
            partial(gaussian, key="printed"),
            note=partial(_error_note, "printed"),
            primary=0,
            assumes=(guarantee.PRINTED_PRIVATE,),
        ),
        Curve(
            "user",
            "user-level DP, ℓ2 K-norm",
            "user-level DP, ℓ2 noise",
            Role.BASELINE,
            theory.USER,
            partial(user_level, key="user"),
            note=partial(_error_note, "user"),
            remark=user_remark,
            primary=4,
        ),
        Curve(
            "user_gauss",
            "user-level DP, analytic Gaussian",
            "user-level DP, Gaussian",
            Role.BASELINE,
            theory.USER,
            partial(user_level, key="user_gauss"),
            note=partial(_error_note, "user_gauss"),
            remark=user_remark,
            primary=0,
        ),
    )


def _headline(result: Result, claimed: ClaimedBound | None) -> Headline | None:
    if claimed is None:
        return None
    quantity = result.request.quantity
    statistic = next(q.statistic for q in ERROR_QUANTITIES if q.key == quantity)
    assert statistic is not None
    name = LinearQueries.short_names.get(claimed.series.key, claimed.series.label)
    length = next((r for r in result.readouts if r.key == f"{claimed.series.key}_length"), None)
    value, unit = claimed.value, "in the query's own unit"
    number = claimed.text.number
    if result.request["query"] in IN_LENGTHS:
        unit = "of the largest distance"
        number += f" {unit}"
    if length is not None and length.value is not None:
        value, unit = length.value, length.unit
    text = f"{name}: {error_phrase(value, statistic, unit)}."
    reach = result.number("range")
    if reach and claimed.value >= reach:
        off = at_most(reach * value / claimed.value)
        text = f"Not informative: any possible answer is off by at most {off} {unit}. {text}"
    if user := result.number("user"):
        ratio = times(user / claimed.value)
        text += f" User-level DP, a different guarantee, has {ratio} that error."
    return Headline(number, text, statistic=statistic)


_AXES = ("alpha", "n", "delta", "landmarks", "dim", "p", "eps", "width", "slope")
ERROR_QUANTITIES = (
    Quantity(
        "rmse",
        "RMSE",
        "root mean square error, ℓ2",
        _AXES,
        scale=Scale.LOG,
        statistic=Statistic.RMS,
    ),
    Quantity(
        "coordinate",
        "E|zᵢ|",
        "mean error of one number",
        _AXES,
        scale=Scale.LOG,
        latex=r"E|z_i|",
        statistic=Statistic.MEAN,
    ),
    Quantity(
        "euclid",
        "E‖z‖₂",
        "mean error, ℓ2",
        _AXES,
        scale=Scale.LOG,
        latex=r"E\|z\|_2",
        statistic=Statistic.MEAN,
    ),
    Quantity(
        "own",
        "E‖z‖",
        "mean error of one release, own norm",
        _AXES,
        scale=Scale.LOG,
        latex=r"E\|z\|_p",
        statistic=Statistic.MEAN,
    ),
    Quantity(
        "quantile",
        "Q(‖z‖)",
        "error of β of the releases, own norm",
        (*_AXES, "beta"),
        scale=Scale.LOG,
        latex=r"Q_\beta(\|z\|_p)",
        statistic=Statistic.QUANTILE,
    ),
)


def _error_plot(quantity: Quantity) -> Plot:
    # Errors in norms of their own can't be compared: none of them is claimed.
    claims = quantity.key not in ("own", "quantile")
    return Plot(
        quantity,
        _error_curves(claims),
        sliders=("alpha", "n", "query", "landmarks"),
        kind="mechanisms",
        solves="alpha",
        claim_text=guarantee.claim_text,
        headline=_headline if claims else None,
    )


PLOTS = (
    *map(_error_plot, ERROR_QUANTITIES),
    Plot(
        Quantity(
            "true_delta",
            "δ",
            "true δ of a Gaussian width",
            ("alpha", "delta"),
            scale=Scale.LOG,
            latex=r"\delta",
        ),
        (
            Curve(
                "printed",
                _printed_label,
                "Gaussian as printed",
                Role.BASELINE,
                theory.PRINTED,
                partial(LinearPoints.true_delta, key="printed"),
                note=partial(_error_note, "printed"),
                primary=3,
                assumes=(guarantee.PRINTED_PRIVATE,),
            ),
            Curve(
                "textbook",
                "textbook Gaussian",
                "Gaussian, textbook",
                Role.BASELINE,
                theory.TEXTBOOK,
                partial(LinearPoints.true_delta, key="textbook"),
                primary=2,
            ),
            Curve(
                "gauss",
                "analytic Gaussian",
                "Gaussian, exact",
                Role.EXACT,
                theory.ANALYTIC,
                partial(LinearPoints.true_delta, key="gauss"),
            ),
            Curve(
                "asked",
                "δ asked for",
                "δ asked for",
                Role.BASELINE,
                theory.ANALYTIC,
                lambda p: p.delta,
                primary=4,
            ),
        ),
        sliders=("alpha", "delta"),
    ),
    Plot(
        Quantity(
            "lip",
            "ℓ",
            "Lipschitz constant of the query",
            ("p", "landmarks", "dim", "width"),
            scale=Scale.LOG,
            latex=r"\ell",
        ),
        (
            *(
                Curve(
                    key,
                    partial(_in_other_norm, label) if key == "kp" else label,
                    "",
                    Role.EXACT,
                    theory.LIPSCHITZ,
                    partial(LinearPoints.slope, key=key),
                    primary=primary,
                )
                for key, label, primary in (
                    ("k1", "in the ℓ1 norm", 3),
                    ("k2", "in the ℓ2 norm", 2),
                    ("kinf", "in the ℓ∞ norm", 1),
                    ("kp", "in the ℓp norm", 0),
                )
            ),
            Curve(
                "user",
                "range of answers, ℓ2 (user-level DP)",
                "user-level DP, ℓ2 noise",
                Role.UPPER,
                theory.USER,
                LinearPoints.answer_range,
                primary=4,
            ),
        ),
        sliders=("query", "landmarks", "width"),
    ),
)

_MAX_COARSE_POINTS = 5
_MAX_NUMBERS_AT_ONCE = 4_000_000
"""Numbers to go through, over all points, from which on a coarse answer comes first."""
_MAX_NUMBERS = 20_000_000
_WIDTH_EXAMPLES = ((25.0, 1e-12), (1.0, 1e-12), (1.0, 1e-6))
"""α and δ of the examples of errata user-B1."""


@with_tradeoff(("alpha", "delta", "w", "p"), audits=theory.audits)
class LinearQueries(CurveStudy):
    """Errors of K-norm and Gaussian noise under d_EM, with the query's Lipschitz constant."""

    id = "linear-queries"
    simulated = "metric.sum/1"
    parameters = PARAMETERS
    plots = PLOTS
    points = LinearPoints
    page = PAGE
    presets = PRESETS

    def stages(self, p: LinearPoints) -> tuple[LinearPoints, ...]:
        """Return few points first where many pairs of items are compared."""
        work = _work(p)
        if work <= _MAX_NUMBERS_AT_ONCE:
            return (p,)
        fewer = max(_MAX_COARSE_POINTS, int(p.swept.x.size * min(1.0, _MAX_NUMBERS / work)))
        return (p.thinned(_MAX_COARSE_POINTS, Fidelity.COARSE), p.thinned(fewer))

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield the curves, then the same with the tables."""
        for result in super().answer(request, context):
            p = self.points(swept_points(self, request), request, context)
            if not result.complete or request.fidelity is Fidelity.COARSE or _lacks_query(p):
                yield result
                continue
            # Tables change too much to be laid out anew at every step of a slider.
            yield replace(result, complete=False)
            yield replace(result, tables=(_width_table(p), *_slope_table(p)), complete=True)

    def result(self, p: LinearPoints, *, complete: bool) -> Result:
        """Return the answer; without numbers while the query or its space lacks a file."""
        if _lacks_query(p):
            return _without_query(p, complete)
        return replace(super().result(p, complete=complete), space=_picture(p))

    def readouts(self, p: LinearPoints) -> tuple[ScalarResult, ...]:
        """Return the numbers of the curves, ℓ, widths with their true δ, errors as lengths."""
        what = p.request.quantity
        numbers = [*super().readouts(p)]
        if what != "true_delta":
            numbers += [*_slope_readouts(p), *_width_readouts(p)]
        if p.query.in_lengths and p.space.unit and what not in ("lip", "true_delta"):
            labels = _K_NORM_LABELS | {
                "gauss": "analytic Gaussian",
                "user": "user-level DP, ℓ2 K-norm",
            }
            for key in ("k1", "k2", "kinf", "kp", "gauss", "user"):
                bound = p.bounds.get(key)  # there is no ℓp curve where p is 1 or 2
                if bound is not None and bound.valid[-1]:
                    length = float(bound.value[-1]) * p.space.diameter
                    label = f"length, {labels[key]}"
                    numbers.append(
                        ScalarResult(f"{key}_length", label, length, bound.role, p.space.unit)
                    )
        return tuple(numbers)

    def conditions(self, p: LinearPoints) -> tuple[Condition, ...]:
        """Return the premises of the numbers."""
        return guarantee.conditions(p)

    def guarantee(self, p: LinearPoints) -> Guarantee | None:
        """Return the guarantee; None where ℓ is infinite."""
        if p.request.quantity != "true_delta" and not math.isfinite(p.euclidean.lip[-1]):
            return None
        return guarantee.guarantee(p)

    def notes(self, p: LinearPoints) -> tuple[str, ...]:
        """Return notes on the space, on the query's file and on constant queries."""
        constant = ""
        if p.request.quantity != "true_delta" and float(p.euclidean.lip[-1]) == 0:
            constant = (
                "The query is the same for all items: there is nothing to hide, and no noise."
            )
        return tuple(note for note in (*p.space.notes, p.query.note, constant) if note)


def _lacks_query(p: LinearPoints) -> bool:
    return bool(p.query.missing) and p.request.quantity != "true_delta"


def _work(p: LinearPoints) -> float:
    """Return about how many numbers must be gone through, over all points."""
    kind, swept = p.request["query"], p.swept.sweep.key
    if kind == GIVEN or p.request.quantity == "true_delta" or not p.query.complete:
        return 0.0
    if swept == "p":
        return float(p.swept.x.size * p.query.entries)
    if swept == "width" and kind == CELLS:
        return float(p.swept.x.size * p.query.entries * len(p.norms))
    return 0.0


def _slope_readouts(p: LinearPoints) -> Iterator[ScalarResult]:
    """Yield ℓ and the dimension of the answer, and the steepest pair of items."""
    m = p.euclidean
    if p.request.quantity != "lip" and math.isfinite(m.lip[-1]):
        role = Role.EXACT if m.last is None or m.last.attained else Role.UPPER
        yield ScalarResult("lip", "Lipschitz constant, ℓ2", float(m.lip[-1]), role)
        yield ScalarResult("dim", "dimension of the answer", float(m.dim[-1]))
        yield ScalarResult("range", "range of answers, ℓ2", float(m.width[-1]), Role.UPPER)
    if m.last is not None and m.last.first:
        label, pair = "steepest pair found, ℓ2", f"{m.last.first} and {m.last.second}"
        yield (
            ScalarResult("steepest", label, m.last.found, Role.LOWER, note=pair)
            if math.isfinite(m.last.found)
            else ScalarResult("steepest", label, None, note=f"infinite: {pair}")
        )


def _width_readouts(p: LinearPoints) -> Iterator[ScalarResult]:
    """Yield the true δ of the printed and of the textbook width."""
    for name, value in zip(("printed", "textbook"), p.true_deltas, strict=True):
        yield ScalarResult(
            f"delta_{name}",
            f"true δ of the {name} width",
            value,
            Role.EXACT,
            note="" if value <= p.request["delta"] else "not private at this α and δ",
        )


def _picture(p: LinearPoints) -> SpacePicture | None:
    """Return the space's picture with the landmarks in it, where the picture has room for them."""
    picture, centres = p.space.picture, p.query.centres
    if picture is None or centres is None:
        return picture
    points = np.concatenate([picture.points, centres])
    groups = np.concatenate([picture.groups, np.ones(len(centres), dtype=np.intp)])
    note = f"{picture.note} The second colour: the query's landmarks or cells."
    return replace(picture, points=points, groups=groups, note=note.strip())


def _without_query(p: LinearPoints, complete: bool) -> Result:
    """Return an answer without numbers: a file is missing, or does not fit."""
    missing = p.query.missing
    nowhere = np.full(p.swept.x.size + 1, np.nan)
    absent = np.zeros(nowhere.shape, bool)
    bound = Bound(nowhere, Role.EXACT, theory.K_NORM, absent, missing)
    label = "in the ℓ1 norm" if p.request.quantity == "lip" else _K_NORM_LABELS["k1"]
    return Result(
        p.request,
        p.fidelity,
        series=(series_from("k1", label, p.swept, bound),),
        readouts=(scalar_from("k1", label, bound),),
        conditions=(Condition("The query and its space are given", False, missing),),
        space=p.space.picture,
        notes=(missing, *p.space.notes),
        complete=complete,
    )


def _width_table(p: LinearPoints) -> Table:
    """Return the three Gaussian widths at the sliders and at some examples."""
    own = (float(p.request["alpha"]), float(p.request["delta"]))
    rows = [("at the current settings", *_widths(p.context, *own))]
    for example in _WIDTH_EXAMPLES:
        widths = p.context.cached(
            ("linear-widths", *example), partial(_widths, p.context, *example)
        )
        rows.append(("for comparison", *widths))
    return Table(
        "widths",
        "Gaussian widths",
        (
            "",
            "α",
            "δ asked",
            "σ as printed",
            "its true δ",
            "private up to α =",
            "σ, textbook",
            "its true δ ",
            "σ, analytic",
        ),
        tuple(rows),
        note=(
            "Widths for a Lipschitz constant of 1 and n = 1; true δ is exact, at the largest "
            "distance. Where it is above the δ asked the width is not private. The printed width "
            "is private only up to the α given (at this δ); an empty cell means at no α above "
            "1e-6."
        ),
        roles=(
            None,
            None,
            None,
            Role.EXACT,
            Role.EXACT,
            Role.LOWER,
            Role.EXACT,
            Role.EXACT,
            Role.UPPER,
        ),
    )


def _widths(context: Context, alpha: float, delta: float) -> tuple[float | None, ...]:
    printed, textbook = true_deltas_at(alpha, delta)
    at, with_delta = np.array([alpha]), np.array([delta])
    return (
        alpha,
        delta,
        float(um.gaussian_sigma_printed(alpha, delta)),
        printed,
        context.cached(("printed-private", delta), lambda: printed_private_up_to(delta)),
        float(um.gaussian_sigma_textbook(alpha, delta)),
        textbook,
        float(analytic_sigma(at, with_delta, context)[0]),
    )


def _slope_table(p: LinearPoints) -> tuple[Table, ...]:
    """Return Δ_EM of the query at the sliders in every norm, and the pair that attains it."""
    query = p.query
    if p.request["query"] == GIVEN or query.missing or p.request.quantity == "true_delta":
        return ()
    orders = [*sorted({1.0, 2.0, float(p.request["p"])}), math.inf]
    rows: list[tuple[str | float | None, ...]] = []
    for order in orders:
        s = sensitivity(query, p.space, order, p.context)
        lip, result = float(s.lip[-1]), s.found
        rows.append(
            (
                "ℓ∞" if math.isinf(order) else f"ℓ{nearest(order)}",
                lip if math.isfinite(lip) else "infinite",
                "exact" if s.attained else "upper bound",
                result if math.isfinite(result) else ("infinite" if s.first else None),
                s.first or None,
                s.second or None,
                float(s.width[-1]) if math.isfinite(s.width[-1]) else "infinite",
            )
        )
    return (
        Table(
            "slopes",
            "Lipschitz constant",
            ("norm", "ℓ used", "which is", "steepest pair found", "from", "to", "range of answers"),
            tuple(rows),
            note=(
                f"{query.name[0].upper()}{query.name[1:]}. "
                "ℓ is the largest change of the query over the distance of two items: all pairs of "
                "a finite space are gone through (neighbours on a grid); on the line, the square "
                "and the sphere it is proved, and the pair is the steepest of a sample. "
                "Empty cells: no pair was looked for, as there are too many. The range is what "
                "user-level DP must hide."
            ),
            roles=(
                None,
                [Role.EXACT if row[2] == "exact" else Role.UPPER for row in rows],
                None,
                Role.LOWER,
                None,
                None,
                Role.UPPER,
            ),
        ),
    )
