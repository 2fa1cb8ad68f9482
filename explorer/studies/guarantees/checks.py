"""Self-checks of the installation.

Golden values, exact enumerations, brackets and audits. Golden values are numbers of the papers, or
were computed outside this program with 50 digits, by enumeration or by another implementation; each
is requested from a study and must agree to the digits given here. Tests run many more, function by
function (``python -m tests.vectors`` in a checkout).
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from explorer.privacy import histograms as hg, user_metric as um
from explorer.privacy.coordinates import tradeoff_beta
from explorer.privacy.core import bound
from explorer.privacy.core.bound import FloatArray, Role
from explorer.privacy.core.composition import kov_exact_delta
from explorer.privacy.odds import tradeoff_attained, tradeoff_from_deltas
from explorer.privacy.shuffle_rdp import RandomisedResponseRound
from explorer.privacy.shuffling import shuffled_delta
from explorer.privacy.spaces import Clustered
from explorer.studies.base.claims import evaluate_claim
from explorer.studies.base.numbers import at_least, at_most, nearest
from explorer.studies.base.study import (
    Request,
    Result,
    Sweep,
    Value,
    default_request,
    default_sweep,
    parameter,
    quantity,
)
from explorer.studies.guarantees.tradeoffs import KEY
from explorer.studies.registry import get_study, study_infos


@dataclass(frozen=True, slots=True)
class Golden:
    """Numbers that the answer to a request must have.

    Attributes
    ----------
    source : str
        The paper, and where in it.
    study, quantity : str
    values : tuple of (key, value)
        What is not at its default.
    numbers : tuple of (key, str)
        Of a readout, and the number; right within one unit of its last digit.
    """

    source: str
    study: str
    quantity: str
    values: tuple[tuple[str, Value], ...]
    numbers: tuple[tuple[str, str], ...]


def agrees(value: float | None, golden: str) -> bool:
    """Return whether a number is a golden one within a unit of the last digit printed."""
    if value is None or not math.isfinite(value):
        return False
    unit = Decimal(1).scaleb(int(Decimal(golden).as_tuple().exponent))
    return abs(Decimal(repr(float(value))) - Decimal(golden)) <= unit


SHUFFLE, METRIC, COORDINATE = (
    paper.partition(" (")[0] for paper in (bound.SHUFFLE_RDP, bound.USER_METRIC, bound.COORDINATES)
)
"""The papers by their authors alone."""
_FIGURE_5B = (
    ("eps0", 2.0),
    ("n", 60_000),
    ("k", 2_000),
    ("delta", 1e-5),
    ("epochs", 200),
)
GOLDEN = (
    Golden(
        f"{SHUFFLE}, Figure 2 (a)",
        "shuffle-rdp",
        "eps",
        (),
        (
            ("theorem1", "1.0402185"),
            ("order", "28"),
            ("unamplified", "14.252"),
            ("clones_numerical", "2.530"),
            ("kov_exact", "2.214"),
            ("numerical_upper", "0.20777"),
            ("rdp_clones", "0.22134"),
            ("lower_2rr", "0.1373"),
        ),
    ),
    Golden(
        f"{SHUFFLE}, Figure 4 (a)",
        "shuffle-rdp",
        "eps",
        (("eps0", 3.0),),
        (
            ("theorem1", "4.0862"),
            ("clones_numerical", "20.45"),
            ("numerical_upper", "0.4495"),
            ("rdp_clones", "0.47767"),
        ),
    ),
    Golden(f"{SHUFFLE}, Theorem 1", "shuffle-rdp", "rdp", (), (("rdp_clones", "7.6761e-8"),)),
    Golden(
        f"{SHUFFLE}, Theorems 4 and 5",
        "shuffle-rdp",
        "ternary",
        (),
        (
            ("theorem4", "0.3250"),
            ("sharp_mixed", "0.06425"),
        ),
    ),
    Golden(f"{SHUFFLE}, Figure 5 (b)", "cldp-sgd", "eps", _FIGURE_5B, (("theorem", "5.7946"),)),
    Golden(
        "Feldman, McMillan and Talwar 2021 and 2023",
        "amplification",
        "eps",
        (("eps0", 4.0),),
        (
            ("exact_2021", "0.1697698"),
            ("exact_2023", "0.1181531"),
            ("lower", "0.117025"),
        ),
    ),
    Golden(
        "Balle, Bell, Gascón and Nissim 2019, 10-ary randomised response",
        "amplification",
        "own",
        (("n", 10_000), ("eps0", 1.0)),
        (("own_blanket", "0.02325"), ("exact_2023", "0.0432062"), ("exact_2021", "0.0530053")),
    ),
    Golden(
        f"{bound.HISTOGRAMS}, Theorem 3.2",
        "histograms",
        "noise",
        (),
        (
            ("noise", "42.75"),
            ("paper_noise", "3040"),
        ),
    ),
    Golden(
        f"{bound.HISTOGRAMS}, Theorem 3.1",
        "histograms",
        "noise",
        (("release", "count"),),
        (
            ("noise", "34.07"),
            ("paper_noise", "725"),
        ),
    ),
    Golden(f"{METRIC}, Section 3", "choose-alpha", "alpha", (), (("alpha", "24.90"),)),
    Golden(
        f"{METRIC}, Section 4.1",
        "linear-queries",
        "true_delta",
        (),
        (
            ("printed", "4.5e-5"),
            ("textbook", "1.26e-9"),
        ),
    ),
    Golden(
        f"{METRIC}, Section 4.2, central",
        "itemwise",
        "alpha0",
        (),
        (
            ("exact", "3.8489"),
            ("tight", "2.484"),
            ("simple", "2.405"),
        ),
    ),
    Golden(
        f"{METRIC}, Section 4.2, local",
        "itemwise",
        "alpha0",
        (("model", "local"),),
        (
            ("exact", "0.08067"),
            ("tight", "0.02497"),
            ("printed", "0.00317"),
        ),
    ),
    Golden(
        f"{METRIC}, Section 6.2: one drawn item a user",
        "frequency",
        "rmse",
        (("space", "discrete"), ("space_items", 100), ("eps", 3.0), ("n", 10_000)),
        (("one_hadamard", "0.1105"), ("one_grr", "0.0621"), ("one_priv_unit", "0.0854")),
    ),
    Golden(
        f"{METRIC}, Theorem 5.3",
        "unbounded",
        "threshold",
        (),
        (
            ("chernoff", "0.01547"),
            ("printed", "0.02760"),
        ),
    ),
    Golden(
        f"{COORDINATE}, Figure 3 at q = 0.1",
        "coordinate-mean",
        "mse",
        (),
        (
            ("baseline", "1.504"),
            ("paper", "1.564"),
            ("best_zeta", "0.901"),
            ("exact", "0.736"),
            ("hybrid", "0.184"),
        ),
    ),
    Golden(
        f"{bound.HEATMAPS}, Figure 12 at B = 256",
        "heatmap-theory",
        "bits",
        (("n", 50), ("epsilon", 5.0), ("delta", 1e-5), ("pyramid", "salicon")),
        (("printed", "7.14"),),
    ),
)


GOLDEN_VALUES = "Golden values"
ENUMERATIONS, BRACKETS, AUDITS = "Exact enumerations", "Brackets", "Audits"
NOTE = (
    "Hundreds of further golden values, function by function, are run by the tests, in a checkout: "
    "python -m tests.vectors tests/data/vectors/*.json"
)
_CLOSE = 1e-9
_SETTINGS: tuple[tuple[str, dict[str, float], str], ...] = (
    ("amplification", {}, ""),
    ("amplification", {"eps0": 4.0, "n": 1000}, ""),
    ("shuffle-rdp", {}, ""),
    ("shuffle-rdp", {"eps0": 1.0, "T": 100}, ""),
    ("cldp-sgd", {}, "eps"),
)
"""Settings and quantity (empty for the first) with upper and lower bounds on one mechanism."""
_SMALL = {"shuffle-rdp": {"T": 20, "k": 50, "n": 100}}
"""Settings at which a run takes no time; the defaults of all others."""


@dataclass(frozen=True, slots=True)
class Check:
    """Result of one check.

    Attributes
    ----------
    group : str
        `GOLDEN_VALUES`, `ENUMERATIONS`, `BRACKETS` or `AUDITS`.
    name : str
    passed : bool
    said : str
        The numbers that were compared.
    """

    group: str
    name: str
    passed: bool
    said: str


def count(runs: int) -> int:
    """Return the number of checks; without runs there are no audits."""
    here = len(GOLDEN) + len(_enumerations()) + len(_SETTINGS)
    return here + (len(audited_studies()) if runs else 0)


def checks(ask: Callable[[Request], Result], runs: int, seed: int = 0) -> Iterator[Check]:
    """Run the checks, and yield their results.

    Parameters
    ----------
    ask : callable
        From a request to its final answer.
    runs : int
        Of every audit; 0 for no audits.
    seed : int
        Of the audits.
    """
    for expected in GOLDEN:
        query = _at_sliders(expected.study, dict(expected.values), expected.quantity)
        yield golden(expected, ask(query))
    for name, enumerated in _enumerations():
        ours, truth = enumerated()
        text = f"{nearest(ours)} against {nearest(truth)}"
        yield Check(ENUMERATIONS, name, abs(ours - truth) <= _CLOSE, text)
    for study_id, values, asked in _SETTINGS:
        yield bracket(ask(_at_sliders(study_id, values, asked)))
    if runs:
        for study_id in audited_studies():
            values = {**_SMALL.get(study_id, {}), "audit": True, "audit_runs": runs}
            study = get_study(study_id)
            request = replace(
                default_request(study, **values),
                quantity=KEY,
                seed=seed,
                sweep=default_sweep(study, "type1", 21),
            )
            yield audit(ask(request))


def audited_studies() -> tuple[str, ...]:
    """Return the ids of the studies whose mechanism can be run for an audit."""
    return tuple(
        info.id
        for info in study_infos()
        if info.workspace == "bounds"
        and any(p.key == "audit" for p in get_study(info.id).parameters)
    )


def golden(expected: Golden, answer: Result) -> Check:
    """Return whether an answer has the numbers that are expected, to their last digit."""
    study = get_study(expected.study)
    result = {r.key: r.value for r in answer.readouts}
    wrong = [
        f"{key}: {'nothing' if (value := result.get(key)) is None else repr(value)}, not {number}"
        for key, number in expected.numbers
        if not agrees(result.get(key), number)
    ]
    right = "to the last digit: " + ", ".join(number for _, number in expected.numbers)
    name = f"{expected.source}: {quantity(study, expected.quantity).name}"
    return Check(GOLDEN_VALUES, name, not wrong, "; ".join(wrong) or right)


def bracket(answer: Result) -> Check:
    """Return whether the claimed bound is above all lower bounds."""
    study = get_study(answer.request.study)
    shown = quantity(study, answer.request.quantity)
    result = evaluate_claim(answer)
    lower = [r for r in answer.readouts if r.role is Role.LOWER and r.value is not None]
    keys = {s.key for s in answer.series if s.role is Role.LOWER}
    least = max((float(r.value or 0.0) for r in lower if r.key in keys), default=math.nan)
    known = ", ".join(
        f"{parameter(study, key).symbol} = {nearest(float(v))}"
        for key, v in _changed(answer.request)
    )
    name = f"{study.name}: {shown.name}" + (f" at {known}" if known else "")
    if result is None or math.isnan(least):
        return Check(BRACKETS, name, False, "no bound from above, or none from below")
    text = f"{at_least(least)} ≤ {shown.symbol} ≤ {at_most(result.value)}"
    return Check(BRACKETS, name, least <= result.value, text)


def audit(answer: Result) -> Check:
    """Return whether the audit in an answer refutes nothing."""
    study = get_study(answer.request.study)
    for condition in answer.conditions:
        if condition.text.startswith("The audit refutes nothing"):
            return Check(AUDITS, study.name, condition.holds is True, condition.margin)
    return Check(AUDITS, study.name, False, "; ".join(answer.notes) or "nothing was run")


def _at_sliders(study_id: str, values: Mapping[str, Value], asked: str = "") -> Request:
    """Return a question of the study, or its first one, at one place."""
    study = get_study(study_id)
    request = default_request(study, **values)
    shown = quantity(study, asked or study.quantities[0].key)
    key = shown.sweeps[0]
    own = float(request[key])
    sweep = Sweep(key, own, own, 1, parameter(study, key).scale)
    return replace(request, quantity=shown.key, sweep=sweep)


def _changed(request: Request) -> list[tuple[str, float]]:
    plain = dict(default_request(get_study(request.study)).values)
    return [(key, v) for key, v in request.values if plain[key] != v and isinstance(v, int | float)]


Pair = tuple[float, float]


def _enumerations() -> tuple[tuple[str, Callable[[], Pair]], ...]:
    """Return names, and functions to our number and that of a complete enumeration."""
    return (
        ("P_zsum: δ of three users' shuffled messages, all noise bits", _count),
        ("P_hist: δ of two users' messages in two bins, all noise bits", _histogram),
        ("Randomised response: δ of four shuffled messages, all of them", _responses),
        ("Clones 2021: δ of three shuffled messages, all clones", _clones),
        ("Composition: δ of six rounds of randomised response, all outcomes", _rounds),
        ("GKRR: largest loss over all pairs and answers, against α₀·d", _gkrr),
        ("Trade-off: by how much its bounds lie on the wrong side of the exact test", _tests),
    )


def _law(weights: Iterator[tuple[object, float]]) -> dict[object, float]:
    law: dict[object, float] = {}
    for seen, weight in weights:
        law[seen] = law.get(seen, 0.0) + weight
    return law


def _delta(p: dict[object, float], q: dict[object, float], eps: float) -> float:
    """Return the larger of both orders' hockey-stick divergences, by definition."""
    e = math.exp(eps)
    return max(
        math.fsum(max(a.get(x, 0.0) - e * b.get(x, 0.0), 0.0) for x in a)
        for a, b in ((p, q), (q, p))
    )


def _bits(size: int, chance: float) -> Iterator[tuple[tuple[int, ...], float]]:
    for bits in itertools.product((0, 1), repeat=size):
        ones = sum(bits)
        yield bits, chance**ones * (1 - chance) ** (size - ones)


def _count() -> Pair:
    n, p, eps = 3, 0.75, 0.4
    law = [_law((sum(b) + one, w) for b, w in _bits(n, p)) for one in (0, 1)]
    return float(hg.count_delta(eps, n, 1 - p)), _delta(law[0], law[1], eps)


def _histogram() -> Pair:
    n, p, eps = 2, 0.75, 0.6
    law = [
        _law(((sum(b[:n]) + 1 - one, sum(b[n:]) + one), w) for b, w in _bits(2 * n, p))
        for one in (0, 1)
    ]
    return float(hg.histogram_delta(eps, n, 1 - p)), _delta(law[0], law[1], eps)


def _responses() -> Pair:
    n, eps0, eps = 4, 2.0, 0.5
    flip = 1 / (1 + math.exp(eps0))
    law = []
    for own in (0, 1):
        last = 1 - flip if own else flip
        law.append(
            _law(
                (sum(bits) + bit, weight * (last if bit else 1 - last))
                for bits, weight in _bits(n - 1, flip)
                for bit in (0, 1)
            )
        )
    ours = float(RandomisedResponseRound(eps0, n, n).delta(eps)[0])
    return ours, _delta(law[0], law[1], eps)


def _clones() -> Pair:
    """Every other message is a clone of either input, or tells nothing."""
    k, eps0, eps = 3, 1.5, 0.4
    clone, own = math.exp(-eps0) / 2, math.exp(eps0) / (1 + math.exp(eps0))
    law = []
    for side in (0, 1):
        weights: list[tuple[object, float]] = []
        for others in itertools.product((0, 1, 2), repeat=k - 1):
            weight = math.prod((clone, clone, 1 - 2 * clone)[o] for o in others)
            seen = others.count(0), others.count(1)
            weights.append(((seen[0] + 1, seen[1]), weight * (own if side == 0 else 1 - own)))
            weights.append(((seen[0], seen[1] + 1), weight * (1 - own if side == 0 else own)))
        law.append(_law(iter(weights)))
    return float(shuffled_delta(eps, eps0, k)), _delta(law[0], law[1], eps)


def _rounds() -> Pair:
    rounds, eps, total = 6, 0.3, 0.5
    kept = 1 / (1 + math.exp(-eps))
    law = [_law((sum(b), w) for b, w in _bits(rounds, c)) for c in (1 - kept, kept)]
    return float(kov_exact_delta(total, eps, rounds)), _delta(law[0], law[1], total)


def _gkrr() -> Pair:
    space, alpha0 = Clustered(3, 2, 0.3), 1.7
    law = um.GKRR(space, alpha0).law()
    apart = space.matrix()
    loss = np.log(law[:, None, :] / law[None]).max(axis=2)
    far = np.unravel_index(int(np.argmax(apart)), apart.shape)
    return float(loss[far]), alpha0 * float(apart[far])


def _tests() -> Pair:
    """Return the largest distance of a curve on the wrong side of the exact one."""
    p: FloatArray = np.array([0.6, 0.3, 0.1])
    alpha, eps = np.linspace(0.0, 1.0, 21), np.linspace(0.0, math.log(6), 61)
    deltas = np.array([np.maximum(p - math.exp(e) * p[::-1], 0.0).sum() for e in eps])
    exact = tradeoff_beta(p, p[::-1], alpha)
    below = tradeoff_from_deltas(alpha, eps, deltas).value
    above = tradeoff_attained(alpha, eps, deltas).value
    return max(float((below - exact).max()), float((exact - above).max()), 0.0), 0.0
