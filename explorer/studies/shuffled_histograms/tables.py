"""Tables of the study: the paper's Tables 1 and 2, runs of the reductions, and views enumerated.

Tables 1 and 2 compare models in numbers where the paper has constants. Other rows are orders of
growth with their constant set to 1, and labelled so: they compare in shape, not in height.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from explorer.privacy import histograms as hist
from explorer.privacy.core import checks
from explorer.privacy.core.bound import (
    HISTOGRAMS as PAPER,
    BoolArray,
    Bound,
    FloatArray,
    Reference,
    Role,
)
from explorer.privacy.histograms.calibration import CONDITION, Query, calibrate
from explorer.privacy.histograms.protocol import (
    MAX_DOMAIN,
    error_bound,
    histogram_messages,
)
from explorer.privacy.histograms.sample_complexity import exact_samples, printed_samples
from explorer.studies.base.numbers import nearest
from explorer.studies.base.study import Table

ORDER_ONLY = "order only: the constant is not known and set to 1"


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes
    ----------
    model : str
        local, shuffled or central.
    source : str
        Whose result it is.
    value : Bound
        Simultaneous error (Table 1) or number of samples (Table 2).
    order_only : bool
        Whether `value` is an order of growth with its constant set to 1.
    messages : Bound or None
        Messages of a user (Table 1); None where there is no shuffler.
    note : str
        What the row assumes.
    scope : str
        Which instances and protocols it is about (Table 2).
    """

    model: str
    source: str
    value: Bound
    order_only: bool
    messages: Bound | None = None
    note: str = ""
    scope: str = ""


def _order(value: FloatArray, where: str, valid: BoolArray, reason: str) -> Bound:
    shape = np.broadcast_shapes(np.shape(value), np.shape(valid))
    value, valid = np.broadcast_to(value, shape), np.broadcast_to(valid, shape)
    valid, reference = valid & np.isfinite(value), Reference(PAPER, where, ORDER_ONLY)
    return Bound(value, Role.ESTIMATE, reference, valid, "" if valid.all() else reason)


@np.errstate(over="ignore")
def table1_rows(
    n: ArrayLike, d: ArrayLike, eps: ArrayLike, delta: ArrayLike, beta: float = 0.05
) -> list[Row]:
    """Return Table 1: the simultaneous error of an (ε, δ)-DP histogram, model by model.

    Parameters
    ----------
    n : array of int
        Users, in [1, 1e12].
    d : array of int
        Bins, in [1, 1e300].
    eps : array of float
        Target ε in (0, 800]; the paper's rows are valid for ε ≤ 1 (its own for ε ≤ 2).
    delta : array of float
        Target δ in [1e-300, 1].
    beta : float
        Probability with which the error of the rows that have constants may be larger.

    Returns
    -------
    list of Row
        Errors are in frequency. P_hist stands twice, by the paper's constants (run at (ε/2, δ/2),
        errata hist-A1) and calibrated exactly.

    References
    ----------
    Balcer & Cheu 2020, Table 1; errata hist-A1, hist-B7.
    """
    users, bins, e, small = _arguments(n, d, eps, delta)
    failure = float(checks.delta(beta, "beta"))
    *others, central = table1_orders(users, bins, e, small)
    return [
        *others,
        _paper_row(users, bins, e, small, failure),
        _calibrated_row(users, bins, e, small, failure),
        central,
    ]


def _arguments(
    n: ArrayLike, d: ArrayLike, eps: ArrayLike, delta: ArrayLike
) -> tuple[FloatArray, ...]:
    users = checks.integers("n", n, 1, checks.MAX_COUNT)
    bins = checks.integers("d", d, 1, MAX_DOMAIN)
    e = checks.reals("eps", eps, 0.0, checks.MAX_EPSILON, open_low=True)
    return tuple(np.broadcast_arrays(users, bins, e, checks.delta(delta)))


@np.errstate(over="ignore")
def table1_orders(n: ArrayLike, d: ArrayLike, eps: ArrayLike, delta: ArrayLike) -> list[Row]:
    """Return the rows of Table 1 that are orders of growth only, all but the paper's own.

    Parameters and errors as for `table1_rows`: local, three shuffled ones, central.
    """
    users, bins, e, small = _arguments(n, d, eps, delta)
    log_d, log_inverse = np.log(bins), -np.log(small)
    paper_range = e <= 1
    needs = "the table assumes ε ≤ 1"
    # The rows of [13] assume δ < 1/log d; where that fails ln(ln d/δ) may have no root.
    few = paper_range & (small * log_d < 1) & (bins >= 3)
    few_needs = "[13] assumes ε ≤ 1, d ≥ 3 and δ < 1/ln d"
    nested = np.maximum(log_inverse + np.log(np.maximum(log_d, 1.0)), 0.0)
    rate = np.maximum(log_inverse - np.log(e), 0.0)
    everyone = _order(bins.astype(float), "Table 1, [8]", paper_range, needs)
    return [
        Row(
            "local",
            "Bassily & Smith 2015",
            _order(np.sqrt(log_d / users) / e, "Table 1, [3]", paper_range, needs),
            True,
            Bound(np.ones(e.shape), Role.EXACT, Reference(PAPER, "Table 1, [3]")),
        ),
        Row(
            "shuffled",
            "Cheu et al. 2019",
            _order(np.sqrt(log_d * log_inverse) / (e * users), "Table 1, [8]", paper_range, needs),
            True,
            everyone,
        ),
        Row(
            "shuffled",
            "Ghazi et al. 2019, few messages",
            _order(np.sqrt(log_d**3 * nested) / (e * users), "Table 1, [13]", few, few_needs),
            True,
            _order(log_d**3 * nested / e / e, "Table 1, [13]", few, few_needs),
        ),
        Row(
            "shuffled",
            "Ghazi et al. 2019, fewest messages",
            _order(
                log_d / users + np.sqrt(log_d * rate) / (e * users), "Table 1, [13]", few, few_needs
            ),
            True,
            _order(rate / e / e, "Table 1, [13]", few, few_needs),
        ),
        Row(
            "central",
            "Dwork et al. 2006; Bun et al. 2016",
            _order(
                np.minimum(log_d, log_inverse) / (e * users),
                "Table 1, [9, 7, 4, 14]",
                paper_range,
                needs,
            ),
            True,
        ),
    ]


def _paper_row(
    users: FloatArray, bins: FloatArray, e: FloatArray, small: FloatArray, beta: float
) -> Row:
    noise = 200 * np.log(4 / small) / e / e
    good = (e <= 2) & (users >= 2 * noise)
    p = np.where(good, 1 - noise / users, 0.5)
    share = np.maximum(beta / np.minimum(users, bins), checks.MIN_DELTA)
    result = error_bound(users, p, share)
    valid = good & result.valid
    reason = "" if valid.all() else "the paper's constants need ε ≤ 2 and n ≥ (400/ε²) ln(4/δ)"
    reference = Reference(PAPER, "Theorem 3.2(iii)", "run at (ε/2, δ/2), errata hist-A1")
    return Row(
        "shuffled",
        "P_hist, the paper's constants",
        Bound(result.value, Role.UPPER, reference, valid, reason),
        False,
        _messages(p, bins, good, reason),
        "Replace-one neighbours; all n users add their noise.",
    )


def _calibrated_row(
    users: FloatArray, bins: FloatArray, e: FloatArray, small: FloatArray, beta: float
) -> Row:
    tuned = calibrate(e, small, users, Query.HISTOGRAM)
    p, good = np.asarray(tuned.p), np.asarray(tuned.feasible)
    share = np.maximum(beta / np.minimum(users, bins), checks.MIN_DELTA)
    result = error_bound(users, p, share)
    valid = good & result.valid
    reason = "" if valid.all() else "too few users for this ε and δ, or β too small for the noise"
    reference = Reference(PAPER, "Theorem 3.2(iii)", "noise calibrated by the exact δ")
    return Row(
        "shuffled",
        "P_hist, calibrated exactly",
        Bound(result.value, Role.UPPER, reference, valid, reason),
        False,
        _messages(p, bins, good, reason),
        CONDITION,
    )


def _messages(p: FloatArray, bins: FloatArray, good: BoolArray, reason: str) -> Bound:
    return Bound(
        np.asarray(histogram_messages(p, bins)),
        Role.EXACT,
        Reference(PAPER, "Theorem 3.2(iv)", "expected; at most 1 + d"),
        good,
        "" if good.all() else reason,
    )


@np.errstate(over="ignore")
def table2_rows(
    eps: ArrayLike, delta: ArrayLike, h: ArrayLike, length: ArrayLike
) -> dict[str, list[Row]]:
    """Return Table 2: the samples of pointer chasing and of multi-party pointer jumping.

    Parameters
    ----------
    eps, delta : array of float
        Target of the protocol: ε in (0, 800], δ in [1e-300, 1].
    h : array of int
        Levels of the tree in MPJ(s, h), in [1, 1e6].
    length : array of int
        Length ℓ of the permutations in PC(k, ℓ), in [1, 1e300].

    Returns
    -------
    dict
        ``"pointer chasing"`` and ``"pointer jumping"``, each a list of rows. The shuffled rows
        with constants are Claim 3.4's protocol, run at (ε/2, δ/2) by the paper's constants and
        calibrated exactly.

    References
    ----------
    Balcer & Cheu 2020, Table 2; errata hist-A1 to hist-A3 (h·max(1, ln h) where the paper has h log
    h).
    """
    e = checks.reals("eps", eps, 0.0, checks.MAX_EPSILON, open_low=True)
    small = checks.delta(delta)
    levels = checks.integers("h", h, 1, 1e6)
    size = checks.integers("length", length, 1, MAX_DOMAIN)
    e, small, levels, size = np.broadcast_arrays(e, small, levels, size)
    in_range = e <= 1
    two = np.full(e.shape, 2.0)
    log_inverse = -np.log(small)
    coupons = levels * np.maximum(1.0, np.log(levels))
    needs = "the table assumes ε ≤ 1"
    small_enough = in_range & (25 * np.log(small) < -np.log(200 * levels))
    claim = "Claim 3.4 assumes ε ≤ 1 and δ < (1/200h)^(1/25)"
    chasing = [
        Row("local", "lower bound", chasing_lower(e, size), True, scope=POINTER_CHASING),
        *_shuffled_rows(e, small, two, log_inverse / e / e, in_range, needs, "every k and ℓ"),
        _central(log_inverse / e, in_range, needs, "every k and ℓ"),
    ]
    jumping = _lower(
        levels**3 / np.maximum(1.0, np.log(levels)) / e / e,
        "Table 2, [15]",
        in_range & (levels > 1),
        "the lower bound is for ε ≤ 1 and h > 1",
    )
    jumps = [
        Row("local", "lower bound", jumping, True, scope=MULTI_PARTY_JUMPING),
        *_shuffled_rows(
            e, small, levels, coupons * log_inverse / e / e, small_enough, claim, "every s"
        ),
        _central(coupons * log_inverse / e, small_enough, claim, "every s"),
    ]
    return {"pointer chasing": chasing, "pointer jumping": jumps}


POINTER_CHASING = "k = 2, no interaction"
MULTI_PARTY_JUMPING = "s = h⁴, sequentially interactive or not"
REGIME = (
    "The separation's own regime, s = h⁴, cannot be run: the last level of the tree has h^(4(h−1)) "
    "labels, 1.5·10¹¹ at h = 5, while the local order h³/(ε² ln h), its unknown constant set to 1, "
    "passes P_hist's number of users only from h = 25 on (at ε = 1, δ = 10⁻⁶); and a bound on all "
    "local protocols is a proof, of which there is nothing to run."
)
"""What the local lower bounds of Table 2 are about."""


def chasing_lower(eps: ArrayLike, length: ArrayLike) -> Bound:
    """Return the order ℓ/e^ε of the samples that PC(2, ℓ) takes non-interactive local protocols.

    Parameters
    ----------
    eps : array of float
        In (0, 800]; the bound is for ε ≤ 1.
    length : array of int
        ℓ, in [1, 1e300].

    References
    ----------
    Balcer & Cheu 2020, Table 2, after [16]; what Theorem 1.2 is about. No constant is known.
    """
    e = checks.reals("eps", eps, 0.0, checks.MAX_EPSILON, open_low=True)
    size = checks.integers("length", length, 1, MAX_DOMAIN)
    return _lower(size * np.exp(-e), "Table 2, [16]", e <= 1, "the table assumes ε ≤ 1")


def _lower(value: Any, where: str, valid: BoolArray, reason: str) -> Bound:
    order = _order(value, where, valid, reason)
    return Bound(order.value, Role.LOWER, order.reference, order.valid, order.reason)


def _central(value: FloatArray, valid: BoolArray, reason: str, scope: str) -> Row:
    order = _order(value, "Table 2", valid, reason)
    return Row("central", "Bun et al. 2016", order, True, scope=scope)


def _shuffled_rows(
    e: FloatArray,
    small: FloatArray,
    h: FloatArray,
    order: FloatArray,
    valid: BoolArray,
    reason: str,
    scope: str,
) -> list[Row]:
    paper_range = (e <= 2) & (small >= 2 * checks.MIN_DELTA)
    printed = printed_samples(
        np.where(paper_range, e / 2, 1.0), np.where(paper_range, small / 2, 0.5), h
    )
    exact = exact_samples(e, small, h)
    known_order = _order(order, "Table 2", valid, reason)
    rows = [Row("shuffled", "P_hist", known_order, True, scope=scope)]
    for result, good, source, note in (
        (
            printed.n,
            paper_range,
            "P_hist, the paper's constants",
            "run at (ε/2, δ/2), errata hist-A1",
        ),
        (exact.n, True, "P_hist, calibrated exactly", "noise calibrated by the exact δ"),
    ):
        n = np.asarray(result)
        known = np.isfinite(n) & good
        why = "" if known.all() else "no number of users is proved to suffice"
        bound = Bound(n, Role.UPPER, Reference(PAPER, "Claim 3.4", note), known, why)
        rows.append(Row("shuffled", source, bound, False, None, CONDITION, scope))
    return rows


Cell = str | float | None
Randomiser = dict[int, dict[tuple[int, ...], Fraction]]
_ROLES = {role.value: role for role in Role} | {"lower bound, order only": Role.LOWER}
_RUNS = 20
_LENGTHS = 1e2, 1e4, 1e6, 1e8
"""Values of ℓ in the table of Theorem 1.2."""
_MAX_INPUTS, _MAX_OUTPUTS = 4, 6
"""Of a user's own randomiser."""
_MAX_OWN_MESSAGES = 4
_MAX_SAMPLES = 3_000_000


_TABLE_1 = {
    "local_order": "one_message",
    "local": "one_message",
    "cheu_order": "cheu_order",
    "few_order": "few_order",
    "fewest_order": "fewest_order",
    "printed": "paper_messages",
    "paper": "paper_messages",
    "calibrated": "messages",
    "tails": "messages",
    "central_order": "",
    "central": "",
    "stable": "",
}
"""Curves of the error in the order of Table 1, each with that of its messages."""


def table_1(
    labels: dict[str, str], errors: dict[str, Bound], messages: dict[str, Bound], values: float
) -> Table:
    """Return Table 1 at the sliders' values.

    Parameters
    ----------
    labels, errors, messages : dict
        Labels and values of the curves of the error, and values of those of the messages, by key.
    values : float
        How many values occur, h.
    """
    rows: list[tuple[Cell, ...]] = []
    roles: list[tuple[Role, Role | None]] = []
    for key, sent in _TABLE_1.items():
        bound, own = errors[key], messages.get(sent)
        error = float(bound.value[-1]) if bound.valid[-1] else None
        each = float(own.value[-1]) if own is not None and own.valid[-1] else None
        standing = "order only" if bound.role is Role.ESTIMATE else str(bound.role.value)
        rows.append((labels[key], error, standing, each, str(bound.reference)))
        roles.append((bound.role, own.role if own is not None else None))
    return Table(
        "table1",
        "Table 1: error",
        ("protocol", "error (frequency)", "role", "messages a user", "source"),
        tuple(rows),
        "Simultaneous error of a histogram at the sliders' values. Rows called “order only” have "
        "no constants in the paper (set to 1): compare how they move, not how large they are. "
        "P_hist (but as printed) and the stability-based curator: where at most "
        f"h = {values:,.0f} values occur. Empty: the row's conditions fail here, or there is no "
        "shuffler. The paper prints P_hist as (ε, δ)-DP at its own parameters in the table; it is "
        "(2ε, 2δ), so it is run at (ε/2, δ/2) here.",
        (None, [error for error, _ in roles], None, [each for _, each in roles]),
    )


def table_2_cells(eps: float, delta: float, levels: int, length: int) -> list[tuple[Cell, ...]]:
    """Return the rows of Table 2; run in a worker, as it takes up to 2 s."""
    rows: list[tuple[Cell, ...]] = []
    for problem, result in table2_rows(eps, delta, levels, length).items():
        for row in result:
            value = float(row.value.value) if bool(row.value.valid) else None
            standing = "order only" if row.order_only else str(row.value.role.value)
            where = row.value.reference.where
            if row.order_only and row.value.role is Role.LOWER:
                standing = "lower bound, order only"
            model = f"{row.model}: {row.source}"
            rows.append((problem, model, value, standing, row.scope, where))
    return rows


def table_2(rows: list[tuple[Cell, ...]], eps: float, delta: float) -> Table:
    """Return Table 2 from its rows."""
    return Table(
        "table2",
        "Table 2: samples",
        ("problem", "model", "users n", "role", "holds for", "source"),
        tuple(rows),
        "How many users pointer chasing and multi-party pointer jumping take. The local lower "
        "bounds grow with ℓ or like h³, each for the instances and protocols that it names; "
        "P_hist's numbers do not depend on ℓ or on the size of the domain. “Order only”: no "
        "constant in the paper, set to 1; compare how such rows grow, not how large they are."
        + (
            " Empty: its conditions (ε ≤ 1, δ small enough for 1/(200h)) fail at "
            f"ε = {nearest(eps)}, δ = {nearest(delta)}."
        )
        * any(row[2] is None for row in rows),
        (None, None, [_ROLES.get(str(row[3])) for row in rows]),
    )


def separation(rows: list[tuple[Cell, ...]], eps: float) -> Table:
    """Return the separation of Theorem 1.2, users against ℓ, from the rows of Table 2."""
    shuffled = [row for row in rows if row[0] == "pointer chasing" and row[3] == "upper bound"]
    local = chasing_lower(eps, _LENGTHS)
    orders = np.where(local.valid, local.value, np.nan)
    return Table(
        "separation",
        "Theorem 1.2: users against ℓ",
        (
            "pointer chasing PC(2, ℓ), ℓ",
            "local without interaction, order only",
            *(str(row[1]) for row in shuffled),
        ),
        tuple(
            (length, None if np.isnan(order) else float(order), *(row[2] for row in shuffled))
            for length, order in zip(_LENGTHS, orders, strict=True)
        ),
        "Down the columns, what local protocols without interaction must have grows like ℓ, while "
        "P_hist needs the same number whatever ℓ is: the separation of Theorem 1.2. The local "
        "order ℓ/e^ε has no constant in the paper, set to 1: where a column passes another means "
        "nothing. Local protocols that interact are not bounded by it."
        + f" Empty: the local bound is for ε ≤ 1, here ε = {nearest(eps)}."
        * (not local.valid.all()),
        (None, Role.LOWER, *[Role.UPPER] * len(shuffled)),
    )


def reduction_rows(
    eps: float, delta: float, levels: int, children: int, length: int, seed: int
) -> list[tuple[Cell, ...]]:
    """Run the three reductions and return their rows; run in a worker.

    Every run draws a new instance and new users, and is solved if the solution is correct.
    """
    rng = np.random.default_rng((seed, 20))
    rows: list[tuple[Cell, ...]] = []
    for name, size in (
        (f"support identification, h = {levels}", levels),
        (f"pointer chasing PC(2, {length})", 2),
        (f"pointer jumping MPJ({children}, {levels})", levels),
    ):
        needed = hist.exact_samples(eps, delta, size)
        printed = _printed_values(eps, delta, size)
        n = float(needed.n)
        if not n <= _MAX_SAMPLES:
            rows.append((name, None, None, printed, None, "too many users to draw"))
            continue
        t, p = hist.calibrated_error(eps, delta, n, size)
        solved = sum(_solve(name, size, children, length, int(n), p, t, rng) for _ in range(_RUNS))
        rows.append((name, n, float(t), printed, float(solved), f"of {_RUNS} runs"))
    return rows


def _printed_values(eps: float, delta: float, size: int) -> float | None:
    if eps > 2:
        return None
    n = float(hist.printed_samples(eps / 2, delta / 2, size).n)
    return n if math.isfinite(n) else None


def _solve(
    name: str, size: int, children: int, length: int, n: int, p: float, t: float, rng: Any
) -> bool:
    if name.startswith("support"):
        support: list[Any] = [int(v) for v in rng.choice(10**9, size, replace=False)]
        values = hist.draw_support_samples(support, n, rng)
        return hist.identify_support(values, p, t, rng) == set(support)
    if name.startswith("pointer chasing"):
        chasing = hist.pointer_chasing(length, rng)
        values = hist.draw_support_samples(chasing.support(), n, rng)
        result = hist.solve_pointer_chasing(values, 2, p, t, rng)
        return result == hist.chase(chasing.a, chasing.b, 2)
    jumping = hist.pointer_jumping(children, size, rng)
    values = hist.draw_support_samples(jumping.support(), n, rng)
    path = hist.solve_pointer_jumping(values, children, size, p, t, rng)
    return path == hist.jump(jumping.s, jumping.levels)


def reductions(rows: list[tuple[Cell, ...]]) -> Table:
    """Return the reductions' table from its rows."""
    return Table(
        "reductions",
        "Reductions",
        ("problem", "users n", "threshold t", "n by the paper's constants", "solved", ""),
        tuple(rows),
        "n is the least number of users for which the protocol's own argument holds with noise "
        "calibrated exactly: every value of the support occurs 2t+1 times and no error is above t, "
        "each with probability ≥ 199/200, so at least 99 runs in 100 must be solved. Empty: not "
        "known for these parameters. "
        f"{REGIME}",
        (None, Role.UPPER, Role.UPPER, Role.UPPER),
    )


def own_randomiser(table: FloatArray, sends: Sequence[Sequence[float]] | None = None) -> Randomiser:
    """Return a user's table as a randomiser, with rows that sum to 1 exactly.

    Parameters
    ----------
    table : ndarray of shape (inputs, outputs)
    sends : sequence of sequences of float, optional
        The messages of each output in order, whole numbers from 1, with 0 for none; by default
        every output is one message.

    Raises
    ------
    ValueError
        If it has more than 4 inputs or 6 outputs, or an output has no messages of its own, more
        than 4, or one that is no whole number.
    """
    if table.shape[0] > _MAX_INPUTS or table.shape[1] > _MAX_OUTPUTS:
        raise ValueError(
            f"your own randomiser: {table.shape[0]} inputs and {table.shape[1]} outputs; all views "
            f"are listed for at most {_MAX_INPUTS} and {_MAX_OUTPUTS}: give a smaller table"
        )
    vectors = _messages_of(sends, table.shape[1]) if sends else None
    out: Randomiser = {}
    for x, row in enumerate(table.tolist()):
        parts = [_exact(chance) for chance in row]
        law: dict[tuple[int, ...], Fraction] = {}
        for y, part in enumerate(parts):
            if part:
                vector = (y,) if vectors is None else vectors[y]
                law[vector] = law.get(vector, Fraction(0)) + part / sum(parts)
        out[x] = law
    return out


def _messages_of(sends: Sequence[Sequence[float]], outputs: int) -> list[tuple[int, ...]]:
    """Return the vector of messages of each output."""
    if len(sends) != outputs:
        raise ValueError(
            f"messages of your own randomiser: {len(sends)} rows, and its table has {outputs} "
            "columns; give a row of messages for each output, in the order of the columns"
        )
    vectors = []
    for place, row in enumerate(sends, 1):
        if any(message < 0 or message != int(message) for message in row):
            raise ValueError(
                f"messages of your own randomiser, row {place}: messages are whole numbers from 1, "
                "and 0 stands for none; write 1 2 for two different ones"
            )
        vector = tuple(int(message) for message in row if message)
        if len(vector) > _MAX_OWN_MESSAGES:
            raise ValueError(
                f"messages of your own randomiser, row {place}: {len(vector)} messages; give at "
                f"most {_MAX_OWN_MESSAGES}, all views are listed"
            )
        vectors.append(vector)
    return vectors


def _exact(chance: float) -> Fraction:
    """Return the fraction of small denominator that rounds to a double, else its decimal value."""
    simple = Fraction(chance).limit_denominator(10**6)
    return simple if float(simple) == chance else Fraction(repr(chance))


def views(crowd: int, own: Randomiser | None = None) -> Table:
    """Return which views of small randomisers are pure, by complete enumeration.

    Parameters
    ----------
    crowd : int
        How many users there are.
    own : dict, optional
        A user's own randomiser.
    """
    keep, noise = Fraction(3, 4), Fraction(3, 4)
    cases: tuple[tuple[str, Any, str], ...] = (
        (
            "randomised response, truth with 3/4",
            hist.randomized_response(keep),
            "Claim 4.2: one message, and pure shuffled means pure locally",
        ),
        (
            "3-ary randomised response, truth with 1/2",
            hist.randomized_response(Fraction(1, 2), 3),
            "Claim 4.2",
        ),
        (
            "R∞: sends x, then 1−x",
            hist.r_infinity(),
            "Claim 4.3: in order all is said, shuffled nothing",
        ),
        (
            "R_gap: four bits, never two 1s for x = 1",
            hist.r_gap(),
            "Claim 4.4: from 2 users on only the shuffled view is pure",
        ),
        ("P_zsum, p = 3/4", hist.zsum_randomizer(noise), "never pure: (ε, δ) with δ > 0 only"),
        ("P_hist, d = 2, p = 3/4", hist.hist_randomizer(noise, 2), "never pure"),
    )
    if own is not None:
        shows = "Theorem 4.1: shuffled no purer than alone, and what the analyzer could do itself"
        if any(len(messages) != 1 for law in own.values() for messages in law):
            shows = "several messages: the shuffle alone may make it pure (Claims 4.3 and 4.4)"
        cases += (("your own randomiser", own, shows),)
    rows: list[tuple[Cell, ...]] = []
    for name, randomizer, shows in cases:
        result = hist.privacy_of_views(randomizer, crowd)
        single = all(len(m) == 1 for law in randomizer.values() for m in law)
        data = [list(randomizer)[i % len(randomizer)] for i in range(crowd)]
        same = ("yes" if hist.simulates_locally(randomizer, data) else "no") if single else "–"
        pure = (_pure(result.local), _pure(result.pre_shuffled), _pure(result.shuffled))
        delta = hist.shuffled_delta(randomizer, crowd, 1.0)
        rows.append((name, *pure, delta, same, shows))
    return Table(
        "views",
        f"Who sees what ({crowd} users)",
        (
            "randomiser",
            "ε of the messages in order",
            "ε of one user's messages, mixed",
            "ε of all messages, shuffled",
            "δ at ε = 1, shuffled",
            "analyzer can shuffle itself",
            "shows",
        ),
        tuple(rows),
        "Theorem 4.1 and Claims 4.2–4.4. Exact fractions over all inputs and all messages; ∞ where "
        "an output is possible on one input only. “Analyzer can shuffle itself”: Theorem 4.1's "
        "local protocol has exactly the shuffled protocol's law (only asked of single messages).",
        (None, *[Role.EXACT] * 4),
    )


def one_by_one(crowd: int, seed: int) -> Table:
    """Return one run of P_hist by a few users in two bins, message by message."""
    rng, p = np.random.default_rng((seed, 21)), 0.75
    values = np.arange(crowd) % 2
    sent = hist.histogram_randomizer(values, 2, p, rng)
    ends = np.cumsum(sent.lengths)
    rows: list[tuple[Cell, ...]] = [
        (f"user {i + 1}, bin {'AB'[values[i]]}", _letters(sent.messages[end - length : end]))
        for i, (end, length) in enumerate(zip(ends, sent.lengths, strict=True))
    ]
    seen = hist.shuffler(sent, rng)
    rows.append(("shuffler: all in random order", _letters(seen)))
    result = hist.histogram_analyzer(seen, crowd, 2, p)
    truth = np.bincount(values, minlength=2) / crowd
    for letter, own, true in zip("AB", result, truth, strict=True):
        text = f"{nearest(float(own))} of the users (really {nearest(float(true))})"
        rows.append((f"analyzer: bin {letter}", text))
    return Table(
        "one_by_one",
        "P_hist, message by message",
        ("who", "sends or sees"),
        tuple(rows),
        f"One run with {crowd} users, two bins, p = 3/4: each user sends their own bin, and each "
        "bin once more with probability p. The analyzer counts a bin's messages, says 0 if there "
        "are at most n, else their number over n less p. Another seed draws another run.",
    )


def _letters(messages: np.ndarray[Any, np.dtype[np.int64]]) -> str:
    return " ".join("AB"[m] for m in messages) or "nothing"


def _pure(epsilon: float) -> Cell:
    return float(epsilon) if math.isfinite(epsilon) else "∞"
