"""Fields of a certificate that are computed from ledger entries or from other fields.

`build` and `verify` share these functions, so that a certificate is compared with what would be
built.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from explorer.privacy.releases.budgets import zcdp_cost
from explorer.privacy.releases.conversions import fixed_composition_delta, zcdp_to_epsilon
from explorer.release.certificate.sentences import CURRENT, Sentences
from explorer.release.exact_json import write_fraction
from explorer.release.ledger.state import REMARKS, Account, Release
from explorer.release.ledger.view import View
from explorer.release.mechanisms import MECHANISMS
from explorer.release.mechanisms.adaptive import CITIES, EARLIER, priors_in
from explorer.release.mechanisms.base import Part
from explorer.release.rounding import fixed_up, rounded_up

TARGET_DELTA = Fraction(1, 1_000_000)
EXTERNAL = "external"


def ledger_section(view: View, release: Release) -> dict[str, Any]:
    """Return a certificate's ``ledger``, as of the commit of the release."""
    state = view.until(release.seq)
    account = state.account_of(release.population)
    return {
        "id": view.id,
        "seq": release.seq,
        "entry_hash": view.entries[release.seq].hash,
        "gate": account.gate,
        "budget": write_fraction(account.budget),
        "delta": None if account.delta is None else write_fraction(account.delta),
        "budget_raised": [
            {
                "seq": step.seq,
                "from": write_fraction(step.before),
                "to": write_fraction(step.after),
                "date": step.date,
            }
            for step in account.raised
        ],
        "remarks": [remark for remark in REMARKS if remark in state.remarks],
        "source": "program",
    }


def population_section(view: View, release: Release) -> dict[str, Any]:
    """Return a certificate's ``population``."""
    state = view.until(release.seq)
    account = state.account_of(release.population)
    labels = _labels(view, release.seq)
    return {
        "id": account.population,
        "label": {"text": account.label, "source": "declared"},
        "joined": account.joined,
        "declared_different_people": [labels.get(p) or p for p in account.different_from],
        "source": "program",
    }


def release_rows(view: View, release: Release) -> list[dict[str, Any]]:
    """Return a certificate's ``composition.releases``: all spending on the population."""
    state = view.until(release.seq)
    return [
        {
            "seq": one.seq,
            "date": one.date,
            "mechanism": one.mechanism,
            "epsilon": write_fraction(one.epsilon),
            "state": one.state,
        }
        for one in state.releases_of(release.population)
    ]


def cap_of(account: Account) -> Fraction | None:
    """Return the ρ that a certificate states under *zcdp*, else None."""
    return account.rho_cap if account.gate == "zcdp" else None


def alone_cap(budget: Fraction, rows: Iterable[Mapping[str, Any]]) -> Fraction:
    """Return that ρ from the certificate of an account that was never joined."""
    elsewhere = (Fraction(row["epsilon"]) for row in rows if row["mechanism"] == EXTERNAL)
    return budget + sum(map(zcdp_cost, elsewhere), Fraction(0))


def epsilon_at_delta(cap: Fraction, delta: Fraction) -> dict[str, str]:
    """Return the ε at δ of a bound on ρ, rounded up."""
    try:
        with np.errstate(over="ignore"):
            best: Fraction | float = zcdp_to_epsilon(cap, delta).best
    except OverflowError:  # beyond floats: ρ + 2√(ρ·ln 1/δ), with ln 1/δ rounded up
        logarithm = math.ceil(math.log(delta.denominator) - math.log(delta.numerator))
        best = cap + 2 * (math.isqrt(math.ceil(cap * logarithm)) + 1)
    return {"delta": write_fraction(delta), "epsilon_rounded_up": rounded_up(best)}


def sums(rows: Iterable[Mapping[str, Any]]) -> tuple[Fraction, Fraction]:
    """Return Σε and Σε²/2 of all rows."""
    spent = [Fraction(row["epsilon"]) for row in rows]
    return sum(spent, Fraction(0)), sum(map(zcdp_cost, spent), Fraction(0))


def if_fixed_in_advance(epsilons: Sequence[Fraction]) -> dict[str, Any]:
    """Return the exact composition if all ε had been fixed in advance; no gate uses it.

    ε is the smallest multiple of 0.01 for which δ ≤ 10⁻⁶.
    """
    low, high = -1, -(-100 * sum(epsilons, Fraction(0)) // 1)
    while high - low > 1:
        middle = (low + high) // 2
        if fixed_composition_delta(epsilons, Fraction(middle, 100)) <= TARGET_DELTA:
            high = middle
        else:
            low = middle
    return composition_at(epsilons, Fraction(int(high), 100))


def composition_at(epsilons: Sequence[Fraction], epsilon: Fraction) -> dict[str, Any]:
    """Return the exact composition of fixed ε at a given ε."""
    return {
        "epsilon": write_fraction(epsilon),
        "delta_rounded_up": fixed_up(fixed_composition_delta(epsilons, epsilon)),
        "method": CURRENT.fixed_method,
        "not_a_gate": True,
    }


def stated_parts(parts: Iterable[Part]) -> list[dict[str, Any]]:
    """Return measurements as a certificate states them."""
    return [
        {
            "name": part.name,
            "epsilon": write_fraction(part.epsilon),
            "sensitivity": part.sensitivity,
            "noise": part.noise,
        }
        for part in parts
    ]


def parts_and_error(
    mechanism: str, parameters: Mapping[str, Any], epsilon: Fraction
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return measurements and expected error of a release from its public parameters.

    Raises
    ------
    ReleaseError
        If the parameters are invalid for this mechanism.
    """
    known = MECHANISMS[mechanism]
    p = known.parse(parameters)
    return stated_parts(known.parts(p, epsilon)), known.expected_error(p, epsilon)


def post_processing(
    mechanism: str, parameters: Mapping[str, Any], epsilon: Fraction, output: Mapping[str, Any]
) -> list[dict[str, str]]:
    """Return the steps of post-processing of a stored output."""
    known = MECHANISMS[mechanism]
    steps = known.steps(output, known.parse(parameters), epsilon)
    return [{"text": step, "source": "program"} for step in steps]


_KEY_NAMES = {CITIES: "version", EARLIER: "release"}
"""Name of a public map's key by its kind; ``sha256`` of files."""


def priors_section(
    texts: Sentences, mechanism: str, parameters: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return a certificate's ``priors``: public maps and statements about them; None without."""
    priors = priors_in(MECHANISMS[mechanism].parse(parameters))
    if not priors:
        return None
    about, names = texts.of_priors, ", ".join(f"“{prior.name}”" for prior in priors)
    statements = [("program", about["mixed"].format(names=names))]
    for prior in priors:
        if prior.kind == EARLIER:
            statements.append(("program", about["release"].format(key=prior.key)))
            continue
        if prior.kind != CITIES:
            statements.append(("declared", about["chosen"].format(name=prior.name)))
        statements.append(("program", about["unprotected"].format(name=prior.name)))
    return {
        "sources": [
            {
                "kind": prior.kind,
                **({"label": prior.label} if prior.label else {}),
                _KEY_NAMES.get(prior.kind, "sha256"): prior.key,
            }
            for prior in priors
        ],
        "statements": [{"text": text, "source": source} for source, text in statements],
    }


def shape_of(output: Mapping[str, Any]) -> list[int]:
    """Return the shape of stored output: rows and columns, or the number of values."""
    values = [value for name, value in output.items() if name != "first_level"]
    if len(values) == 1 and isinstance(values[0], list) and values[0]:
        (rows,) = values
        if all(isinstance(row, list) for row in rows) and len({len(row) for row in rows}) == 1:
            return [len(rows), len(rows[0])]
        side = round(len(rows) ** 0.5)
        if "cells" in output and side * side == len(rows):
            return [side, side]
    return [max(1, sum(map(_numbers, values)))]


def _numbers(value: Any) -> int:
    return sum(map(_numbers, value)) if isinstance(value, list) else 1


def _labels(view: View, seq: int) -> dict[str, str]:
    """Return the labels of populations; each is in the population's first entry."""
    result: dict[str, str] = {}
    for entry in view.entries[: seq + 1]:
        if entry.body.get("kind") == "budget" and "population" in entry.body:
            result.setdefault(entry.body["population"], entry.body.get("label", ""))
    return result
