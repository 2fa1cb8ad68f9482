"""What a sample does to a guarantee, against exact enumeration of samples and outputs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.privacy.core.bound import Role
from explorer.privacy.heatmaps import sampling_guarantee

OUTPUTS = np.arange(-40, 41)


def level(epsilon: float, scheme: str, key: str, adjacency: str, rate: float = 1.0) -> float:
    found = sampling_guarantee(epsilon, scheme, key, adjacency, rate)  # type: ignore[arg-type]
    assert found.role is Role.UPPER
    return float(found.value)


def law(users: tuple[int, ...], epsilon: float, scheme: str, size: float) -> np.ndarray:
    """Return the law of a noisy sum over a secret sample of users, each with a 0, 1 or −1.

    Geometric noise of ε for adding or removing one; `size` is k or γ.
    """
    sums: dict[int, float] = {}
    if scheme == "bottom_k":
        picks = list(itertools.combinations(users, min(int(size), len(users))))
        for pick in picks:
            sums[sum(pick)] = sums.get(sum(pick), 0.0) + 1 / len(picks)
    else:
        for taken in itertools.product((False, True), repeat=len(users)):
            chance = math.prod(size if t else 1 - size for t in taken)
            total = sum(u for u, t in zip(users, taken, strict=True) if t)
            sums[total] = sums.get(total, 0.0) + chance
    return sum(p * np.exp(-epsilon * np.abs(OUTPUTS - s)) for s, p in sums.items())


def loss(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(np.log(one / other)).max())


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_secret_thresholds_are_exact(epsilon: float, rate: float) -> None:
    """Attained where the one user who differs is the only one to move the sum."""
    others = (0, 0, 0)
    found = loss(law((*others, 1), epsilon, "poisson", rate), law(others, epsilon, "poisson", rate))
    bound = level(epsilon, "poisson", "secret", "add_remove", rate)
    assert found == pytest.approx(bound, rel=1e-12)
    assert found <= bound * (1 + 1e-13)
    replaced = loss(
        law((*others, 1), epsilon, "poisson", rate), law((*others, -1), epsilon, "poisson", rate)
    )
    assert replaced == pytest.approx(
        level(epsilon, "poisson", "secret", "replace", rate), rel=1e-12
    )


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize(("k", "there"), [(1, 3), (2, 4), (3, 5)])
def test_secret_numbers_hold(epsilon: float, k: int, there: int) -> None:
    """All data sets of so many users with a 0, 1 or −1 each, and all their neighbours."""
    at_most = level(epsilon, "bottom_k", "secret", "replace", k / there)
    worst = 0.0
    for users in itertools.combinations_with_replacement((-1, 0, 1), there):
        whole = law(users, epsilon, "bottom_k", k)
        for value in (-1, 0, 1):
            worst = max(
                worst,
                loss(whole, law((*users, value), epsilon, "bottom_k", k)),
                loss(whole, law((*users[1:], value), epsilon, "bottom_k", k)),
            )
    assert 0.5 * at_most < worst <= at_most * (1 + 1e-12)


@given(epsilon=st.floats(1e-6, 60), rate=st.floats(1e-9, 1))
def test_order(epsilon: float, rate: float) -> None:
    """A secret never costs more than a public key, an exchange never less than a coming."""
    for scheme in ("poisson", "bottom_k"):
        for adjacency in ("add_remove", "replace"):
            secret = level(epsilon, scheme, "secret", adjacency, rate)
            assert 0 < secret <= level(epsilon, scheme, "public", adjacency, rate)
            full = level(epsilon, scheme, "secret", adjacency, 1.0)
            assert full == level(epsilon, scheme, "public", adjacency)
    add, replace = (level(epsilon, "poisson", "secret", a, rate) for a in ("add_remove", "replace"))
    assert add <= replace * (1 + 1e-14)
    assert level(epsilon, "bottom_k", "public", "add_remove") == 2 * epsilon
    assert level(epsilon, "poisson", "public", "add_remove") == epsilon


@pytest.mark.parametrize("epsilon", [1e-300, 1e-12, 1.0, 30.0, 600.0, 1e6, 1e300])
@pytest.mark.parametrize("rate", [5e-324, 1e-17, 0.25, 0.5, 1 - 2**-53])
def test_rounded_up(epsilon: float, rate: float) -> None:
    """At 400 digits: never below, and within 10⁻¹⁴ unless ε is beyond a double's exponential."""
    import mpmath

    with mpmath.workdps(700 if epsilon > 700 else 400):
        e, g = mpmath.mpf(min(epsilon, 1e4)), mpmath.mpf(rate)
        exact = {
            ("poisson", "add_remove"): mpmath.log(1 + g * (mpmath.e**e - 1)),
            ("poisson", "replace"): mpmath.log(
                (1 - g + g * mpmath.e**e) / (1 - g + g * mpmath.e**-e)
            ),
            ("bottom_k", "add_remove"): mpmath.log(1 + g * (mpmath.e ** (2 * e) - 1)),
        }
        for (scheme, adjacency), value in exact.items():
            got = mpmath.mpf(level(float(e), scheme, "secret", adjacency, rate))
            assert got >= value
            if epsilon <= 300:
                assert got <= value * (1 + mpmath.mpf(10) ** -14) + mpmath.mpf(2e-290)


@pytest.mark.parametrize(
    "bad",
    [
        (0.0, "all", "public", "replace", 1.0),
        (math.inf, "all", "public", "replace", 1.0),
        (math.nan, "all", "public", "replace", 1.0),
        (1.0, "some", "public", "replace", 1.0),
        (1.0, "all", "open", "replace", 1.0),
        (1.0, "all", "public", "none", 1.0),
        (1.0, "poisson", "secret", "replace", 0.0),
        (1.0, "poisson", "secret", "replace", 1.5),
    ],
)
def test_bad_arguments_are_named(bad: tuple[float, str, str, str, float]) -> None:
    with pytest.raises(ValueError, match=r"epsilon|rate|scheme|key|adjacency"):
        level(*bad)
