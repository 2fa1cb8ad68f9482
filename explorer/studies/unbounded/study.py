"""How data sets of any size are protected: the reduction to s draws, and hops over distance."""

import math
from collections.abc import Callable, Iterator
from typing import ClassVar

from explorer.privacy import user_metric as um
from explorer.privacy.core.bound import Bound, Role
from explorer.studies.base.claims import number_only
from explorer.studies.base.phrases import odds
from explorer.studies.base.study import (
    Claim,
    Context,
    Readout,
    Request,
    Result,
    Study,
    Table,
)
from explorer.studies.base.sweeping import readout_from, series_from, swept_points
from explorer.studies.guarantees.tradeoffs import with_tradeoff
from explorer.studies.metric_space.choice import ChosenSpace, chosen_space
from explorer.studies.unbounded import curves, text
from explorer.studies.unbounded.face import FACES, SHORT_NAMES
from explorer.studies.unbounded.help import PAGE, PRESETS
from explorer.studies.unbounded.parameters import PARAMETERS, QUANTITIES

_CURVES: dict[str, Callable[[curves.Points, curves.Reductions], dict[str, Bound]]] = {
    "alpha": curves.alpha_curves,
    "threshold": curves.threshold_curves,
    "group_eps": curves.group_epsilon_curves,
    "group_delta": curves.group_delta_curves,
}
_NOTES = {
    "group": text.STEPS,
    "informal": text.INFORMAL_NOTE,
    "fact": text.AT_MOST_ONE,
    "table": text.AT_MOST_ONE,
}
_HOPS = (1, 2, 3, 5, 10, 20, 50)


@with_tradeoff()
class Unbounded(Study):
    """Theorem 5.3, its KL form, and group privacy over distance."""

    id = "unbounded"
    references = (
        text.CHERNOFF,
        text.PRINTED,
        text.BINOMIAL,
        text.GROUP,
        text.INFORMAL,
        text.FACT,
        text.TABLE,
    )
    parameters = PARAMETERS
    quantities = QUANTITIES
    page = PAGE
    presets = PRESETS
    faces = FACES
    short_names = SHORT_NAMES
    claims: ClassVar = {
        "alpha": Claim(("chernoff", "printed"), number_only, better="high", solves="s"),
        "threshold": Claim(("chernoff", "printed"), number_only, solves="s"),
    }

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield the one answer: everything here is a closed form."""
        swept = swept_points(self, request)
        space = chosen_space(request, context)
        context.check()
        points = curves.points_of(swept)
        alpha = curves.reductions(points)
        bounds = _CURVES[request.quantity](points, alpha)
        here = {key: float(column[-1]) for key, column in vars(points).items()}
        hops = float(points.hops[-1])
        total = float(alpha["chernoff"].delta_total[-1])
        last = float(um.group_privacy_delta(here["eps"], total, hops))
        threshold = (1 + math.sqrt(2)) * here["r"] - 3 / here["s"] * math.log(here["delta"])
        yield Result(
            request,
            request.fidelity,
            series=tuple(
                series_from(key, text.LABELS[key], swept, b, note=_note(key, request.quantity))
                for key, b in bounds.items()
            ),
            tables=(_hop_table(here["eps"], total, here["r"], space),),
            space=space.picture,
            readouts=_readouts(bounds, alpha, here, hops, last, space),
            conditions=text.conditions(
                r=here["r"],
                s=here["s"],
                delta=here["delta"],
                printed=threshold,
                d=here["d"],
                hops=hops,
                last=last,
            ),
            guarantee=text.guarantee(
                eps=here["eps"],
                delta=total,
                r=here["r"],
                d=here["d"],
                hops=hops,
                far_delta=last,
                alpha=float(alpha["chernoff"].alpha[-1]),
                space=space,
            ),
            notes=tuple(n for n in (space.missing, *space.notes) if n),
            complete=True,
        )


def _note(key: str, quantity: str) -> str:
    if key == "binomial":
        return text.NO_MORE if quantity == "alpha" else text.NO_LESS
    return _NOTES.get(key, "")


def _readouts(
    bounds: dict[str, Bound],
    alpha: dict[str, um.Reduction],
    here: dict[str, float],
    hops: float,
    last: float,
    space: ChosenSpace,
) -> tuple[Readout, ...]:
    found = [readout_from(key, text.LABELS[key], b) for key, b in bounds.items()]
    best = alpha["chernoff"]
    found += [
        Readout(
            "allowed", "α allowed on the draws", float(best.alpha[-1]), Role.LOWER, "1/diameter"
        ),
        Readout("delta_total", "δ of the guarantee", float(best.delta_total[-1]), Role.UPPER),
        Readout("hops", "hops to the distance looked at", hops),
        Readout("far_delta", "δ there", min(last, 1.0), Role.UPPER),
        Readout(
            "tail",
            "Pr[draws beyond Theorem 5.3]",
            float(um.lemma52_tail(here["r"], here["delta"], here["s"])),
            Role.EXACT,
            note="exact for 0/1 distances; other distances of mean r may have more, by Lemma 5.2 "
            "never more than δ",
        ),
    ]
    if space.unit and space.metric is not None:
        reach = here["r"] * space.diameter
        found.append(Readout("reach", "distance protected", reach, unit=space.unit))
    return tuple(found)


def _hop_table(eps: float, delta: float, r: float, space: ChosenSpace) -> Table:
    """Return what is left after some hops, beside what the paper prints."""
    count = [k for k in _HOPS if k == 1 or (k - 1) * r < 1]
    grown = um.group_privacy_delta(eps, delta, count).tolist()
    rows: list[tuple[str | float | None, ...]] = []
    for k, left in zip(count, grown, strict=True):
        printed = (delta * math.exp(k), delta * math.exp(min(k * eps, 700.0)))
        rows.append(
            (
                float(k),
                text.length(min(k * r, 1.0), space),
                k * eps,
                *(min(v, 1.0) for v in (left, *printed)),
                "nothing promised" if left >= 1 else odds(k * eps, left),
            )
        )
    return Table(
        "hops",
        "Group privacy over distance",
        ("hops", "distance up to", "ε", "δ (Lemma A.2)", "Fact 5.1", "Table 1", "odds"),
        tuple(rows),
        note=(
            "ε and δ of k hops of (ε, δ) are upper bounds; Fact 5.1 and Table 1 are what the "
            "paper (v1) prints, and no bounds (errata user-D1). All δ are capped at 1."
        ),
        roles=(None, None, Role.UPPER, Role.UPPER, Role.BASELINE, Role.BASELINE),
    )
