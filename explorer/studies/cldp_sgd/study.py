"""Private learning: ε, convergence and accuracy of training on shuffled gradients (CLDP-SGD)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from explorer.privacy import learning
from explorer.privacy.core.bound import Bound, FloatArray, Grade, Reference, Role
from explorer.privacy.shuffling import Clones
from explorer.studies.base.builders import (
    More,
    choice,
    count,
    decimal_sign,
    delta,
    epsilon,
    file,
    orders,
    real,
)
from explorer.studies.base.claims import ClaimedBound, with_claim
from explorer.studies.base.curve_study import CurveStudy, Points
from explorer.studies.base.numbers import APPROXIMATELY, at_most, nearest
from explorer.studies.base.phrases import LOWER_BOUND, NOTHING_SMALLER, REAL_DATA, which_won
from explorer.studies.base.plots import Curve, Plot
from explorer.studies.base.study import (
    Condition,
    Context,
    Fidelity,
    Guarantee,
    Headline,
    Kind,
    Parameter,
    Quantity,
    Request,
    Result,
    ScalarResult,
    Scale,
    Statistic,
    Sweep,
    Table,
)
from explorer.studies.base.sweeping import SweptPoints, scalar_from, series_from, swept_points
from explorer.studies.cldp_sgd import guarantee as words, simulation, theory
from explorer.studies.cldp_sgd.guarantee import (
    ALGORITHM,
    CAP,
    COMPOSED,
    CONVERGENCE,
    CONVERGENCE_EXACT,
    FIGURE_5,
    LEMMA_8,
    NO_NOISE,
    PLAIN_SGD,
    PRIVACY,
    R_INFINITY,
    R_ONE,
    R_TWO,
    R_TWO_CAP,
    RESPONSE,
    SHUFFLED,
    TRIVIAL,
    UNAMPLIFIED,
)
from explorer.studies.cldp_sgd.help import PAGE, PRESETS
from explorer.studies.cldp_sgd.simulation import (
    CONSTANT,
    CONVOLUTIONAL,
    DIGITS,
    FIGURE_5A,
    FIGURE_5B,
    MAX_EPOCHS,
    MNIST,
    PERCEPTRON,
    SOFTMAX,
    SPREAD,
    STUDENT,
    TABLE,
    THEOREM,
)
from explorer.studies.cldp_sgd.theory import (
    ACCURACY,
    EPS,
    R_1,
    R_2,
    R_2_HALF,
    R_INF,
    R_P,
    RISK,
)
from explorer.studies.guarantees.audits import Audited
from explorer.studies.guarantees.rounds import clones_apart, round_laws
from explorer.studies.guarantees.tradeoffs import Law, with_tradeoff

_COARSE_POINTS = 24
_COARSE_ORDER = 512
_EASY_ORDER = 1024
"""Largest order up to which all points of a sweep have tables of their own."""
_COMPOSED_POINTS = 30
"""Most points of compositions where each has a round of its own."""
_CLAIMED_POINTS = 8
"""Points of the claimed composition while a slider moves."""
_ONE_ROUND = ("epochs", "delta", "spent")
"""Sweeps of which all points share one round."""

Stage = Literal["preview", "curve", "at_sliders", "full"]


class LearningPoints(Points):
    """Points of a sweep with ε by every accountant, or with a training, at each of them.

    After the claimed number an answer for ε has three stages: what is quick and, at few points, the
    claimed curve; the same with all compositions at the sliders' values; all curves. One for the
    bound on the risk has a preview and all curves.
    """

    stage: Stage = "full"
    progress: simulation.Progress
    """The training, where accuracy is plotted."""

    def at(self, swept: SweptPoints, fidelity: Fidelity | None = None) -> LearningPoints:
        """Return the same request and stage at other points."""
        other = super().at(swept, fidelity)
        other.stage = self.stage
        return other

    def at_stage(self, stage: Stage) -> LearningPoints:
        """Return the same points in another stage of the answer."""
        other = self.at(self.swept, Fidelity.FULL if stage == "full" else Fidelity.COARSE)
        other.stage = stage
        return other

    @property
    def answered(self) -> bool:
        """Whether there is an answer at the sliders' values: k ≤ n."""
        return bool(self.request["k"] <= self.request["n"])

    @property
    def max_order(self) -> int:
        """Largest order searched."""
        order = int(self.request["lam_max"])
        return min(order, _COARSE_ORDER) if self.coarse else order

    @cached_property
    def spending(self) -> theory.Spending:
        """ε at δ of the training at every point."""
        return theory.Spending(self.swept.columns, self.max_order, self.context)

    @cached_property
    def theorem(self) -> tuple[Bound, FloatArray]:
        """Theorem 3 with its caps, and the best orders."""
        return self.spending.theorem()

    @cached_property
    def lower(self) -> Bound:
        """The larger of 2RR and 3RR."""
        return self.spending.response()

    @cached_property
    def for_levels(self) -> LearningPoints:
        """Points of Theorem 1, of which each may have a table of its own."""
        if self.swept.sweep.key in _ONE_ROUND:
            return self
        # The work of a table grows with the square of the order.
        fewer = int(self.swept.x.size * (_EASY_ORDER / max(self.max_order, _EASY_ORDER)) ** 2)
        return self.thinned(_COARSE_POINTS if self.coarse else max(_COARSE_POINTS, fewer))

    @cached_property
    def for_compositions(self) -> LearningPoints:
        """Points of compositions."""
        if self.stage == "curve":
            return self.thinned(_CLAIMED_POINTS)
        alike = self.swept.sweep.key in _ONE_ROUND and self.request["k"] > 1
        return self if alike or self.stage != "full" else self.thinned(_COMPOSED_POINTS)

    @cached_property
    def at_sliders(self) -> LearningPoints:
        """The sliders' own point alone, where every curve is computed."""
        last = {key: column[-1:] for key, column in self.swept.columns.items()}
        only = self.at(SweptPoints(self.swept.sweep, np.empty(0), last))
        only.stage = "full"
        return only

    @property
    def valid(self) -> Any:
        """Where k ≤ n."""
        return self.k <= self.n

    @cached_property
    def risk(self) -> theory.RiskSettings:
        """Parameters of the bounds on the risk where k ≤ n."""
        names = ("eps0", "k", "d", "clip", "diameter", "epochs", "n")
        local, k, d, clip, diameter, epochs, n = (self.swept[key][self.valid] for key in names)
        rounds = learning.rounds_of(epochs, n, k)
        norm = theory.norm_of(self.request)
        return theory.RiskSettings(norm, local, k, d, clip, diameter, rounds)

    def total_variation(self, rounds: float) -> float:
        """Return an upper bound on δ(0) of all rounds together."""
        eps0, k, n = (float(self.request[key]) for key in ("eps0", "k", "n"))
        return clones_apart(eps0, k, n, float(rounds), Clones.PUBLISHED, self.context)


def _composed(
    bound: Callable[[LearningPoints], Bound],
    role: Role,
    source: Reference,
    rigor: Grade,
    *,
    claimed: bool = False,
) -> Callable[[LearningPoints], Bound | None]:
    """Return the function from points to a bound by composition, which comes in late stages.

    The one that is claimed comes before the others.
    """

    def value(p: LearningPoints) -> Bound | None:
        if p.stage == "preview":
            return None
        if p.stage == "full" or (p.stage == "curve" and claimed):
            return bound(p)
        nowhere = np.full(p.valid.shape, np.nan)
        unknown = np.zeros(nowhere.shape, bool)
        return Bound(nowhere, role, source, unknown, words.COMPUTING, grade=rigor)

    return value


def _theorem_note(p: LearningPoints) -> str:
    truncated = p.for_levels.theorem[0].truncated.any()
    return "the best order is λₘₐₓ in places: a larger one might give less" if truncated else ""


def _risk(
    values: Callable[[LearningPoints], FloatArray],
) -> Callable[[LearningPoints], FloatArray | None]:
    """Return the function from points to a bound on the risk where k ≤ n, NaN elsewhere."""

    def value(p: LearningPoints) -> FloatArray:
        out = np.full(p.valid.shape, np.nan)
        out[p.valid] = values(p)
        return out

    return value


def _risk_curve(
    key: str, label: str, short: str, role: Role, source: Any, values: Any, **more: Any
) -> Curve:
    return Curve(
        key,
        label,
        short,
        role,
        source,
        values,
        where=lambda p: p.valid,
        why=words.MORE_THAN_ALL,
        **more,
    )


def _exact_risk(p: LearningPoints) -> FloatArray | None:
    if p.coarse:
        return None
    return _risk(lambda q: q.risk.exact(q.request, q.context))(p)


def _spending_curve(key: str, short: str, primary: int) -> Curve:
    """Return the curve of accuracy against ε by one accountant."""

    def draw(curve: Curve, p: LearningPoints) -> Any:
        if p.swept.sweep.key != "spent":
            return None
        bound = p.progress.ledger.bounds.get(key)
        return simulation.draw_spent(curve, p.swept, p.progress, bound)

    return Curve(
        key,
        f"CLDP-SGD, ε by {words.LABELS[key]}",
        short,
        Role.ESTIMATE,
        FIGURE_5,
        primary=primary,
        draw=draw,
    )


_OF_EPSILON = (
    Curve(
        "theorem",
        words.LABELS["theorem"],
        "Theorem 1 (Rényi)",
        Role.UPPER,
        PRIVACY,
        lambda p: p.theorem[0],
        note=_theorem_note,
        primary=2,
        claimable=2,
        points=lambda p: p.for_levels,
    ),
    Curve(
        "cap",
        "T·εₛ, holds in any case",
        "T·εₛ",
        Role.UPPER,
        CAP,
        lambda p: p.spending.cap(),
        primary=0,
        claimable=5,
        points=lambda p: p.for_levels,
    ),
    Curve(
        "unamplified",
        "no shuffle amplification: (ε₀, 0) + sampling + KOV",
        "without shuffling",
        Role.UPPER,
        UNAMPLIFIED,
        lambda p: p.spending.unamplified(),
        primary=4,
        claimable=4,
        points=lambda p: p.for_levels,
    ),
    Curve(
        "clones",
        words.LABELS["clones"],
        "clones + KOV",
        Role.UPPER,
        SHUFFLED,
        _composed(lambda p: p.spending.clones(), Role.UPPER, SHUFFLED, Grade.NUMERICAL),
        note="what the paper compares with: δ₀ = δ/(2Tγ) a round, δ/2 slack",
        primary=3,
        claimable=3,
        points=lambda p: p.for_compositions,
    ),
    Curve(
        "numerical",
        words.LABELS["numerical"],
        "exact clones 2021",
        Role.UPPER,
        COMPOSED,
        _composed(
            lambda p: p.spending.numerical(), Role.UPPER, COMPOSED, Grade.PROVED, claimed=True
        ),
        note="the clones' losses composed as they are; every step is rounded up",
        primary=1,
        claimable=1,
        points=lambda p: p.for_compositions,
    ),
    Curve(
        "response",
        LOWER_BOUND,
        "lower bound",
        Role.LOWER,
        RESPONSE,
        _composed(lambda p: p.lower, Role.LOWER, RESPONSE, Grade.PROVED),
        note=(
            "on what any accountant sound for all ε₀-LDP randomisers can report: the larger of 2RR "
            "(both directions) and 3RR; a client's randomiser may leak less"
        ),
        primary=5,
        remark=NOTHING_SMALLER,
        points=lambda p: p.for_compositions,
    ),
)
_OF_RISK = (
    _risk_curve(
        "remark",
        "Theorem 3 with Remark 1",
        "Theorem 3, Remark 1",
        Role.UPPER,
        CONVERGENCE,
        _risk(lambda p: p.risk.remark()),
        primary=2,
    ),
    _risk_curve(
        "trivial",
        "Lipschitz continuity alone, any model",
        "any model at all",
        Role.UPPER,
        TRIVIAL,
        _risk(lambda p: p.risk.trivial()),
        primary=3,
    ),
    _risk_curve(
        "silent",
        "without privacy, same clipping",
        "without privacy, clipped",
        Role.BASELINE,
        NO_NOISE,
        _risk(lambda p: p.risk.silent()),
        primary=4,
    ),
    _risk_curve(
        "exact",
        "Theorem 3 with the exact error of the randomiser",
        "Theorem 3, exact error",
        Role.UPPER,
        CONVERGENCE_EXACT,
        _exact_risk,
        primary=1,
    ),
)
_OF_ACCURACY = (
    Curve(
        "private",
        "CLDP-SGD",
        "",
        Role.ESTIMATE,
        FIGURE_5,
        primary=0,
        draw=lambda curve, p: (
            simulation.draw_epochs(curve, p.swept, p.progress)
            if p.swept.sweep.key == "epochs"
            else None
        ),
    ),
    _spending_curve("theorem", "Theorem 1 (Rényi)", 1),
    Curve(
        "plain",
        "SGD without privacy",
        "without privacy",
        Role.BASELINE,
        PLAIN_SGD,
        primary=4,
        draw=lambda curve, p: simulation.draw_plain(curve, p.swept, p.progress),
    ),
    _spending_curve("numerical", "exact clones 2021", 2),
    _spending_curve("clones", "clones + KOV", 3),
)


def _risk_headline(result: Result, _found: ClaimedBound | None) -> Headline | None:
    exact, any_model = (result.number(key) for key in ("exact", "trivial"))
    if exact is None or any_model is None:
        return None
    number = f"F − F* ≤ {at_most(min(exact, any_model))}"
    if exact >= any_model:
        return Headline(
            number,
            f"Not informative: any model at all is within {at_most(any_model)} of the least "
            f"risk, and Theorem 3 promises {at_most(exact)}.",
        )
    return Headline(
        number,
        f"The trained model's average risk is at most {at_most(exact)} above the least; that of "
        f"any model at all is within {at_most(any_model)}.",
        statistic=Statistic.MEAN,
    )


def _accuracy_headline(result: Result, _found: ClaimedBound | None) -> Headline | None:
    accuracy, plain = (result.number(key) for key in ("accuracy", "plain"))
    if accuracy is None:
        return None
    beside = "" if plain is None else f"; without privacy {nearest(100 * plain)} %"
    runs = int(result.request["runs"])
    done = result.complete and result.fidelity is Fidelity.FULL
    over = f"{runs} trainings" if done else "the trainings so far"
    average = f", on average over {over}" if runs > 1 else ""
    return Headline(
        f"{APPROXIMATELY} {nearest(100 * accuracy)} %",
        f"About {nearest(100 * accuracy)} % of the test {words.examples(result.request['data'])} "
        f"are classified correctly after this private training{average}{beside}.",
        statistic=Statistic.MEAN if runs > 1 else None,
    )


PLOTS = (
    Plot(
        Quantity(ACCURACY, "", "test accuracy", ("spent", "epochs")),
        _OF_ACCURACY,
        sliders=("eps0", "epochs", "n", "model"),
        headline=_accuracy_headline,
    ),
    Plot(
        Quantity(
            EPS,
            "ε",
            "privacy after the training",
            ("epochs", "eps0", "k", "n", "delta"),
            scale=Scale.LOG,
            latex=r"\varepsilon",
        ),
        _OF_EPSILON,
        sliders=("eps0", "epochs", "n", "k"),
        solves="eps0",
        claim_text=words.claim_text,
    ),
    Plot(
        Quantity(
            RISK,
            "F − F*",
            "excess risk",
            ("epochs", "eps0", "k", "n", "d", "clip", "diameter"),
            scale=Scale.LOG,
            latex=r"F-F^*",
        ),
        _OF_RISK,
        sliders=("eps0", "epochs", "n", "d"),
        headline=_risk_headline,
    ),
)

_TRAINED = (ACCURACY,)
_OF_TABLE: More = {
    "quantities": _TRAINED,
    "group": "data",
    "relevant_when": (("data", (TABLE,)),),
}

PARAMETERS = (
    epsilon(
        "local privacy",
        "Privacy of every single gradient before it is shuffled. Smaller is more private.",
        2.0,
        0.05,
        10.0,
        key="eps0",
        symbol="ε₀",
    ),
    count(
        "epochs",
        "E",
        "epochs",
        "How often on average a client takes part: T = En/k rounds, rounded up. Fewer is more "
        "private. Models are trained until here, or to the end of an x axis that is narrower "
        "than the whole range.",
        20,
        1,
        MAX_EPOCHS,
        unit="epochs",
        more_private="low",
        latex="E",
    ),
    count(
        "n",
        "n",
        "clients",
        "Number of clients, with one picture or row each. More clients are more private. If there "
        "are more clients than these, several hold the same one.",
        10_000,
        10,
        1_000_000,
        unit="clients",
        more_private="high",
    ),
    count(
        "k",
        "k",
        "clients sampled",
        "How many clients are sampled in a round and shuffled together. Sampling protects "
        "fewer clients better, shuffling more clients.",
        500,
        1,
        1_000_000,
        unit="clients",
    ),
    delta(1e-5),
    choice(
        "randomiser",
        "",
        "randomiser",
        "How a client's gradient is clipped and randomised. R∞ reports one random coordinate's "
        "sign in a few bits, R₁ that of one entry of its Hadamard transform; R₂ a direction "
        "near the gradient's. All are ε₀-LDP and unbiased.",
        R_2,
        (
            (R_2, "R₂, best cap (PrivUnit, 2018)"),
            (R_2_HALF, "R₂, half sphere (Duchi et al. 2013)"),
            (R_INF, "R∞, one coordinate (Girgis et al. 2021)"),
            (R_1, "R₁, one Hadamard coordinate (Girgis et al. 2021)"),
            (R_P, "R₂, gradients clipped in another norm (Lemma 8)"),
        ),
        quantities=(RISK, ACCURACY),
        group="mechanism",
    ),
    real(
        "norm",
        "p",
        "norm of the clipping",
        "Gradients are clipped in the ℓp norm. R₂ then runs on the smallest ℓ2 ball that holds "
        "all of them, which for p above 2 grows with the number of parameters.",
        4.0,
        1.01,
        64.0,
        quantities=(RISK, ACCURACY),
        relevant_when=(("randomiser", (R_P,)),),
        group="mechanism",
    ),
    real(
        "clip",
        "C",
        "clipping threshold",
        "Gradients longer than this are shortened to it: in the ℓ2 norm for R₂, in the largest "
        "entry for R∞, in the sum of entries for R₁. It is also Theorem 3's Lipschitz constant "
        "L. It costs no privacy, but noise grows with it.",
        1.0,
        1e-4,
        100.0,
        quantities=(RISK, ACCURACY),
        group="mechanism",
    ),
    real(
        "diameter",
        "D",
        "diameter of the parameter set",
        "Parameters are kept in a ball of this diameter around 0.",
        20.0,
        0.1,
        1000.0,
        quantities=(RISK, ACCURACY),
        group="mechanism",
    ),
    count(
        "d",
        "d",
        "parameters of the model",
        "How many numbers are learnt. Softmax regression has 650 on the digits, 7,850 on MNIST; "
        "the paper states 13,170 for its network, which has 13,706.",
        650,
        2,
        1_000_000,
        quantities=(RISK,),
        group="mechanism",
    ),
    choice(
        "steps",
        "",
        "learning rate",
        "η = D/(G√t) as Theorem 3 wants it, a constant, or the schedules printed for Figure 5.",
        THEOREM,
        (
            (THEOREM, "Theorem 3: D/(G√t)"),
            (CONSTANT, "constant η"),
            (FIGURE_5A, "Figure 5 (a): 0.3, then 0.18"),
            (FIGURE_5B, "Figure 5 (b): 12, 4, 3.5"),
        ),
        quantities=_TRAINED,
        group="mechanism",
    ),
    real(
        "rate",
        "η",
        "constant learning rate",
        "How far a step goes along the averaged gradient.",
        1.0,
        1e-4,
        1e4,
        latex=r"\eta",
        quantities=_TRAINED,
        relevant_when=(("steps", (CONSTANT,)),),
        group="mechanism",
    ),
    orders(
        "Theorem 1 takes the best order from 2 to here. Any choice is sound; a small one can "
        "be loose.",
        group="mechanism",
    ),
    choice(
        "model",
        "",
        "model",
        "Softmax regression is convex, as Theorem 3 needs; the networks are not. The "
        "convolutional one is that of the paper's Table 1 with 13,706 parameters; the digits "
        "are enlarged threefold for it. It takes a hundred times as long as the others.",
        SOFTMAX,
        (
            (SOFTMAX, "softmax regression"),
            (PERCEPTRON, "network, 32 hidden units"),
            (CONVOLUTIONAL, "convolutional network of Table 1"),
        ),
        quantities=_TRAINED,
        group="simulation",
    ),
    count(
        "runs",
        "runs",
        "seeded runs",
        "How many trainings, each with its own seed, the mean and spread are taken over.",
        3,
        1,
        20,
        Scale.LINEAR,
        quantities=_TRAINED,
        group="simulation",
    ),
    choice(
        "band",
        "",
        "band shows",
        "What is drawn around the mean of the runs: how far single trainings are apart, as the "
        "paper prints it, or how well the runs determine the mean.",
        SPREAD,
        (
            (SPREAD, "± one standard deviation between runs"),
            (STUDENT, "95 % interval of the mean (Student's t)"),
        ),
        quantities=_TRAINED,
        group="simulation",
    ),
    choice(
        "data",
        "",
        "examples",
        "What is trained on: the 1,797 handwritten digits of 8 × 8 pixels that ship with the "
        "program, MNIST's files in a folder of yours, or a table of yours.",
        DIGITS,
        (
            (DIGITS, "digits of 8 × 8 pixels"),
            (MNIST, "MNIST in a folder"),
            (TABLE, "a table of your own"),
        ),
        quantities=_TRAINED,
        group="data",
    ),
    Parameter(
        "folder",
        "",
        "MNIST's folder",
        "Holds train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
        "t10k-labels-idx1-ubyte, plain or .gz.",
        Kind.FILE,
        "",
        quantities=_TRAINED,
        relevant_when=(("data", (MNIST,)),),
        group="data",
    ),
    file(
        "table",
        "file of the table",
        "A CSV file with a row a person and one column of labels. Numbers are scaled to [−1, 1] "
        "by bounds in the first line, as in age [0:120], or else by the smallest and largest of "
        "the training rows; each word of a column of words becomes a feature of 0 and 1.",
        (".csv", ".tsv", ".txt"),
        **_OF_TABLE,
    ),
    decimal_sign(**_OF_TABLE),
    count(
        "label_column",
        "",
        "label's column",
        "Number of the column to be predicted, the first being 1; 0 is the last one. Its fields "
        "are words or numbers, a class each.",
        0,
        0,
        2000,
        Scale.LINEAR,
        **_OF_TABLE,
    ),
    real(
        "held_out",
        "",
        "rows held out",
        "Share of the rows that nobody trains on: accuracy is measured on them.",
        0.2,
        0.05,
        0.9,
        Scale.LINEAR,
        **_OF_TABLE,
    ),
    count(
        "data_seed",
        "",
        "split",
        "Seed of the split into training and test examples (digits, table) and of who holds which.",
        0,
        0,
        9999,
        Scale.LINEAR,
        quantities=_TRAINED,
        group="data",
    ),
    epsilon(
        "privacy spent",
        "ε at δ after each epoch, as an axis: how accurate a model is at its privacy.",
        1.0,
        0.01,
        100.0,
        key="spent",
        quantities=_TRAINED,
        axis_only=True,
    ),
)


_DIMENSION = 10
"""Dimension of the gradients in an audit; ε₀ does not depend on it."""


def _laws(request: Request, promise: Guarantee, context: Context) -> Iterator[Law]:
    """Yield δ(ε) of the composed clones and of randomised response."""
    local, epochs, n, k = (float(request[key]) for key in ("eps0", "epochs", "n", "k"))
    chain = (local, k, n, float(learning.rounds_of(epochs, n, k)))
    yield from round_laws(chain, Clones.PUBLISHED, promise, context, ("shuffle-rdp", "composed"))


def _audits(request: Request, _promise: Guarantee, _context: Context) -> Audited:
    """Return the audit of the randomiser of one gradient against the opposite one, unshuffled."""
    eps0, kind = float(request["eps0"]), request["randomiser"]
    gradient = np.full(_DIMENSION, 1.0) if kind == R_INF else np.eye(_DIMENSION)[0]

    def run(side: int, runs: int, rng: np.random.Generator) -> FloatArray:
        rows = np.tile(gradient if side else -gradient, (runs, 1))
        if kind == R_INF:
            _, positive = learning.coordinate_report(_DIMENSION, eps0, 1.0).randomise(rows, rng)
            return positive.astype(float)
        if kind == R_1:
            # Row j of H has the sign of its first entry, +, in its first column.
            _, positive = learning.hadamard_report(_DIMENSION, eps0, 1.0).randomise(rows, rng)
            return positive.astype(float)
        unit = learning.priv_unit(_DIMENSION, eps0, 1.0, best_cap=kind != R_2_HALF)
        seen: FloatArray = unit.randomise(rows, rng) @ gradient
        return seen

    return Audited(
        f"one gradient of {_DIMENSION} numbers by this randomiser, before any shuffle; it is the "
        "opposite one instead",
        run,
        eps0,
        0.0,
        "promised of one report",
    )


@with_tradeoff(
    ("eps0", "epochs", "n", "k", "delta", "lam_max", "randomiser"),
    of=EPS,
    laws=_laws,
    promising=("law",),
    audits=_audits,
    patient=True,
)
class CldpSgd(CurveStudy):
    """CLDP-SGD: its privacy, its convergence, and its accuracy when trained on digits."""

    id = "cldp-sgd"
    simulated = "shuffle.learning/1"
    parameters = PARAMETERS
    plots = PLOTS
    points = LearningPoints
    page = PAGE
    presets = PRESETS
    references = (
        ALGORITHM,
        PRIVACY,
        CONVERGENCE,
        FIGURE_5,
        R_INFINITY,
        R_ONE,
        LEMMA_8,
        R_TWO,
        R_TWO_CAP,
        COMPOSED,
    )

    def stages(self, p: LearningPoints) -> Iterable[LearningPoints]:
        """Return what is quick first, compositions at the sliders next, then all."""
        stages: tuple[Stage, ...] = ("preview", "full")
        if p.request.quantity == EPS and p.answered and not p.coarse:
            stages = ("curve", "at_sliders", "full")
        return tuple(p.at_stage(stage) for stage in stages)

    def claimed_number(self, p: LearningPoints) -> tuple[Curve, LearningPoints] | None:
        """Return the composition of the clones at the sliders' values."""
        if p.request.quantity != EPS or not p.answered:
            return None
        return next(c for c in _OF_EPSILON if c.key == "numerical"), p.at_sliders

    def answer(self, request: Request, context: Context) -> Iterator[Result]:
        """Yield bounds; or, of an accuracy, one result after each piece of training."""
        if request.quantity != ACCURACY:
            yield from super().answer(request, context)
            return
        p = self.points(swept_points(self, request), request, context)
        plan = simulation.training_plan(request, p.swept, context)
        ledger = simulation.Ledger(request, plan, context)
        trained = all(simulation.run_of(job, context).epochs >= e for job, e in plan.stages())
        coarse = request.fidelity is Fidelity.COARSE
        yield self._trained(p, plan, ledger, words.WAITS_FOR_REST, Fidelity.COARSE, coarse)
        if coarse:
            return
        if not plan.missing:
            ledger.complete()
        for done in simulation.train_all(plan, context):
            result = self._trained(p, plan, ledger, words.NOT_YET, Fidelity.FULL, False)
            yield replace(result, progress=float(done))
        result = self._trained(p, plan, ledger, words.NOT_YET, Fidelity.FULL, True)
        yield replace(result, progress=None if trained else 1.0)

    def _trained(
        self,
        p: LearningPoints,
        plan: simulation.TrainingPlan,
        ledger: simulation.Ledger,
        resting: str,
        fidelity: Fidelity,
        complete: bool,
    ) -> Result:
        """Return the answer with the accuracies that are known."""
        q = p.at(p.swept, fidelity)
        known = simulation.scores(plan, p.context)
        q.progress = simulation.Progress(plan, ledger, known, resting)
        return self.result(q, complete=complete)

    def result(self, p: LearningPoints, *, complete: bool) -> Result:
        """Return the answer, its guarantee completed by the claimed bound."""
        answer = super().result(p, complete=complete)
        if p.request.quantity == ACCURACY:
            own = p.request["data"] == TABLE
            measured = ("accuracy", "plain")
            return replace(
                answer,
                readouts=tuple(
                    replace(r, curator_only=own and r.key in measured) for r in answer.readouts
                ),
                stamp=REAL_DATA if own else words.STAMP,
                curator_only=own,
            )
        if p.stage in ("curve", "at_sliders"):
            series = tuple(
                replace(s, computing=s.undefined_reason == words.COMPUTING) for s in answer.series
            )
            answer = replace(answer, series=series)
        return with_claim(answer)

    def readouts(self, p: LearningPoints) -> tuple[ScalarResult, ...]:
        """Return the numbers at the sliders."""
        if p.request.quantity == RISK:
            return tuple(
                scalar_from(curve.key, str(curve.label), p.bounds[curve.key])
                for curve in self.curves(p)
                if curve.key in p.bounds
            )
        if p.request.quantity == ACCURACY:
            return simulation.readouts(p.progress, _report_bits(p)) if p.answered else ()
        quick = [_readout(c, p.bounds[c.key]) for c in _OF_EPSILON[:3]]
        slow = []
        if p.stage == "curve":
            slow = [_readout(c, p.bounds[c.key]) for c in _OF_EPSILON if c.key == "numerical"]
        elif p.stage != "preview":
            own = p.at_sliders if p.stage == "at_sliders" else p.for_compositions
            slow = [_readout(c, b, own) for c in _OF_EPSILON[3:] if (b := c.bound(own))]
        if not p.answered:
            return (*quick, *slow)
        about = _about(p.for_levels)
        return (*quick, *about, *slow) if p.stage == "at_sliders" else (*quick, *slow, *about)

    def conditions(self, p: LearningPoints) -> tuple[Condition, ...]:
        """Return the conditions at the sliders' values."""
        sampling = words.sampling(p.request["k"], p.request["n"])
        if not p.answered:
            return (sampling,)
        if p.request.quantity == RISK:
            here = _values_here(p)
            best = min(here["remark"], here.get("exact", np.inf))
            norm = theory.norm_of(p.request)
            return (sampling, *words.risk_conditions(norm, best, here["trivial"]))
        if p.request.quantity == EPS:
            theorem, orders = p.for_levels.theorem
            order, edge = float(orders[-1]), bool(theorem.truncated[-1])
        else:
            order, edge = p.progress.best_order, p.progress.at_edge
        result = words.conditions(
            sampled=p.request["k"],
            clients=p.request["n"],
            order=order,
            lam_max=p.max_order if p.request.quantity == EPS else p.request["lam_max"],
            at_edge=edge,
        )
        if p.request.quantity == EPS:
            return result
        run = p.progress.run(p.context)
        return (
            *result,
            *words.training_conditions(
                convex=p.request["model"] == SOFTMAX,
                clip=p.request["clip"],
                lipschitz=run.lipschitz,
                clients=p.request["n"],
                source=p.request["data"],
                examples=run.examples,
                rates=p.request["steps"] == THEOREM,
            ),
            *(words.table_conditions(run.table.columns) if run.table else ()),
        )

    def tables(self, p: LearningPoints) -> tuple[Table, ...]:
        """Return accuracy and ε after some numbers of epochs, and the columns of a table."""
        if p.request.quantity != ACCURACY or not p.answered:
            return ()
        facts = p.progress.run(p.context).table
        return (simulation.table(p.progress), *([simulation.column_table(facts)] if facts else []))

    def guarantee(self, p: LearningPoints) -> Guarantee | None:
        """Return the guarantee; that of ε is completed by `result`."""
        if not p.answered:
            return None
        if p.request.quantity == ACCURACY:
            return self._accuracy_guarantee(p)
        if p.request.quantity == RISK:
            return self._risk_guarantee(p)
        rounds = float(p.for_levels.spending.rounds[-1])
        here = _values_here(p)
        numerical = here.get("numerical", np.nan) if p.stage == "full" else np.nan
        upper = {"theorem": here["theorem"]}
        if p.stage == "full":
            upper["clones"] = here["clones"]
        promise = _promise(
            p, rounds, words.epsilon_differences(upper, numerical, p.request["eps0"])
        )
        if p.stage == "preview":
            return promise
        return replace(promise, distance=p.total_variation(rounds))

    def _risk_guarantee(self, p: LearningPoints) -> Guarantee:
        """Return the guarantee of the training, which is the same whatever is plotted."""
        one = p.at_sliders
        curves = [c for c in _OF_EPSILON if not (p.coarse and c.role is Role.LOWER)]
        bounds = {c.key: bound for c in curves if (bound := c.bound(one)) is not None}
        rounds = float(one.spending.rounds[0])
        differences = words.risk_differences(_values_here(p), theory.norm_of(p.request))
        promise = _promise(p, rounds, differences)
        promise = replace(promise, distance=p.total_variation(rounds))
        return _with_tightest(
            p.request, promise, bounds, float(one.theorem[1][0]), rounds, not p.coarse
        )

    def _accuracy_guarantee(self, p: LearningPoints) -> Guarantee:
        """Return the guarantee of the training at the sliders' number of epochs."""
        progress = p.progress
        epochs, rounds = progress.plan.epochs, progress.rounds
        bounds = progress.ledger.bounds_at(epochs)
        values = {key: float(bound.value[0]) for key, bound in bounds.items()}
        complete = progress.ledger.numerical is not None
        differences = words.accuracy_differences(values, epochs, p.swept.sweep.key == "spent")
        promise = _promise(p, rounds, differences)
        promise = replace(promise, distance=p.total_variation(rounds))
        return _with_tightest(p.request, promise, bounds, progress.best_order, rounds, complete)

    def notes(self, p: LearningPoints) -> tuple[str, ...]:
        """Return why there is no answer, or what a training is not."""
        if not p.answered:
            return (f"at the sliders' values {words.MORE_THAN_ALL}: lower k or raise n",)
        if p.request.quantity != ACCURACY:
            return ()
        missing, facts = p.progress.plan.missing, p.progress.run(p.context).table
        about = [missing] if missing else []
        if facts is not None:
            about += [facts.summary, words.split(facts)]
        return (words.nothing_released(p.request["data"]), *about)


def _values_here(p: LearningPoints) -> dict[str, float]:
    """Return the values of the curves at the sliders; NaN where undefined."""
    return {key: float(bound.value[-1]) for key, bound in p.bounds.items()}


def _readout(curve: Curve, bound: Bound, p: LearningPoints | None = None) -> ScalarResult:
    """Return the value of a curve of ε at the sliders; that of the lower bound has its source."""
    notes = [] if callable(curve.note) else [curve.note]
    if curve.key == "response" and p is not None and p.valid[-1]:
        assert p.spending.pairs is not None
        notes.insert(0, which_won(*p.spending.pairs[:, -1].tolist()))
    return scalar_from(curve.key, str(curve.label), bound, note="; ".join(n for n in notes if n))


def _about(p: LearningPoints) -> tuple[ScalarResult, ScalarResult]:
    """Return the number of rounds and the best order at the sliders."""
    return _rounds_and_order(float(p.spending.rounds[-1]), float(p.theorem[1][-1]))


def _rounds_and_order(rounds: float, order: float) -> tuple[ScalarResult, ScalarResult]:
    return (
        ScalarResult("rounds", "rounds T", rounds),
        ScalarResult("order", "best order λ*", order),
    )


def _promise(p: LearningPoints, rounds: float, differences: tuple[str, ...]) -> Guarantee:
    messages = rounds * p.request["k"] / p.request["n"]
    return words.guarantee(local=p.request["eps0"], messages=messages, differences=differences)


def _with_tightest(
    request: Request,
    promise: Guarantee,
    bounds: dict[str, Bound],
    order: float,
    rounds: float,
    complete: bool,
) -> Guarantee:
    """Return a guarantee with the tightest bound on ε, where another quantity is plotted.

    Parameters
    ----------
    request : Request
    promise : Guarantee
    bounds : dict
        Bounds on ε at the sliders, by key of the curve.
    order, rounds : float
    complete : bool
        Whether all bounds are there.
    """
    nowhere = SweptPoints(Sweep("epochs", 1.0, 1.0, 1), np.empty(0), {})
    curves = {curve.key: curve for curve in _OF_EPSILON}
    answer = Result(
        replace(request, quantity=EPS, sweep=None),
        Fidelity.FULL,
        tuple(series_from(key, str(curves[key].label), nowhere, b) for key, b in bounds.items()),
        readouts=(
            *(scalar_from(key, str(curves[key].label), b) for key, b in bounds.items()),
            *_rounds_and_order(rounds, order),
        ),
        guarantee=promise,
        complete=complete,
    )
    return with_claim(answer).guarantee or promise


def _report_bits(p: LearningPoints) -> int:
    """Return the bits of a report; 0 before the model is known."""
    state = p.progress.run(p.context).state
    if state is None:
        return 0
    size = state.theta.size
    sparse = p.request["randomiser"] in (R_INF, R_1)
    return math.ceil(math.log2(size)) + 1 if sparse else 64 * size
