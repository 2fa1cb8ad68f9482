"""Sources, conditions, guarantees and claim texts of the study of private learning."""

import math
from dataclasses import replace

from explorer.privacy.core.bound import SHUFFLE_RDP, Reference
from explorer.privacy.learning import training
from explorer.privacy.shuffle_rdp import COMPOSED_CLONES, COMPOSED_LOWER
from explorer.studies.base.numbers import at_most, nearest
from explorer.studies.base.phrases import WORST_KNOWN, gap_words, odds_lines, times
from explorer.studies.base.study import ClaimText, Condition, Guarantee, Result, Series
from explorer.studies.cldp_sgd.data import Column, TableFacts

PRIVACY = training.PRIVACY
CONVERGENCE = training.CONVERGENCE
CONVERGENCE_EXACT = training.CONVERGENCE_EXACT
ALGORITHM = Reference(SHUFFLE_RDP, "Algorithm 1")
FIGURE_5 = Reference(SHUFFLE_RDP, "Figure 5", "one epoch is n/k rounds; errata shuf-B7")
R_INFINITY = Reference(
    "Girgis, Data, Diggavi, Kairouz & Suresh 2021 (shuffled model of federated learning)", "R_∞"
)
R_ONE = replace(R_INFINITY, where="R_1")
LEMMA_8 = Reference(SHUFFLE_RDP, "Lemma 8", "for p other than 1, 2 and ∞; errata shuf-B5")
R_TWO = Reference("Duchi, Jordan & Wainwright 2013", "ℓ2 mechanism")
R_TWO_CAP = Reference(
    "Bhowmick, Duchi, Freudiger, Kapoor & Rogers 2018", "PrivUnit₂", "cap of smallest error"
)
SHUFFLED = Reference(
    "Feldman, McMillan & Talwar 2021",
    "Theorem 3.2, evaluated exactly",
    "with Ullman 2017 and Kairouz, Oh & Viswanath 2015, Theorem 3.4; errata shuf-B1",
)
UNAMPLIFIED = Reference(
    "Kairouz, Oh & Viswanath 2015", "Theorem 3.4", "of (ε₀, 0) after Ullman 2017; errata shuf-B2"
)
CAP = Reference(
    "Ullman 2017 (lecture notes)", "subsampling", "T·ln(1+γ(e^ε₀−1)), basic composition"
)
COMPOSED, RESPONSE = COMPOSED_CLONES, COMPOSED_LOWER
NO_NOISE = Reference(SHUFFLE_RDP, "Theorem 3, Gₚ = 0", "explicit form (36); errata shuf-B6")
TRIVIAL = Reference("Lipschitz continuity", "over a set of diameter D")
PLAIN_SGD = Reference("Robbins & Monro 1951", "stochastic gradient descent")
DIGITS = Reference("Alpaydin & Kaynak 1998", "optical recognition of handwritten digits, UCI")


LABELS = {
    "theorem": "Theorem 1 (upper bound)",
    "numerical": "numerical upper bound (clones 2021)",
    "clones": "clones (2021, numerical) + sampling + KOV",
}
"""Labels of the accountants that accuracy is plotted against."""
COMPUTING = "it is being computed"
MORE_THAN_ALL = "more clients would be sampled than there are (k > n)"
STAMP = "simulation, not a release"
WAITS_FOR_REST = "training begins when the sliders rest"
NOT_YET = "not trained so far"
NO_FILE = {
    "mnist": "MNIST's folder is not chosen: choose the folder with its four idx files, or take "
    "the digits that ship",
    "table": "the table is not chosen: choose a CSV file with a column of labels, or take the "
    "digits that ship",
}
"""Why nothing is trained, by source of the examples."""


_EXAMPLES = {"digits": "pictures", "mnist": "pictures", "table": "rows"}


def examples(source: str) -> str:
    """Return what the examples of a source are."""
    return _EXAMPLES[source]


def nothing_released(source: str) -> str:
    """Return that a training is no release."""
    return (
        f"Trained here, on this computer, on {examples(source)} that the program sees: nothing "
        "here is a release, and no model is kept."
    )


def split(facts: TableFacts) -> str:
    """Return how a table is split, and into which classes."""
    return (
        f"{facts.rows:,} rows are trained on, and {facts.held_out:,} held out to measure accuracy; "
        f"the label has {len(facts.classes)} classes."
    )


def not_longer(epochs: int) -> str:
    """Return why a curve ends after so many epochs."""
    return f"trained for E = {epochs} epochs: raise E, or narrow the axis, to train longer"


def epsilon_differences(upper: dict[str, float], numerical: float, eps0: float) -> tuple[str, ...]:
    """Return why the accountants differ.

    Parameters
    ----------
    upper : dict
        ε of ``theorem`` and, where known, ``clones``.
    numerical : float
        ε of the numerical upper bound; NaN where not known.
    eps0 : float
    """
    gap = "the gap is the price of the formula"
    if numerical > 0:
        gap += f"; the first is {_as_large(upper['theorem'] / numerical)} the second here"
    average = "what a round loses on average is forgotten"
    if upper.get("clones", math.nan) > 0 and upper["theorem"] > 0:
        average += f". It is {_as_large(upper['clones'] / upper['theorem'])} Theorem 1 here"
    return (
        "“Theorem 1” adds Rényi bounds that hold for every k; the “numerical upper bound” composes "
        f"the privacy loss itself. Both bound the same training: {gap}.",
        "“Clones + KOV” amplifies every round, then composes the rounds knowing only their (ε, δ): "
        f"{average}.",
        *([f"{WORST_KNOWN} {gap_words(eps0)}"] if numerical > 0 else []),
    )


def risk_differences(here: dict[str, float], p: float) -> tuple[str, ...]:
    """Return why the bounds on the risk differ, by their values at the sliders."""
    out = []
    if "exact" in here:
        ratio = here["remark"] / here["exact"]
        if p in (1, math.inf):
            out.append(
                "Remark 1 and the exact error give one curve: Remark 1's constant for "
                f"{'R₁' if p == 1 else 'R∞'} is its squared error itself."
            )
        else:
            ball = "" if p <= 2 else "·d^(1−2/p)"
            out.append(
                f"Remark 1 bounds the squared error of R₂ by 14·dC²{ball}((e^ε₀+1)/(e^ε₀−1))², "
                "whatever its cap; the other curve takes the error of the chosen cap itself. The "
                f"bound by Remark 1 is {_as_large(ratio)} the one by the exact error here."
            )
        out.append(
            "Without privacy G² has only the clipped gradients in it; with the noise of the "
            "randomised ones, averaged over k reports, the bound is "
            f"{_as_large(here['exact'] / here['silent'])} that one here."
        )
    if here["trivial"] < min(here["remark"], here.get("exact", math.inf)):
        needed = "more rounds, more clients in each or a larger ε₀ are needed"
        if here["trivial"] < here["silent"]:
            needed = "more rounds are needed, without privacy too,"
        out.append(
            "Lipschitz continuity alone bounds the risk of any model in the set, trained or not; "
            f"here it is less than what convergence gives: {needed} before the bound says anything."
        )
    return tuple(out)


def accuracy_differences(counted: dict[str, float], epochs: int, spent: bool) -> tuple[str, ...]:
    """Return why the curves of accuracy differ.

    Parameters
    ----------
    counted : dict
        ε after `epochs` by curve; NaN where not known.
    spent : bool
        Whether accuracy is drawn against ε.
    """
    out = []
    known = [
        f"{at_most(value)} by “{LABELS[key]}”"
        for key, value in counted.items()
        if math.isfinite(value)
    ]
    if spent and len(known) > 1:
        out.append(
            "The curves of CLDP-SGD are one and the same training, drawn at the ε that each "
            f"accountant counts for it: after E = {epochs} " + ", ".join(known) + "."
        )
    out.append(
        "SGD without privacy sees the same examples as often, but neither shortens nor randomises "
        "its gradients, keeps its parameters in no set and has a step of its own (η = 0.5): the "
        "gap is the price of all these together."
    )
    return tuple(out)


def _as_large(ratio: float) -> str:
    return "as large as" if abs(ratio - 1) < 0.005 else times(ratio)


_RISK_ONLY = "Only for Theorem 3's bound on the risk, not for the guarantee"


def conditions(
    *, sampled: float, clients: float, order: float, lam_max: float, at_edge: bool
) -> tuple[Condition, ...]:
    """Return the conditions of the bounds on ε."""
    return (
        sampling(sampled, clients),
        Condition(
            f"Only how sharp “{LABELS['theorem']}” is, which holds either way: the best order lies "
            "inside the search (a larger λₘₐₓ might give a smaller ε)",
            not at_edge,
            f"λ* = {order:.0f}, λₘₐₓ = {lam_max:.0f}",
            of_guarantee=False,
            short="Sharpness: best order is inside λₘₐₓ",
        ),
        Condition(
            "In a round all clients use one ε₀-LDP randomiser, chosen from earlier rounds only",
            None,
            short="One ε₀-LDP randomiser a round",
        ),
        Condition(
            "Every round samples anew, without replacement, and who was sampled stays secret",
            None,
            short="Fresh secret sample in every round",
        ),
    )


def sampling(sampled: float, clients: float) -> Condition:
    """Return the condition that no more clients are sampled than there are."""
    return Condition(
        "No more clients are sampled than there are, k ≤ n",
        sampled <= clients,
        f"γ = {sampled:,.0f}/{clients:,.0f} = {nearest(sampled / clients)}",
        short="Sample size k does not exceed n",
    )


def training_conditions(
    *,
    convex: bool,
    clip: float,
    lipschitz: float,
    clients: int,
    source: str,
    examples: int,
    rates: bool,
) -> tuple[Condition, ...]:
    """Return the conditions of Theorem 3's convergence for a training, and of its data."""
    several = _EXAMPLES[source]
    one = several.removesuffix("s")
    conditions = [
        Condition(
            f"{_RISK_ONLY}: the loss is convex",
            convex,
            of_guarantee=False,
            short="Risk only: the loss is convex",
        ),
        Condition(
            f"{_RISK_ONLY}: the learning rate is D/(G√t)",
            rates,
            of_guarantee=False,
            short="Risk only: learning rate is D/(G√t)",
        ),
    ]
    if convex and math.isfinite(lipschitz):
        conditions.append(
            Condition(
                f"{_RISK_ONLY}: clipping leaves gradients alone, C ≥ L (else it is about a clipped "
                "descent that it doesn't cover)",
                clip >= lipschitz,
                f"C = {nearest(clip)}, L = {nearest(lipschitz)} on these {several}",
                of_guarantee=False,
                short="Risk only: C ≥ L, nothing is clipped",
            )
        )
    if examples:
        conditions.append(
            Condition(
                f"Every client holds a {one} of its own",
                clients <= examples,
                f"{clients:,} clients, {examples:,} training {several}"
                + (
                    f": each is held by about {nearest(clients / examples)} clients, and what is "
                    "protected is one client's copy"
                    if clients > examples
                    else ""
                ),
            )
        )
    return tuple(conditions)


def table_conditions(columns: tuple[Column, ...]) -> tuple[Condition, ...]:
    """Return the condition that nothing by which a table is coded depends on its rows."""
    numbers = [column for column in columns if column.use == "numbers"]
    stated = sum(column.public for column in numbers)
    margin = "bounds of {:,} of {:,} columns of numbers stand in the first line; the others, {}"
    return (
        Condition(
            "Bounds of numbers, words of columns and labels are public, not taken from one "
            "client's row",
            None,
            margin.format(stated, len(numbers), "words and labels are those of the rows"),
            short="Bounds, words and labels are public",
        ),
    )


def risk_conditions(p: float, bound: float, trivial: float) -> tuple[Condition, ...]:
    """Return the conditions of the bound on the risk, and whether it is below the trivial one."""
    norm = "∞" if p == math.inf else nearest(p)
    return (
        Condition(
            "Only how sharp the bound on the risk is: it says more than that F is Lipschitz",
            bound < trivial,
            f"bound {at_most(bound)}, trivially {at_most(trivial)}",
            of_guarantee=False,
            short="Risk only: below the trivial bound",
        ),
        Condition(
            f"{_RISK_ONLY}: the loss is convex with ‖∇f‖_{norm} ≤ L = C",
            None,
            of_guarantee=False,
            short=f"Risk only: convex, ‖∇f‖_{norm} ≤ L = C",
        ),
        Condition(
            f"{_RISK_ONLY}: the learning rate is D/(G√t), parameters are projected onto the set",
            None,
            of_guarantee=False,
            short="Risk only: rate D/(G√t), projected",
        ),
    )


def guarantee(*, local: float, messages: float, differences: tuple[str, ...]) -> Guarantee:
    """Return the part of the guarantee that does not depend on the claimed bound.

    Parameters
    ----------
    local : float
        ε₀.
    messages : float
        Reports that a client sends on average, γT.
    differences : tuple of str
        Why the curves differ.
    """
    return Guarantee(
        unit="one client's record, over all rounds",
        about="which of two records a client holds",
        replace_one="",
        add_remove=(
            "not covered: n is fixed and public, and exactly k of n clients are sampled; adding or "
            "removing a record would change the sampling itself"
        ),
        trust=(
            "Clients trust the shuffler to hide who sent what and to keep secret who was sampled. "
            "The server, and everyone it gives a model to, sees the shuffled reports of every "
            "round. Against the shuffler itself each report has only its own "
            f"ε₀ = {at_most(local)}; over all rounds a client sends γT = "
            + (f"{messages:,.0f}" if messages >= 10 else nearest(messages))
            + " of them on average."
        ),
        sentence="",
        references=(PRIVACY, ALGORITHM),
        differences=differences,
        law="the 2021 clones through all rounds",
    )


def claim_text(result: Result, series: Series, epsilon: float) -> ClaimText:
    """Return the text of a claimed bound on ε at the sliders' values."""
    promise, delta = result.guarantee, float(result.request["delta"])
    values = {r.key: r.value for r in result.readouts}
    order, rounds = values.get("order"), values.get("rounds") or math.nan
    at = f", order λ* = {order:.0f}" if series.key == "theorem" and order else ""
    distance = promise.distance if promise else None
    return ClaimText(
        f"ε ≤ {at_most(epsilon)}",
        odds_lines(
            epsilon,
            delta,
            "which of two records a client holds",
            "after seeing all shuffled reports and every model",
            distance=distance,
            law=promise.law if promise else "",
            by=series.label,
            awaited=distance is None and not (result.complete or result.held),
        ),
        f"({at_most(epsilon)}, {at_most(delta)})-DP after "
        + ("1 round" if rounds == 1 else f"{rounds:,.0f} rounds")
        + f" when one record is replaced by any other ({series.label}{at})",
        ((epsilon, delta),),
        "after the training",
    )
