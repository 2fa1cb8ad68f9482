"""Tables 1 and 2: models side by side, in numbers where the paper has constants.

Where it has none a row is an order of growth with its constant set to 1, and says so: such rows
can be compared in shape, not in height.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

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
def table1(
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

    Parameters and errors as for `table1`: local, three shuffled ones, central.
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
    found = error_bound(users, p, share)
    valid = good & found.valid
    reason = "" if valid.all() else "the paper's constants need ε ≤ 2 and n ≥ (400/ε²) ln(4/δ)"
    reference = Reference(PAPER, "Theorem 3.2(iii)", "run at (ε/2, δ/2), errata hist-A1")
    return Row(
        "shuffled",
        "P_hist, the paper's constants",
        Bound(found.value, Role.UPPER, reference, valid, reason),
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
    found = error_bound(users, p, share)
    valid = good & found.valid
    reason = "" if valid.all() else "too few users for this ε and δ, or β too small for the noise"
    reference = Reference(PAPER, "Theorem 3.2(iii)", "noise calibrated by the exact δ")
    return Row(
        "shuffled",
        "P_hist, calibrated exactly",
        Bound(found.value, Role.UPPER, reference, valid, reason),
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
def table2(
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
        Row("local", "lower bound", chasing_lower(e, size), True, scope=CHASING),
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
        Row("local", "lower bound", jumping, True, scope=JUMPING),
        *_shuffled_rows(
            e, small, levels, coupons * log_inverse / e / e, small_enough, claim, "every s"
        ),
        _central(coupons * log_inverse / e, small_enough, claim, "every s"),
    ]
    return {"pointer chasing": chasing, "pointer jumping": jumps}


CHASING = "k = 2, no interaction"
JUMPING = "s = h⁴, sequentially interactive or not"
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
    for found, good, source, note in (
        (
            printed.n,
            paper_range,
            "P_hist, the paper's constants",
            "run at (ε/2, δ/2), errata hist-A1",
        ),
        (exact.n, True, "P_hist, calibrated exactly", "noise calibrated by the exact δ"),
    ):
        n = np.asarray(found)
        known = np.isfinite(n) & good
        why = "" if known.all() else "no number of users is proved to suffice"
        bound = Bound(n, Role.UPPER, Reference(PAPER, "Claim 3.4", note), known, why)
        rows.append(Row("shuffled", source, bound, False, None, CONDITION, scope))
    return rows
