"""Adapters for the vectors of releases: laws of noise, budgets, selection, means, attacks."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from explorer.privacy.noise.laplace_law import dlap_pmf, dlap_quantile, dlap_sd, dlap_tail
from explorer.privacy.releases import attacks, budgets, conversions, means, selection
from explorer.privacy.releases.budgets import level_split
from explorer.release.ledger.chain import chain_hashes
from explorer.release.ledger.state import replay


def ratio(value: Fraction) -> str:
    return f"{value.numerator}/{value.denominator}"


def filtered(found: budgets.Filtered) -> dict[str, Any]:
    return {
        "accepted": list(found.accepted),
        "spent": ratio(found.spent),
        "remaining": ratio(found.remaining),
    }


def rates(epsilon: str, alpha: str) -> dict[str, float]:
    return attacks.tradeoff(Fraction(epsilon), Fraction(alpha))._asdict()


def selected(scores: list[int], epsilon: str) -> dict[str, Any]:
    law = selection.permute_and_flip_law(scores, Fraction(epsilon))
    return {"pmf": law, "expected_gap": selection.expected_gap(scores, Fraction(epsilon))}


def branches(
    first_odds: str, after_plus: list[str], after_minus: list[str], cut: str
) -> dict[str, str]:
    found = conversions.adaptive_branch_delta(
        Fraction(first_odds),
        [Fraction(odds) for odds in after_plus],
        [Fraction(odds) for odds in after_minus],
        Fraction(cut),
    )
    return {name: ratio(value) for name, value in found._asdict().items()}


def mean(noisy_centred_sum: int, noisy_count: int, low: str, high: str, B: int) -> dict[str, str]:
    found = means.mean_from_noisy(noisy_centred_sum, noisy_count, Fraction(low), Fraction(high), B)
    return {"mean": ratio(found)}


def cost(epsilon: str) -> dict[str, Any]:
    found = conversions.pure_to_rho(Fraction(epsilon))
    return {"gate": ratio(found.gate), "tight": found.tight}


def replayed(events: list[dict[str, Any]]) -> dict[str, Any]:
    state, first_bad, _ = replay(events)
    return {
        "valid": first_bad is None,
        "first_bad": first_bad,
        "spent": ratio(sum((a.spent_epsilon for a in state.accounts.values()), Fraction(0))),
        "states": {name: release.state for name, release in state.releases.items()},
    }


ADAPTERS = {
    "dlap_pmf": lambda epsilon, B, k: {"pmf": dlap_pmf(Fraction(epsilon), B, k)},
    "dlap_tail": lambda epsilon, B, m: {"tail": dlap_tail(Fraction(epsilon), B, m)},
    "dlap_sd": lambda epsilon, B: {"sd": dlap_sd(Fraction(epsilon), B)},
    "dlap_quantile": lambda epsilon, B, beta: {
        "m": dlap_quantile(Fraction(epsilon), B, Fraction(beta))
    },
    "pure_filter": lambda budget, spent, requests: filtered(
        budgets.pure_filter(Fraction(budget), Fraction(spent), map(Fraction, requests))
    ),
    "zcdp_filter": lambda rho, spent, requests: filtered(
        budgets.zcdp_filter(Fraction(rho), Fraction(spent), map(Fraction, requests))
    ),
    "largest_fit_pure": lambda budget, spent: {
        "units": budgets.largest_fit_pure(Fraction(budget), Fraction(spent))
    },
    "largest_fit_zcdp": lambda rho, spent: {
        "units": budgets.largest_fit_zcdp(Fraction(rho), Fraction(spent))
    },
    "level_split": lambda epsilon_units, gamma_squared, first, last: {
        "units": list(level_split(epsilon_units, Fraction(gamma_squared), first, last))
    },
    "zcdp_to_epsilon": lambda rho, delta: conversions.zcdp_to_epsilon(
        Fraction(rho), Fraction(delta)
    )._asdict(),
    "pure_to_rho": cost,
    "fixed_composition_delta": lambda epsilons, epsilon: {
        "delta": conversions.fixed_composition_delta(map(Fraction, epsilons), Fraction(epsilon))
    },
    "adaptive_branch_delta": branches,
    "permute_and_flip": selected,
    "permute_and_flip_worst_log_ratio": lambda scores, epsilon: {
        "worst": selection.permute_and_flip_worst_log_ratio(scores, Fraction(epsilon))
    },
    "user_value": lambda rows, low, high, B: {"value": means.user_value(rows, low, high, B)},
    "mean_from_noisy": mean,
    "tradeoff": rates,
    "audit_epsilon_lower": lambda hits_with, hits_without, runs, beta: attacks.audit_epsilon_lower(
        hits_with, hits_without, runs, Fraction(beta)
    )._asdict(),
    "user_level_bound": lambda epsilon_per_unit, units: {
        "bound": ratio(budgets.user_level_bound(Fraction(epsilon_per_unit), units))
    },
    "chain_hashes": lambda entries: {"hashes": chain_hashes(entries)},
    "replay": replayed,
}
