"""Strong composition: closed form above exact, exact equal to enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy.core.composition import kov_epsilon, kov_exact_delta, kov_exact_epsilon
from explorer.privacy.core.divergences import hockey_stick


@pytest.mark.parametrize("eps", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("T", [1, 2, 5, 8])
def test_exact_delta_is_the_hockey_stick_of_enumerated_responses(eps, T):
    truth = np.exp(eps) / (1 + np.exp(eps))
    p, q = [], []
    for answers in product((0, 1), repeat=T):
        lies = sum(answers)
        p.append(truth ** (T - lies) * (1 - truth) ** lies)
        q.append(truth**lies * (1 - truth) ** (T - lies))
    for target in (0.0, 0.3 * T * eps, 0.9 * T * eps):
        assert kov_exact_delta(target, eps, T) == pytest.approx(
            hockey_stick(p, q, target), rel=1e-12, abs=1e-15
        )


@given(st.floats(1e-6, 20), st.integers(1, 10**6), st.floats(-30, -0.1).map(lambda x: 10.0**x))
def test_inversion_inverts_and_closed_form_is_above(eps, T, delta):
    exact = kov_exact_epsilon(eps, T, delta)
    assert 0 <= exact <= T * eps * (1 + 1e-12)
    assert kov_epsilon(eps, T, delta) >= exact * (1 - 1e-9)
    # δ falls by a factor e^{−slope·ε}: compare at slightly larger and smaller ε.
    assert kov_exact_delta(exact * (1 + 1e-9) + 1e-15, eps, T) <= delta * (1 + 1e-6)
    if exact > 0:
        assert kov_exact_delta(exact * (1 - 1e-6), eps, T) >= delta * (1 - 1e-6)


@given(st.floats(0, 20), st.integers(1, 10**8), st.floats(1e-300, 1))
def test_more_rounds_more_epsilon_or_smaller_delta_is_never_better(eps, T, delta):
    assert kov_epsilon(eps, T + 1, delta) >= kov_epsilon(eps, T, delta)
    assert kov_epsilon(eps + 0.1, T, delta) >= kov_epsilon(eps, T, delta)
    assert kov_epsilon(eps, T, max(delta / 2, 1e-300)) >= kov_epsilon(eps, T, delta)


@given(st.floats(0, 800), st.integers(1, 10**9), st.floats(-300, 0).map(lambda x: 10.0**x))
def test_finite_over_the_whole_domain(eps, T, delta):
    delta = max(delta, 1e-300)
    assert np.isfinite(kov_epsilon(eps, T, delta))
    assert np.isfinite(kov_exact_epsilon(eps, T, delta))
    assert 0 <= kov_exact_delta(min(eps, 700), eps, T) <= 1 + 1e-12


def test_arrays_broadcast():
    found = kov_epsilon(np.array([0.1, 0.2])[:, None], np.array([1, 10, 100]), 1e-6)
    assert found.shape == (2, 3)
    assert found[1, 2] == kov_epsilon(0.2, 100, 1e-6)
    exact = kov_exact_epsilon(np.array([0.1, 0.2]), 100, 1e-6)
    assert exact[1] == kov_exact_epsilon(0.2, 100, 1e-6)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [((-1.0, 1, 0.1), "eps"), ((1.0, 0, 0.1), "T"), ((1.0, 1, 2.0), "delta_slack")],
)
def test_errors_name_the_parameter(arguments, named):
    with pytest.raises(ValueError, match=f"^{named}: "):
        kov_epsilon(*arguments)


def test_a_probability_is_never_more_than_one():
    assert kov_exact_delta(0.4, 0.4, 557274) <= 1.0
