"""Item-wise release: every item randomised, all answers shuffled; α from α₀ and back."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import Bound, Reference, Role
from explorer.privacy.shuffling import Clones
from explorer.studies.base.builders import (
    FILE,
    TYPED,
    choice,
    count,
    delta,
    epsilon,
    real,
    table_parameters,
)
from explorer.studies.base.claims import ClaimedBound
from explorer.studies.base.curve_study import CurveStudy
from explorer.studies.base.numbers import at_least, nearest
from explorer.studies.base.phrases import times
from explorer.studies.base.plots import Curve, Plot
from explorer.studies.base.study import (
    Condition,
    Context,
    Fidelity,
    Guarantee,
    Headline,
    Mark,
    Quantity,
    Result,
    ScalarResult,
    Scale,
    Statistic,
    Table,
)
from explorer.studies.base.sweeping import scalar_from
from explorer.studies.guarantees.tradeoffs import with_tradeoff
from explorer.studies.itemwise import guarantee, theory
from explorer.studies.itemwise.help import PAGE, PRESETS
from explorer.studies.itemwise.theory import (
    CENTRAL,
    EXPONENTIAL,
    GKRR,
    LOCAL,
    OPTIMAL,
    PLANAR,
    SOLVED_ROUTES,
    ItemPoints,
    distance_at,
)
from explorer.studies.metric_space.parameters import (
    CLUSTERED,
    DISCRETE,
    GRID,
    MATRIX,
    POINTS,
    SQUARE_L2,
    TYPED as TYPED_SPACE,
    space_parameters,
)

OWN_EXAMPLE = "9/16 3/16 3/16 1/16; 3/16 9/16 1/16 3/16; 3/16 1/16 9/16 3/16; 1/16 3/16 3/16 9/16"
"""Randomised response on either coordinate of a 2 × 2 grid, whose α₀ is 2 ln 3."""

PARAMETERS = (
    choice(
        "model",
        "",
        "model",
        "Central: the items of all users are shuffled together, by a curator or a trusted "
        "shuffler. Local: every user shuffles only their own; more private towards the curator, "
        "and n does not help.",
        CENTRAL,
        (
            (CENTRAL, "central: all users' items shuffled together"),
            (LOCAL, "local: each user shuffles their own items"),
        ),
    ),
    epsilon(
        "target for the user",
        "The privacy asked for a user's whole data, per largest distance: a change by earth "
        "mover's distance w is protected at ε = αw. Smaller is more private.",
        25.0,
        1e-2,
        800.0,
        key="alpha",
        symbol="α",
        unit="1/diameter",
        quantities=("alpha0", "noise", "delta"),
    ),
    epsilon(
        "privacy of one item",
        "The parameter of the mechanism that randomises each item, per largest distance: no "
        "answer is more than e^(α₀·d) times as likely for one item as for another at distance "
        "d. Smaller is more private.",
        3.0,
        1e-4,
        50.0,
        key="alpha0",
        symbol="α₀",
        unit="1/diameter",
        quantities=("alpha", "delta", "change"),
    ),
    count(
        "m",
        "m",
        "items of a user",
        "How many items every user has: one public number for all. More items hide each other "
        "in the shuffle, but there are more to protect.",
        1000,
        1,
        10**9,
    ),
    count(
        "n",
        "n",
        "users",
        "How many users' items are shuffled together. More users are more private at one α₀.",
        100_000,
        1,
        10**9,
        more_private="high",
        relevant_when=(("model", (CENTRAL,)),),
    ),
    delta(
        1e-12,
        1e-40,
        symbol="δ′",
        quantities=("alpha0", "alpha", "noise", "change"),
        help="The δ that is claimed for a user's whole data. Smaller is more private.",
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
        quantities=("alpha0", "alpha", "noise", "delta"),
    ),
    count(
        "v0",
        "‖v‖₀",
        "items that move",
        "How many of a user's items the change moves, by whatever distance.",
        1000,
        1,
        10**9,
        latex=r"\|v\|_0",
        quantities=("change",),
    ),
    real(
        "v1",
        "‖v‖₁",
        "distances altogether",
        "The sum of the distances that these items move, each as a share of the largest distance: "
        "at most as many as there are.",
        8.0,
        1e-6,
        1e9,
        latex=r"\|v\|_1",
        quantities=("change",),
    ),
    choice(
        "randomiser",
        "",
        "randomiser of an item",
        "How an item is randomised. Guarantees are the same for all that are α₀·d-private; how "
        "far an answer lies from the item is not. The exponential mechanism answers at the "
        "rate α₀/2, and its mean is over items drawn evenly. The optimal one has the least such "
        "mean of all that are α₀·d-private and answer with items. Of your own table the smallest "
        "α₀ is computed, and what it is worth.",
        PLANAR,
        (
            (PLANAR, "planar Laplace (squares)"),
            (GKRR, "GKRR (clusters, 0/1)"),
            (EXPONENTIAL, "exponential mechanism (up to 300 items)"),
            (OPTIMAL, "optimal, by linear programming (up to 40 items)"),
            (TYPED, "your own table, typed (a row for each item)"),
            (FILE, "your own table (CSV, up to 400 items)"),
        ),
        group="mechanism",
    ),
    *table_parameters("randomiser", "table", OWN_EXAMPLE, {"group": "mechanism"}),
    choice(
        "clones",
        "",
        "analysis of the clones",
        "Which share of the others' answers hides an item that moves: the published analysis, "
        "or the stronger one, which gains only where items can't be arbitrarily near.",
        Clones.PUBLISHED.value,
        (
            (Clones.PUBLISHED.value, "2021: p = e^(−α₀)"),
            (Clones.STRONGER.value, "2023: up to twice as many"),
        ),
        group="mechanism",
        relevant_when=(("space", (GRID, CLUSTERED, DISCRETE, MATRIX, TYPED_SPACE, POINTS)),),
    ),
    *space_parameters(default=SQUARE_L2),
)

_OWN_NOTE = "mean over items drawn evenly, of your table as it is, where its α₀ is allowed"
_DISTANCE_NOTES = {
    TYPED: _OWN_NOTE,
    FILE: _OWN_NOTE,
    PLANAR: "before any clipping to the square",
    GKRR: "the same for every item",
    EXPONENTIAL: "mean over items drawn evenly, answered at the rate α₀/2, which always suffices",
    OPTIMAL: (
        "mean over items drawn evenly, the least there is: solved for α₀ in steps of 5 %, of which "
        "the next lower is taken"
    ),
}
"""What the mean distance of each randomiser is taken over."""


def _template(
    key: str,
    label: str,
    short: str,
    source: Reference,
    note: str = "",
    mark: Mark = Mark.LINE,
) -> Callable[..., Curve]:
    """Return a function to the curve of a route, from what differs between plots."""
    return partial(
        Curve,
        key,
        label,
        short,
        source=source,
        value=partial(ItemPoints.route, key=key),
        note=partial(_note, key, note),
        mark=mark,
        points=partial(ItemPoints.for_route, key=key) if key in SOLVED_ROUTES else None,
    )


def _note(key: str, note: str, p: ItemPoints) -> str:
    """Return the note of a curve; of an estimate that the exact one follows."""
    estimated = key in ("exact", "exact_near", "sorted") and p.coarse and p.solved != "delta"
    notes = ["normal approximation; the exact sum follows" if estimated else note]
    if p.request.quantity == "noise":
        notes.append(_DISTANCE_NOTES[p.request["randomiser"]])
    return "; ".join(n for n in notes if n)


_exact = _template("exact", "exact hops", "exact hops", theory.EXACT)
_exact_near = _template(
    "exact_near", "exact hops, smallest distance of the space", "", theory.EXACT
)
_sorted = _template("sorted", "hops in increasing order", "hops, increasing order", theory.SORTED)
_tight = _template(
    "tight", "Theorem 4.4, δ·e^h = δ′", "Theorem 4.4, δ·e^h = δ′", theory.THEOREM_TIGHT
)
_simple = _template(
    "simple", "Theorem 4.4, δ = δ′e^(−α)", "Theorem 4.4, δ′e^(−α)", theory.THEOREM_SIMPLE
)
_composed = _template(
    "composed", "plain composition, α = m·α₀", "plain composition", theory.COMPOSED
)
_printed = _template(
    "printed",
    "equation (6)/(7) of the paper",
    "equation (6)/(7)",
    theory.PRINTED,
    "the paper's claim, not to calibrate with: for α₀ ≤ 1 4.6 to 8 times too small, for α₀ > 4 "
    "more than its own theorem allows",
)
_product = _template(
    "product",
    "hops side by side, 0/1 distances",
    "",
    theory.PRODUCT,
    "computed at the slider's value",
    Mark.DOTS,
)
_refuted = _template(
    "refuted",
    "impossible (counter-example)",
    "impossible",
    theory.REFUTED,
    "no accountant that knows only α₀, m, n and the diameter can promise more",
    Mark.DOTS,
)


def _routes(certified: Role, refuted: Role) -> tuple[Curve, ...]:
    """Return the curves of α₀ or α. Those of the full answer alone stand last."""
    return (
        _exact(role=certified, primary=2, claimable=3),
        _exact_near(role=certified, primary=0, claimable=3),
        _sorted(role=certified, primary=1, claimable=1),
        _tight(role=certified, primary=2, claimable=3),
        _simple(role=certified, primary=0, claimable=3),
        _composed(role=certified, primary=2, claimable=3),
        # Neither the printed equations nor a refuted number may be claimed.
        _printed(role=Role.BASELINE, primary=0),
        _product(role=certified, primary=0, claimable=2),
        _refuted(role=refuted, primary=2),
    )


def _distance(key: str, p: ItemPoints) -> Bound | None:
    alpha0 = p.route(key)
    return None if alpha0 is None else distance_at(alpha0, p)


def _noise(template: Callable[..., Curve], key: str, primary: int) -> Curve:
    """Return the curve of the mean distance at the α₀ of a route."""
    return template(
        role=Role.EXACT,
        source=theory.NOISE,
        value=partial(_distance, key),
        unit="diameters",
        primary=primary,
    )


def _headline(result: Result, claimed: ClaimedBound | None) -> Headline | None:
    if claimed is None:
        return None
    text = f"Each item may use α₀ = {at_least(claimed.value)}"
    rivals = (("tight", "what Theorem 4.4 allows"), ("composed", "what plain composition allows"))
    ratios = [
        f"{times(claimed.value / value)} {name}"
        for key, name in rivals
        if key != claimed.series.key and (value := result.number(key))
    ]
    return Headline(claimed.text.number, f"{', '.join((text, ' and '.join(ratios)))}.")


PLOTS = (
    Plot(
        Quantity(
            "alpha0",
            "α₀",
            "privacy of an item, allowed",
            ("alpha", "m", "n", "delta"),
            scale=Scale.LOG,
            unit="1/diameter",
            latex=r"\alpha_0",
        ),
        _routes(Role.LOWER, Role.UPPER),
        sliders=("alpha", "m", "n", "w"),
        better="high",
        solves="n",
        headline=_headline,
    ),
    Plot(
        Quantity(
            "alpha",
            "α",
            "privacy of a user, certified",
            ("alpha0", "m", "n", "delta"),
            scale=Scale.LOG,
            unit="1/diameter",
            latex=r"\alpha",
        ),
        _routes(Role.UPPER, Role.LOWER),
        sliders=("alpha0", "m", "n", "w"),
        solves="alpha0",
        claim_text=guarantee.claim_text,
    ),
    Plot(
        Quantity(
            "delta",
            "δ′",
            "failure probability",
            ("alpha", "alpha0", "m", "n"),
            scale=Scale.LOG,
            latex=r"\delta'",
        ),
        (
            _exact(role=Role.UPPER, primary=2, claimable=2),
            _exact_near(role=Role.UPPER, primary=0, claimable=2),
            _template(
                "proof",
                "Theorem 4.3, the δ of its proof",
                "Theorem 4.3, proof's δ",
                theory.THEOREM_PROOF,
            )(role=Role.UPPER, primary=0, claimable=2),
            _template(
                "claimed",
                "Theorem 4.4, the δ it claims",
                "Theorem 4.4, its δ",
                theory.THEOREM_TIGHT,
            )(role=Role.UPPER, primary=2, claimable=2),
            _sorted(role=Role.UPPER, primary=1, claimable=1),
            _refuted(role=Role.LOWER, primary=2),
        ),
        sliders=("alpha", "alpha0", "m", "n"),
        solves="alpha0",
        claim_text=guarantee.claim_text,
    ),
    Plot(
        Quantity(
            "noise",
            "d̄",
            "mean distance of an answer",
            ("alpha", "m", "n", "delta"),
            scale=Scale.LOG,
            unit="diameters",
            latex=r"\overline{d}",
            statistic=Statistic.MEAN,
        ),
        (
            _noise(_exact, "exact", 2),
            _noise(_exact_near, "exact_near", 0),
            _noise(_sorted, "sorted", 1),
            _noise(_tight, "tight", 2),
            _noise(_composed, "composed", 2),
            _noise(_product, "product", 0),
        ),
        sliders=("alpha", "m", "n", "delta"),
    ),
    Plot(
        Quantity(
            "change",
            "ε",
            "privacy of one change",
            ("v1", "v0", "alpha0", "m", "n", "delta"),
            scale=Scale.LOG,
            latex=r"\varepsilon",
        ),
        (
            Curve(
                "theorem43",
                "Theorem 4.3, δ·e^h = δ′",
                "Theorem 4.3",
                Role.UPPER,
                theory.THEOREM_43,
                theory.theorem43,
                claimable=1,
            ),
            Curve(
                "composed",
                "plain composition, ε = α₀·‖v‖₁",
                "plain composition",
                Role.UPPER,
                theory.COMPOSED,
                theory.composed_change,
                note="without any δ",
                claimable=1,
            ),
            Curve(
                "rough",
                "the paper's remark, α₀·‖v‖₁/√total",
                "the paper's remark",
                Role.BASELINE,
                theory.REMARK_43,
                theory.rough_change,
                note="the paper's “roughly”, no bound",
                primary=0,
            ),
            Curve(
                "hops",
                "hops, ε = α·‖v‖₁/m",
                "hops of one change",
                Role.UPPER,
                theory.SORTED,
                theory.hops_change,
                note="the least α that is proved, at the distance ‖v‖₁/m",
                claimable=1,
                points=theory.few,
            ),
            *(
                Curve(
                    key,
                    label,
                    short,
                    Role.UPPER,
                    source,
                    partial(theory.hop_change, stronger=stronger),
                    note="the divergence of the lemma's pair, exact to rounding; attained where "
                    "no other item is shuffled with it",
                    claimable=1,
                    points=theory.at_hops,
                )
                for key, label, short, source, stronger in (
                    ("hop", "one item, Lemma B.1", "Lemma B.1", theory.LEMMA_B1, False),
                    (
                        "hop_stronger",
                        "one item, Lemma B.1 with stronger clones",
                        "Lemma B.1, more clones",
                        theory.LEMMA_B1_STRONGER,
                        True,
                    ),
                )
            ),
        ),
        sliders=("v0", "v1", "alpha0", "m"),
        claim_text=guarantee.change_text,
    ),
)
_CERTIFIED = {
    plot.quantity.key: {c.key: str(c.label) for c in plot.curves if c.claimable} for plot in PLOTS
}
"""Labels of the certified routes, by quantity and key."""

EXAMPLES = (
    (25.0, 1e-12, 1e3, 1e5),
    (25.0, 1e-12, 1e3, 1.0),
    (25.0, 1e-12, 1e3, 1e3),
    (5.0, 1e-12, 1e3, 1e5),
    (1.0, 1e-12, 1e3, 1e5),
)
"""α, δ′, m and n of the paper's example and its neighbours."""
_CLAIMED_FIRST = ("alpha0", "alpha")
"""Quantities whose claimed number is the first answer."""
PRINTED_ALPHA0 = 3.0
"""α₀ of the first example in the text of Section 4.2."""


@with_tradeoff(also=("alpha0", "randomiser"), audits=theory.audits)
class ItemWise(CurveStudy):
    """α certified from α₀ and back: exact hops, Theorem 4.4, composition, the paper's forms."""

    id = "itemwise"
    simulated = "shuffle.items/1"
    parameters = PARAMETERS
    plots = PLOTS
    points = ItemPoints
    page = PAGE
    presets = PRESETS

    def stages(self, p: ItemPoints) -> tuple[ItemPoints, ...]:
        """Return the points of closed forms and a few claimed ones, then those of exact hops.

        A coarse answer, and the first one for δ′ and distances, has a quick estimate instead.
        """
        if p.request.quantity == "change":
            p = theory.with_edges(p)
        # Numbers at the sliders lie on the exact curves.
        full = p.at(p.swept.with_sliders(), Fidelity.FULL)
        if p.coarse or p.request.quantity not in _CLAIMED_FIRST:
            return (p.at(p.swept, Fidelity.COARSE), full)
        first = p.at(p.swept, Fidelity.FULL)
        first.first = True
        return (first, full)

    def claimed_number(self, p: ItemPoints) -> tuple[Curve, ItemPoints] | None:
        """Return the hops in increasing order at the sliders' values."""
        if p.request.quantity not in _CLAIMED_FIRST:
            return None
        only = p.at(p.swept.only_sliders(), Fidelity.FULL)
        only.first = True
        return next(c for c in self.curves(p) if c.key == "sorted"), only

    def result(self, p: ItemPoints, *, complete: bool) -> Result:
        """Return the answer; curves that are not solved yet are marked."""
        answer = super().result(p, complete=complete)
        coming = (
            replace(s, computing=True) if s.undefined_reason == theory.COMING else s
            for s in answer.series
        )
        known = (r for r in answer.readouts if r.note != theory.COMING)
        return replace(answer, series=tuple(coming), readouts=tuple(known))

    def readouts(self, p: ItemPoints) -> tuple[ScalarResult, ...]:
        """Return the numbers of the curves; of the mean distance also its length and α₀."""
        numbers = (*super().readouts(p), *_own_readouts(p))
        if p.request.quantity != "noise":
            return numbers
        mean = p.bounds["exact"].value[-1]
        if np.isfinite(mean) and p.space.metric is not None:
            role = Role.ESTIMATE if p.coarse else Role.EXACT
            length = float(mean) * p.space.diameter
            note = _DISTANCE_NOTES[p.request["randomiser"]]
            numbers += (
                ScalarResult("length", "mean distance", length, role, p.space.unit, note=note),
            )
        return (*numbers, scalar_from("alpha0", "α₀ by exact hops", p.routes["exact"]))

    def tables(self, p: ItemPoints) -> tuple[Table, ...]:
        """Return the notions of privacy at the sliders and the paper's example, in full answers."""
        if p.coarse or p.first:
            return ()
        table: Table = p.context.cached(
            ("itemwise", "examples"), partial(_example_table, p.context)
        )
        if p.request.quantity == "change":
            return (table,)
        alpha, alpha0, delta, label = _at_sliders(p)
        if not label or delta >= 1:
            return (table,)
        return (guarantee.notions_table(p, alpha, alpha0, delta), table)

    def conditions(self, p: ItemPoints) -> tuple[Condition, ...]:
        """Return the premises of the numbers."""
        if p.request.quantity == "change":
            return guarantee.change_conditions(p)
        alpha, alpha0, delta, _ = _at_sliders(p)
        return guarantee.conditions(p, alpha, alpha0, delta)

    def guarantee(self, p: ItemPoints) -> Guarantee | None:
        """Return the guarantee of the route that certifies it best; None if none does."""
        if p.request.quantity == "change":
            return guarantee.change_guarantee(p)
        alpha, alpha0, delta, label = _at_sliders(p)
        if not label or delta >= 1:
            return None
        return guarantee.guarantee(p, alpha, alpha0, delta, label)


def _own_readouts(p: ItemPoints) -> tuple[ScalarResult, ...]:
    """Return α₀ of the user's own table and, at rest, the least α that it is proved to be worth."""
    own = p.own
    if isinstance(own, str) or not math.isfinite(own.alpha0):
        return ()
    numbers = [ScalarResult("own_alpha0", "α₀ of your table", own.alpha0, Role.UPPER, "1/diameter")]
    if not (p.coarse or p.first or p.solved == "delta") and own.alpha0 <= theory.MAX_ALPHA:
        delta, near = float(p.request["delta"]), p.space.min_distance
        key = (own.alpha0, delta, float(p.m[-1]), float(p.n[-1]), near)
        alpha = p.context.cached(("itemwise", "own alpha", key), lambda: float(um.best_alpha(*key)))
        if math.isfinite(alpha):
            numbers.append(
                ScalarResult(
                    "own_alpha",
                    "α that your table is worth",
                    alpha,
                    Role.UPPER,
                    "1/diameter",
                    note="the least that hops prove for m items at δ′",
                )
            )
    return tuple(numbers)


def _at_sliders(p: ItemPoints) -> tuple[float, float, float, str]:
    """Return α, α₀, δ′ and the label of the route that certifies them best; "" if none does."""
    alpha, alpha0, delta = (float(p.request[key]) for key in ("alpha", "alpha0", "delta"))
    labels, values = _CERTIFIED[p.solved], {}
    for key in labels:
        bound = p.routes.get(key)
        if bound is None and key not in SOLVED_ROUTES:  # of no curve of this plot
            bound = p.route(key)
        if bound is not None and bound.valid[-1] and bound.role is not Role.ESTIMATE:
            values[key] = float(bound.value[-1])
    if not values:
        return alpha, alpha0, delta, ""
    best = (max if p.solved == "alpha0" else min)(values, key=values.__getitem__)
    if p.solved == "delta":
        return alpha, alpha0, values[best], labels[best]
    delta = 0.0 if best == "composed" else delta
    if p.solved == "alpha":
        return values[best], alpha0, delta, labels[best]
    return alpha, values[best], delta, labels[best]


def _example_table(context: Context) -> Table:
    """Return α₀ of the paper's example and its neighbours by every route."""
    rows = []
    for example in EXAMPLES:
        context.check()
        alpha, _, m, n = example
        rows.append(
            (
                "local" if n == 1 else "central",
                *example,
                PRINTED_ALPHA0 if (alpha, n) == (25.0, 1e5) else None,
                float(um.closed_form(*example).alpha0),
                float(um.closed_form_achieved(*example)),
                float(um.theorem44_alpha0(*example).alpha0),
                float(um.theorem44_alpha0(*example, um.Internal.TIGHT).alpha0),
                float(um.group_alpha0(*example)),
                alpha / m,
            )
        )
    worth = um.theorem44_alpha(PRINTED_ALPHA0, 1e3, 1e-12 * math.exp(-25), 1e5)
    return Table(
        "examples",
        "The paper's example: α₀ as printed, corrected, exact",
        (
            "model",
            "α",
            "δ′",
            "m",
            "n",
            "α₀ in the text",
            "α₀ of eq (6)/(7)",
            "α this spends",
            "Theorem 4.4, δ = δ′e^(−α)",
            "Theorem 4.4, δ·e^h = δ′",
            "exact hops",
            "α/m",
        ),
        tuple(rows),
        note=(
            f"The text's α₀ ≈ 3.0 is the theorem's ratio at w = 1; by the theorem itself it is "
            f"worth α = {nearest(worth)} and not 25 (errata user-A1); other rows have none in the "
            "text. “α this spends” is what Theorem 4.4 certifies at the printed equation's α₀: "
            "above α the theorem does not give what is promised, below it accuracy is wasted. "
            "Larger α₀ is less noise."
        ),
        roles=(*[None] * 6, Role.EXACT, Role.UPPER, *[Role.LOWER] * 4),
    )
