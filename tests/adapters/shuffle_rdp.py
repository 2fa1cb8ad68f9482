"""Adapters to ``explorer.privacy``: amplification, composition and the shuffle accountant."""

from __future__ import annotations

import math

from explorer.privacy import shuffle_rdp, shuffling
from explorer.privacy.core import composition, divergences
from explorer.privacy.core.bound import Role
from tests.vectors import Argmin, Certified


def _number(p):
    return math.inf if p == "inf" else p


def _thm3(eps0, k, n, T, delta, lam_max, clip):
    found = shuffle_rdp.upper_epsilon(eps0, k, n, T, delta, lam_max, clip=clip)

    def objective(lam):
        level = shuffle_rdp.upper_rdp(lam, eps0, k, n)
        return T * level + divergences.conversion_penalty(lam, delta)

    return {"value": found.epsilon, "lam": Argmin(int(found.order), objective)}


def _lower_epsilon(eps0, k, n, T, delta, lam_max):
    return shuffle_rdp.lower_rdp_epsilon(eps0, k, n, T, delta, lam_max, "QP").epsilon


def _thm1(lam, eps0, k, n):
    return {
        "value": shuffle_rdp.upper_rdp(lam, eps0, k, n),
        "kbar": int(shuffle_rdp.effective_clones(eps0, k)),
    }


def _pipeline(eps0, k, n, T, delta, shuffle, comp, f):
    assert comp == "kov34"
    return shuffle_rdp.pipeline_epsilon(eps0, k, n, T, delta, shuffle, f)


def _fmt_closed(eps0, n, delta):
    return {
        "value": shuffling.clones_closed_form(eps0, n, delta),
        "cond8": bool(shuffling.clones_condition(eps0, n, delta)),
        "cond9": bool(shuffling.blanket_condition(eps0, n, delta)),
    }


def _convergence(p, L, D, d, eps0, k, T):
    return {
        "value": shuffle_rdp.convergence_bound(_number(p), L, D, d, eps0, k, T),
        "G2": shuffle_rdp.gradient_second_moment(_number(p), L, d, eps0, k),
    }


def _composed_delta(eps, eps0, k, n, T, direction):
    rounds = shuffle_rdp.ResponseRounds(eps0, k, n, shuffle_rdp.Direction(direction))
    return rounds.delta(eps, T).value


def _certified(bound, within):
    return Certified(float(bound.value), bound.role, within)


def _composed_2rr(eps0, k, n, T, delta):
    found = shuffle_rdp.randomised_response_epsilon(eps0, k, n, T, delta)
    # One message a round: two losses, and their sums are exact.
    return _certified(found, 1e-9 if k == 1 else 1e-2)


def _composed_clones(eps0, k, n, T, delta, variant):
    return _certified(shuffle_rdp.clone_epsilon(eps0, k, n, T, delta, str(variant)), 1e-4)


ADAPTERS = {
    "thm1_rdp": _thm1,
    "upsilon": shuffle_rdp.upsilon,
    "thm2_rdp": lambda lam, eps0, k, n: shuffle_rdp.lower_rdp(lam, eps0, k, n, "QP"),
    "exact_rdp_2rr_PQ": lambda lam, eps0, k, n: shuffle_rdp.lower_rdp(lam, eps0, k, n, "PQ"),
    "lemma1_penalty": lambda lam, delta: divergences.conversion_penalty(lam, delta),
    "thm3_eps": _thm3,
    "thm3_eps_lower": _lower_epsilon,
    "fmt_closed": _fmt_closed,
    "clone_delta": lambda eps, eps0, n: shuffling.shuffled_delta(eps, eps0, n),
    "clone_eps": lambda eps0, n, delta: shuffling.shuffled_epsilon(eps0, n, delta),
    "subsample_eps": lambda eps, gamma: composition.subsampled_epsilon(eps, gamma),
    "kov_thm34": lambda eps, T, delta_slack: composition.kov_epsilon(eps, T, delta_slack),
    "kov_exact_delta": lambda eps_g, eps, T: composition.kov_exact_delta(eps_g, eps, T),
    "kov_exact_eps": lambda eps, T, delta_slack: composition.kov_exact_epsilon(eps, T, delta_slack),
    "fmt_pipeline": _pipeline,
    "exact_delta_2rr": lambda eps, eps0, k, n, direction: shuffle_rdp.randomised_response_delta(
        eps, eps0, k, n, direction
    ),
    "exact_delta_2rr_T": _composed_delta,
    "compose_eps_2rr": lambda eps0, k, n, T, delta, direction: (
        shuffle_rdp.randomised_response_epsilon(eps0, k, n, T, delta, direction).value
    ),
    "compose_eps_clone_upper": lambda eps0, k, n, T, delta: (
        shuffle_rdp.clone_epsilon(eps0, k, n, T, delta).value
    ),
    "convergence_bound": _convergence,
    "composed_eps_2rr": _composed_2rr,
    "composed_eps_rr3": lambda eps0, k, n, T, delta: _certified(
        shuffle_rdp.three_symbol_epsilon(eps0, k, n, T, delta), 1e-3
    ),
    "rr3_delta": lambda eps, eps0, k, n: shuffle_rdp.three_symbol_delta(eps, eps0, k, n),
    "epoch_allocation_rr3_delta": lambda eps, eps0, n, k: (
        # One randomiser for the whole epoch: one shuffle of all.
        shuffle_rdp.three_symbol_delta(eps, eps0, n, n)
    ),
    "rr3_eps": shuffle_rdp.three_symbol_round_epsilon,
    "shuffle_lower_eps": shuffle_rdp.lower_round_epsilon,
    "composed_eps_clones": _composed_clones,
    "composed_delta_2rr": lambda eps, eps0, k, n, T: Certified(
        shuffle_rdp.ResponseRounds(eps0, k, n).delta(eps, T).value, Role.LOWER
    ),
}
