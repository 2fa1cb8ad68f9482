"""Planar Laplace noise: its law, on a sphere small enough that the rejection matters, its ratio."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from explorer.privacy.audit import epsilon_lower_bound
from explorer.privacy.noise.demonstration import hashed_words
from explorer.privacy.user_metric.point_noise import (
    great_circle,
    level_of_moves,
    log_density,
    moved_places,
    moved_points,
    planar_laplace_cdf,
    planar_laplace_radius,
)

FALSE_ALARM = 1e-6
"""Of every statistical test here, were the code right and its seeds new."""
EARTH = 6_371_008.8


def uniform(seed: int):
    def of(stream: int, items: np.ndarray) -> np.ndarray:
        words = hashed_words(seed, "test", stream, items) >> np.uint64(11)
        return (words.astype(float) + 0.5) * 2.0**-53

    return of


def sphere_cdf(b: float):
    """Return the law of the angle θ with density ∝ e^{−bθ} sin θ on 0…π."""
    whole = 1 + math.exp(-b * math.pi)
    return lambda t: (1 - np.exp(-b * t) * (np.cos(t) + b * np.sin(t))) / whole


def moved(b: float, latitude: float, longitude: float, number: int, seed: int):
    places = np.full(number, latitude), np.full(number, longitude)
    return moved_places(*places, b, 1.0, uniform(seed))


def test_the_radius_is_gamma_and_its_inverse_lamberts():
    share = np.concatenate([np.geomspace(1e-6, 0.5, 50), 1 - np.geomspace(1e-12, 0.5, 50)])
    found = planar_laplace_radius(share, 0.005)
    np.testing.assert_allclose(found, stats.gamma(2, scale=200).ppf(share), rtol=1e-6)
    np.testing.assert_allclose(planar_laplace_cdf(found, 0.005), share, rtol=1e-7, atol=1e-12)
    for wrong in (0.0, 1.0, math.nan):
        with pytest.raises(ValueError, match="share"):
            planar_laplace_radius(wrong, 1.0)
    with pytest.raises(ValueError, match="alpha"):
        planar_laplace_cdf(1.0, 0.0)


@pytest.mark.parametrize(("b", "latitude"), [(0.7, -20.0), (3.0, 60.0), (40.0, 0.0)])
def test_distance_and_direction_have_the_law_of_the_sphere(b: float, latitude: float) -> None:
    """Kolmogorov–Smirnov at `FALSE_ALARM`; the plane's law would fail at b = 3 for certain."""
    lat, lon = moved(b, latitude, 170.0, 40_000, seed=5)
    away = great_circle((latitude, 170.0), (lat, lon), 1.0)
    assert stats.kstest(away, sphere_cdf(b)).pvalue > FALSE_ALARM
    phi, other, turn = math.radians(latitude), np.radians(lat), np.radians(lon - 170.0)
    bearing = np.arctan2(
        np.sin(turn) * np.cos(other),
        math.cos(phi) * np.sin(other) - math.sin(phi) * np.cos(other) * np.cos(turn),
    )
    assert stats.kstest(bearing, stats.uniform(-math.pi, 2 * math.pi).cdf).pvalue > FALSE_ALARM
    far = away > np.median(away)  # direction and distance are independent
    assert stats.ks_2samp(bearing[far], bearing[~far]).pvalue > FALSE_ALARM
    if b == 3.0:
        assert stats.kstest(away, stats.gamma(2, scale=1 / b).cdf).pvalue < FALSE_ALARM
    assert ((lon >= -180) & (lon < 180)).all()


def test_on_the_earth_it_is_the_planes_law() -> None:
    number, alpha = 40_000, 1 / 200
    places = np.full(number, 40.7), np.full(number, -73.9)
    moved_to = moved_places(*places, alpha, EARTH, uniform(3))
    away = great_circle(places, moved_to, EARTH)
    assert stats.kstest(away, lambda r: planar_laplace_cdf(r, alpha)).pvalue > FALSE_ALARM
    # The same draws for another α, moved as much farther.
    twice = great_circle(places, moved_places(*places, alpha / 2, EARTH, uniform(3)), EARTH)
    np.testing.assert_allclose(twice, 2 * away, rtol=1e-6, atol=1e-6)


def test_on_a_plane_distance_is_gamma_and_every_direction_is_as_likely() -> None:
    number, alpha = 40_000, 0.05
    x, y = moved_points(np.full(number, 310.0), np.full(number, -7.0), alpha, uniform(4))
    away, angle = np.hypot(x - 310, y + 7), np.arctan2(y + 7, x - 310)
    assert stats.kstest(away, stats.gamma(2, scale=1 / alpha).cdf).pvalue > FALSE_ALARM
    assert stats.kstest(angle, stats.uniform(-math.pi, 2 * math.pi).cdf).pvalue > FALSE_ALARM
    far = away > np.median(away)  # direction and distance are independent
    assert stats.ks_2samp(angle[far], angle[~far]).pvalue > FALSE_ALARM
    none = moved_points(np.zeros(0), np.zeros(0), alpha, uniform(4))
    assert [part.shape for part in none] == [(0,), (0,)]


def test_on_a_plane_the_running_code_keeps_its_promise() -> None:
    """As on the sphere: discs on either side of two points 10 apart, at `FALSE_ALARM`."""
    alpha, number, apart = 0.15, 400_000, 10.0
    discs = [(-3.0, 0.0, 2.0), (13.0, 0.0, 2.0), (0.0, 0.0, 1.0), (10.0, 0.0, 1.0)]
    counts = []
    for seed, at in enumerate((0.0, apart)):
        x, y = moved_points(np.full(number, at), np.zeros(number), alpha, uniform(seed))
        counts.append([int((np.hypot(x - a, y - b) < size).sum()) for a, b, size in discs])
    found = epsilon_lower_bound(*counts, number, 1 - FALSE_ALARM)
    assert 0.7 * alpha * apart < found.epsilon <= alpha * apart


def test_the_density_is_one_and_its_ratio_never_above_the_promise() -> None:
    rng = np.random.default_rng(7)
    for b in (0.3, 3.0, 30.0):
        mass, _ = integrate.quad(
            lambda t, b=b: math.exp(log_density(t, b, 1.0)) * 2 * math.pi * math.sin(t), 0, math.pi
        )
        assert mass == pytest.approx(1, rel=1e-9)
        one, other, answer = (
            (np.degrees(np.arcsin(rng.uniform(-1, 1, 20_000))), rng.uniform(-180, 180, 20_000))
            for _ in range(3)
        )
        loss = log_density(great_circle(one, answer, 1.0), b, 1.0) - log_density(
            great_circle(other, answer, 1.0), b, 1.0
        )
        apart = great_circle(one, other, 1.0)
        assert (np.abs(loss) <= b * apart + 1e-9).all()
        assert (np.abs(loss) / (b * apart)).max() > 0.9  # and it is nearly reached


def test_the_running_code_keeps_its_promise() -> None:
    """Of discs around answers no two places' chances differ more: an audit at `FALSE_ALARM`.

    Were draws from the plane not thinned out, too many would come to the point opposite on this
    small sphere, and the audit's lower bound would be above the promise.
    """
    b, number = 1.5, 400_000
    places = [(0.0, 0.0), (0.0, 40.0)]
    promise = b * float(great_circle(*places, 1.0))
    discs = [(0.0, -140.0, 0.1), (0.0, 180.0, 0.1), (0.0, -30.0, 0.4), (0.0, 70.0, 0.4)]

    def counts(answers: list[tuple[np.ndarray, np.ndarray]]) -> list[list[int]]:
        return [
            [int((great_circle((lat, lon), one, 1.0) < size).sum()) for lat, lon, size in discs]
            for one in answers
        ]

    ours = [moved(b, *place, number, seed) for seed, place in enumerate(places)]
    found = epsilon_lower_bound(*counts(ours), number, 1 - FALSE_ALARM)
    assert 0.5 * promise < found.epsilon <= promise


def test_moves_of_a_user_add_up() -> None:
    bound = level_of_moves(0.01, [[100.0, 50.0, 0.0], [1.0, 1.0, 1.0]])
    np.testing.assert_allclose(bound.value, [1.5, 0.03])
    with pytest.raises(ValueError, match="distances"):
        level_of_moves(0.01, [-1.0])
    # For two independent points the log-ratio of both is the sum of theirs.
    answers = np.array([300.0, 900.0])
    both = log_density(answers, 0.01, EARTH).sum() - log_density(answers + 25, 0.01, EARTH).sum()
    assert both == pytest.approx(float(level_of_moves(0.01, [25.0, 25.0]).value))
