"""Shuffle accountant: ε at δ, or Rényi levels, of rounds in the subsampled shuffle model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from explorer.privacy import shuffle_rdp as rdp
from explorer.privacy.core.bound import Bound
from explorer.privacy.shuffle_rdp.losses import COMPOSED_BLANKET
from explorer.privacy.shuffle_rdp.upper import MAX_ALPHA
from explorer.privacy.shuffling import Clones
from explorer.studies.base.builders import choice, count, delta, epsilon, orders, real, share
from explorer.studies.base.claims import with_claim
from explorer.studies.base.curve_study import CurveStudy, with_late_curve
from explorer.studies.base.phrases import which_won
from explorer.studies.base.plots import Curve
from explorer.studies.base.study import (
    Condition,
    Context,
    Fidelity,
    Guarantee,
    Request,
    Result,
    ScalarResult,
)
from explorer.studies.base.sweeping import scalar_from
from explorer.studies.guarantees.audits import Audited
from explorer.studies.guarantees.rounds import responses_run, round_laws
from explorer.studies.guarantees.tradeoffs import Law, with_tradeoff
from explorer.studies.shuffle_accountant import guarantee as words, theory
from explorer.studies.shuffle_accountant.curves import (
    COARSE_ORDER,
    COMPOSED,
    PLOTS,
    WORST_CASE,
    AccountantPoints,
)
from explorer.studies.shuffle_accountant.help import PAGE, PRESETS
from explorer.studies.shuffle_accountant.theory import (
    CAP,
    CLOSED,
    KOV_EXACT,
    NUMERICAL,
    THEOREM_1,
    THEOREM_2,
    THEOREM_3,
    UNAMPLIFIED,
)

_AT_SLIDERS = tuple(key for key in COMPOSED if key != "kov_exact")
"""Compositions that are computed at the sliders' values first."""
_COARSE_POINTS = 24
_EPOCH_POINTS, _EPOCH_APART = 48, 22
"""Most points for clients that take part once an epoch: of one round, and of rounds apart."""

PARAMETERS = (
    epsilon(
        "local privacy",
        "Privacy of every single message before it is shuffled. Smaller is more private.",
        2.0,
        0.01,
        10.0,
        key="eps0",
        symbol="ε₀",
    ),
    count(
        "n",
        "n",
        "clients",
        "Number of clients. More clients are more private.",
        1_000_000,
        1,
        1_000_000_000,
        unit="clients",
        more_private="high",
        quantities=("eps", "rdp", "own", "epochs"),
    ),
    count(
        "k",
        "k",
        "clients sampled",
        "How many clients are sampled in a round and shuffled together. Sampling protects "
        "fewer clients better, shuffling more clients.",
        1_000,
        1,
        1_000_000_000,
        unit="clients",
    ),
    count(
        "T",
        "T",
        "rounds",
        "How many rounds are run. Fewer is more private.",
        100_000,
        1,
        100_000_000,
        unit="rounds",
        more_private="low",
        quantities=("eps", "own", "epochs"),
    ),
    delta(1e-8, quantities=("eps", "own", "epochs")),
    orders(
        "Order of the Rényi divergence.",
        8,
        key="lam",
        symbol="λ",
        name="Rényi order",
        latex=r"\lambda",
        quantities=("rdp",),
    ),
    orders(
        "The conversion to ε takes the best order from 2 to here. Any choice is sound; a small "
        "one can be loose.",
        quantities=("eps",),
    ),
    choice(
        "clones",
        "",
        "clones analysis",
        "Which analysis of the clones the numerical curves use. Where clients are sampled both "
        "need one common, non-adaptive randomiser a round.",
        Clones.PUBLISHED.value,
        ((Clones.PUBLISHED.value, "2021, as published"), (Clones.STRONGER.value, "2023, sharper")),
        quantities=("eps", "rdp", "epochs"),
    ),
    count(
        "alpha",
        "α",
        "power",
        "Power of |(P−Q)/R| in Definition 4: Theorem 1 adds up bounds on all from 2 to λ.",
        2,
        2,
        MAX_ALPHA,
        latex=r"\alpha",
        quantities=("ternary",),
    ),
    choice(
        "randomiser",
        "",
        "randomiser",
        "What every client of a round runs. For a known randomiser the bound is tighter than the "
        "clones', which hold for every ε₀-LDP randomiser.",
        "krr",
        (("krr", "k-ary randomised response"), ("privunit", "PrivUnit (a cap of a sphere)")),
        quantities=("own",),
    ),
    count(
        "outcomes",
        "d",
        "values of the randomised response",
        "How many values a record, and so a message, can have.",
        10,
        2,
        1_000_000,
        unit="values",
        quantities=("own",),
        relevant_when=(("randomiser", ("krr",)),),
    ),
    share(
        "theta",
        "θ",
        "share of the sphere in the cap",
        "A message is e^ε₀ times as likely inside the cap around the client's own direction as "
        "outside. One half is the mechanism of Duchi et al., smaller caps are PrivUnit's.",
        0.1,
        0.0001,
        0.5,
        latex=r"\theta",
        quantities=("own",),
        relevant_when=(("randomiser", ("privunit",)),),
    ),
    real(
        "gamma",
        "γ",
        "sampling rate",
        "Share of the clients that are sampled in a round: k = round(γn).",
        1e-3,
        1e-9,
        1.0,
        latex=r"\gamma",
        axis_only=True,
        replaces=("k",),
    ),
)


def _laws(request: Request, promise: Guarantee, context: Context) -> Iterator[Law]:
    """Yield δ(ε) of the composed clones and of randomised response."""
    eps0, k, n, rounds = (float(request[key]) for key in ("eps0", "k", "n", "T"))
    chain, variant = (eps0, k, n, rounds), Clones(request["clones"])
    yield from round_laws(chain, variant, promise, context, ("shuffle-rdp", "composed"))


def _audits(request: Request, promise: Guarantee, _context: Context) -> Audited:
    """Return the audit of randomised response in all rounds, which the lower bound rests on."""
    eps, delta = promise.pairs[0]
    k, n, rounds = (int(request[key]) for key in ("k", "n", "T"))
    return responses_run(float(request["eps0"]), k, n, rounds, delta, eps)


@with_tradeoff(
    ("eps0", "n", "k", "T", "delta", "lam_max", "clones"),
    laws=_laws,
    promising=("law",),
    audits=_audits,
    patient=True,
)
class ShuffleAccountant(CurveStudy):
    """Accountant of the subsampled shuffle model, with the paper's comparators."""

    id = "shuffle-rdp"
    parameters = PARAMETERS
    plots = PLOTS
    points = AccountantPoints
    page = PAGE
    presets = PRESETS
    references = (
        THEOREM_1,
        THEOREM_2,
        THEOREM_3,
        CLOSED,
        *NUMERICAL.values(),
        KOV_EXACT,
        UNAMPLIFIED,
        CAP,
    )

    def stages(self, p: AccountantPoints) -> Iterable[AccountantPoints]:
        """Return what is claimed first, then what takes longer.

        While all quick curves would take long, they come with fewer points and lower orders first,
        and without the numerical comparator.
        """
        shown = p.request.quantity
        if shown == "own":
            first = p.at(p.swept, Fidelity.COARSE)
            return (first, p) if p.holds.any() else (first,)
        if shown == "epochs":
            few = _EPOCH_POINTS if p.one_round else _EPOCH_APART
            return (p.among(1, own=True, fidelity=Fidelity.COARSE), p.among(few))
        if shown == "ternary":
            return (p.at(p.swept, Fidelity.COARSE), p)
        if p.coarse:
            return (self._with_less(p),)
        quick = self._is_quick(p)
        first = p if quick else self._with_less(p)
        if shown != "eps":
            return (p,) if quick else (first, p)
        if not p.holds[-1]:
            return (first, p.next("composed")) if quick else (first, p, p.next("composed"))
        return (first.next("curve"), p.next("at_sliders"), p.next("composed"))

    def claimed_number(self, p: AccountantPoints) -> tuple[Curve, AccountantPoints] | None:
        """Return the composition of the clones at the sliders' values."""
        if p.request.quantity != "eps" or not p.answered:
            return None
        return next(c for c in self.curves(p) if c.key == COMPOSED[0]), p.only_sliders

    def simulation(self, p: AccountantPoints) -> Callable[[Result], Iterator[Result]] | None:
        """Return the function that adds the worst case, at the sliders first.

        It is a search, which nothing else waits for.
        """
        if p.request.quantity != "eps" or p.coarse or not p.holds.any():
            return None

        def add(answer: Result) -> Iterator[Result]:
            only, drawn = p.only_sliders, p.for_worst_case
            if p.holds[-1]:
                answer = with_claim(with_late_curve(answer, WORST_CASE, only, only.worst))
                yield answer
            lower = drawn.composed_lower[0].spread(drawn.holds, drawn.why_undefined).value
            answer = with_late_curve(answer, WORST_CASE, drawn, drawn.worst, lower)
            yield with_claim(replace(answer, complete=True))

        return add

    def _with_less(self, p: AccountantPoints) -> AccountantPoints:
        """Return fewer points, or lower orders, for a first answer."""
        if p.swept.sweep.key == "lam":
            p = p.low_orders()
        elif not p.one_round:
            p = p.thinned(_COARSE_POINTS)
        return p.at(p.swept, Fidelity.COARSE)

    def _is_quick(self, p: AccountantPoints) -> bool:
        """Return whether the full curves take no longer than a preview."""
        cached = _token(p) in p.context.cached(("shuffle-rdp", "rounds seen"), set)
        if p.swept.sweep.key == "lam":
            return cached or bool(p.lam.max() <= COARSE_ORDER)
        return p.one_round and cached

    def result(self, p: AccountantPoints, *, complete: bool) -> Result:
        """Return the answer, its guarantee completed by the claimed bound."""
        answer = super().result(p, complete=complete)
        shown = p.request.quantity
        if shown in ("eps", "rdp") and p.stage in ("full", "at_sliders") and not p.coarse:
            p.context.cached(("shuffle-rdp", "rounds seen"), set).add(_token(p))
        pending = () if complete else self._pending(p)
        series = tuple(replace(s, computing=True) if s.key in pending else s for s in answer.series)
        return with_claim(replace(answer, series=series))

    def _pending(self, p: AccountantPoints) -> tuple[str, ...]:
        """Return the keys of curves that a later stage has."""
        if p.request.quantity == "ternary":
            return ("exact_3rr",) if p.coarse else ()
        if p.stage == "curve" and p.full.coarse:
            return ("clones_numerical",)
        return COMPOSED[:2] if p.stage == "at_sliders" else (WORST_CASE.key,)

    def _at_sliders(self, p: AccountantPoints) -> dict[str, Bound]:
        """Return the bounds that have a value at the sliders, by key of the curve, in order."""
        if not p.answered:
            return {}
        alone = _AT_SLIDERS if p.stage == "at_sliders" else ()
        pending = self._pending(p)
        bounds = {key: b for key, b in p.bounds.items() if key in alone or key not in pending}
        for curve in self.curves(p):
            if curve.key in alone:
                bound = curve.bound(p.only_sliders)
                assert bound is not None
                bounds[curve.key] = bound
        return bounds

    def readouts(self, p: AccountantPoints) -> tuple[ScalarResult, ...]:
        """Return the bounds at the sliders, the best order and the worse randomiser."""
        bounds = p.slider_bounds = self._at_sliders(p)
        labels = {curve.key: curve.label for curve in self.curves(p)}
        result = [scalar_from(key, _label(labels[key], p), b) for key, b in bounds.items()]
        if p.request.quantity != "eps" or not result:
            return tuple(result)
        curves = p.full.epsilon
        edge = bool(curves.at_edge[-1])
        note = "at the search edge: a larger λₘₐₓ might give less" if edge else ""
        result.insert(1, ScalarResult("order", "best order λ*", float(curves.order[-1]), note=note))
        if p.stage in ("at_sliders", "composed"):
            own = p.only_sliders if p.stage == "at_sliders" else p.for_compositions
            won = which_won(*own.composed_lower[1][:, -1].tolist())
            result = [
                replace(r, note="; ".join(n for n in (won, r.note) if n))
                if r.key == "lower_2rr"
                else r
                for r in result
            ]
        return tuple(result)

    def conditions(self, p: AccountantPoints) -> tuple[Condition, ...]:
        """Return the conditions at the sliders' values."""
        shown, point = p.request.quantity, p.point
        if shown == "ternary":
            return words.TERNARY_CONDITIONS
        sampled, clients = float(p.request["k"]), float(p.request["n"])
        if shown == "own":
            return words.own_conditions(sampled, clients, p.theta)
        if not p.answered:
            return (words.sampling(sampled, clients),)
        if shown == "epochs":
            return words.epoch_conditions(sampled, clients)
        if shown == "rdp":
            alone, cap = float(p.renyi.theorem1_alone[-1]), float(p.renyi.cap[-1])
            return (
                words.sampling(sampled, clients),
                words.not_vacuous(alone, cap),
                *words.ASSUMED,
                words.COMMON_ROUND,
            )
        curves = p.full.epsilon
        per_round = rdp.round_delta(
            point.sampled, point.clients, point.rounds, float(point.delta), theory.SHARE
        )
        return words.conditions(
            local=float(point.local),
            sampled=float(point.sampled),
            clients=float(point.clients),
            per_round=float(per_round),
            order=int(curves.order[-1]),
            lam_max=p.full.max_order,
            at_edge=bool(curves.at_edge[-1]),
            alone=float(curves.theorem1_alone[-1]),
            cap=float(curves.cap[-1]),
        )

    def guarantee(self, p: AccountantPoints) -> Guarantee | None:
        """Return the guarantee, which `result` completes by the claimed bound."""
        shown, point = p.request.quantity, p.point
        if shown == "ternary" or not p.answered:
            return None
        local, sampled, clients = map(float, (point.local, point.sampled, point.clients))
        here = {
            key: float(bound.value[-1]) for key, bound in p.slider_bounds.items() if bound.valid[-1]
        }
        if shown == "rdp":
            here["theorem1_alone"] = float(p.renyi.theorem1_alone[-1])
            return words.renyi_guarantee(here, local, sampled, clients)
        messages = float(point.sampled * point.rounds / point.clients)
        if shown == "epochs":
            rounds = int(rdp.rounds_an_epoch(point.sampled, point.clients))
            epochs = int(rdp.epochs_begun(point.rounds, point.sampled, point.clients))
            return words.guarantee(local, messages, words.epoch_differences(here, rounds, epochs))
        if shown == "own":
            promise = words.guarantee(local, messages)
            if "own" not in p.bounds:
                return promise
            return replace(
                promise,
                references=(COMPOSED_BLANKET, *promise.references),
                distance=theory.own_total_variation(point, p.theta, p.context),
                law="this randomiser through all rounds",
            )
        differences = words.differences(here, _is_figure_2a(point), local)
        promise = words.guarantee(local, messages, differences)
        if p.stage == "full":
            return promise
        return replace(
            promise,
            distance=theory.total_variation(point, p.variant, p.context),
            law=words.law(p.variant),
        )

    def notes(self, p: AccountantPoints) -> tuple[str, ...]:
        """Return why there is no answer at the sliders, and notes on the quantity."""
        if p.request.quantity == "ternary":
            return words.ternary_notes(
                {key: float(b.value[-1]) for key, b in p.bounds.items() if b.valid[-1]}
            )
        missing = f"at the sliders' values {words.MORE_THAN_ALL}: lower k or raise n"
        about = (words.OWN_NOTE,) if p.request.quantity == "own" else ()
        return about if p.answered else (missing, *about)


def _label(label: Any, p: AccountantPoints) -> str:
    return label if isinstance(label, str) else str(label(p))


def _token(p: AccountantPoints) -> tuple[object, ...]:
    """Return what the cached tables of a sweep depend on."""
    heavy = [p.request[key] for key in ("eps0", "k", "n", "lam_max", "lam", "clones")]
    key = p.swept.sweep.key
    return (p.request.quantity, key, *heavy) if key == "lam" else tuple(heavy[:4])


def _is_figure_2a(point: theory.Rounds) -> bool:
    """Return whether one point has the values of Figure 2 (a) at its last round."""
    values = (point.local, point.sampled, point.clients, point.rounds, point.delta)
    return tuple(map(float, values)) == (2.0, 1e3, 1e6, 1e5, 1e-8)
