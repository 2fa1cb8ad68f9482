"""What a given α₀ is worth: by Theorem 4.4, and by the paper's closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy import user_metric as um

ALPHA0 = st.one_of(st.floats(0, 800), st.sampled_from([0.0, 1e-300, 1e-9, 800.0]))
COUNT = st.one_of(st.integers(1, 10**12), st.integers(1, 100))
DELTA = st.one_of(st.floats(-690, 0).map(math.exp), st.just(1.0), st.just(1e-300))


@given(ALPHA0, DELTA, COUNT, COUNT, st.sampled_from(list(um.Internal)))
def test_certificates_exist_everywhere(a0, delta, m, n, internal):
    found = um.theorem44_certificate(a0, delta, m, n, internal)
    assert not np.isnan(found.alpha)
    assert found.alpha >= 0
    assert not np.isnan(found.limit)
    assert bool(found.valid) == bool(a0 < found.limit)


@given(st.floats(1e-3, 800), DELTA, COUNT, COUNT, st.sampled_from(list(um.Internal)))
def test_certificate_undoes_the_inversion(alpha, delta, m, n, internal):
    root = um.theorem44_invert(alpha, delta, m, n, internal).unconstrained
    again = um.theorem44_certificate(root, delta, m, n, internal).alpha
    # δe^h = δ' is solved for δ first: its digits are those of ln δ.
    assert float(again) == pytest.approx(alpha, rel=1e-6 if internal == "tight" else 1e-9)


def test_the_papers_three_is_worth_42():
    found = um.theorem44_certificate(3.0, 1e-12, 1000, 10**5)
    # Its own theorem at δ = δ'e^−25; at the certified α itself, δ is smaller and α larger.
    assert um.theorem44_alpha(3.0, 1000, 1e-12 * math.exp(-25), 10**5) == pytest.approx(
        41.98, abs=5e-3
    )
    assert 41.98 < float(found.alpha) < 50
    assert found.valid
    at = um.theorem44_certificate(2.40528, 1e-12, 1000, 10**5)
    assert float(at.alpha) == pytest.approx(25.0, abs=1e-3)
    tight = um.theorem44_certificate(2.48387, 1e-12, 1000, 10**5, "tight")
    assert float(tight.alpha) == pytest.approx(25.0, abs=1e-3)


@given(st.floats(1e-3, 800), DELTA, COUNT, COUNT)
def test_claims_undo_the_closed_forms(alpha, delta, m, n):
    a0 = float(um.closed_form(alpha, delta, m, n).alpha0)
    if a0 <= 800:
        assert um.closed_form_claim(a0, delta, m, n) == pytest.approx(alpha, rel=1e-9)


def test_the_closed_forms_jump():
    assert math.isnan(um.closed_form_claim(1.2, 1e-6, 100, 10))
    both = um.closed_form_claim([1.0, 2 * math.log(2)], 1e-6, 100, 10)
    assert both[0] == pytest.approx(both[1], rel=1e-12)


@given(st.floats(1e-3, 20), DELTA, st.integers(1, 2000), st.integers(1, 50))
def test_what_a_release_guarantees_is_certified_by_its_delta(a0, delta, m, n):
    alpha = um.group_alpha(a0, delta, m, n)
    assert alpha >= 0
    if math.isfinite(alpha) and delta < 1:
        assert um.group_delta(alpha, a0, m, n) <= delta * (1 + 1e-9)
        assert alpha <= m * a0 * (1 + 1e-12)


@given(st.floats(1e-3, 800), st.floats(1e-3, 20), COUNT, COUNT)
def test_delta_of_the_theorem_undoes_its_certificate(alpha, a0, m, n):
    found = um.theorem44_delta_at(alpha, a0, m, n)
    assert np.all(found.tight <= found.claimed * (1 + 1e-9))
    if found.valid and 1e-290 < found.claimed < 1:
        again = um.theorem44_certificate(a0, float(found.claimed), m, n, "tight")
        assert again.valid
        assert float(again.alpha) <= alpha * (1 + 1e-6)
        # A smaller α than the one asked for only where the condition ends between them.
        if float(again.alpha) < alpha * (1 - 1e-6):
            assert again.limit - a0 < 1e-6 * max(a0, 1) or found.claimed < 1e-280


@given(st.floats(1e-3, 700), st.floats(1.0, 100.0), st.floats(1e-3, 20), COUNT, COUNT)
def test_a_weaker_promise_has_no_larger_delta_by_the_theorem(alpha, more, a0, m, n):
    strict, weak = (um.theorem44_delta_at(a, a0, m, n) for a in (alpha, min(alpha * more, 800)))
    assert weak.valid or not strict.valid
    if strict.valid:
        assert weak.claimed <= strict.claimed * (1 + 1e-10)
        assert weak.tight <= strict.tight * (1 + 1e-10)


@given(st.floats(1e-2, 10), st.floats(-40, -1).map(math.exp), st.integers(10, 10**6))
def test_estimates_are_near(a0, delta, m):
    exact = um.group_alpha(a0, delta, m, 100)
    about = um.group_alpha_estimate(a0, delta, m, 100)
    assert about >= 0
    if math.isfinite(exact) and exact > 1e-3:
        assert about == pytest.approx(exact, rel=0.3)


@pytest.mark.parametrize("alpha0", [1e-100, 1e-180, 1e-250])
def test_a_tiny_alpha0_is_worth_what_the_theorem_says(alpha0):
    # Its square has no double.
    found = um.theorem44_certificate(alpha0, 1e-12, 3, 10**6)
    assert float(found.alpha) == pytest.approx(um.theorem44_alpha(alpha0, 3, 1e-12, 10**6))
    claim = um.closed_form_claim(alpha0, 1e-12, 3, 10**6)
    assert float(um.closed_form(claim, 1e-12, 3, 10**6).alpha0) == pytest.approx(alpha0)
