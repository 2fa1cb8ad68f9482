"""What attackers get, and audits of the code that draws."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from explorer.privacy.releases.attacks import tradeoff
from explorer.release import attack
from explorer.release.attack import log_likelihood
from explorer.release.dry_run import neighbour, synthetic_records, with_identical_rows
from explorer.release.mechanisms import MECHANISMS, counts
from explorer.release.mechanisms.base import Shown
from explorer.release.outputs import heatmap
from tests.release.made_people import BOX
from tests.release.test_mechanisms import PARAMETERS


def test_averaging_undoes_noise_and_costs_each_draw():
    found = attack.averaging(Fraction(1), [1, 100])
    assert [round(one.sd, 3) for one in found] == [1.357, 0.136]
    assert [one.epsilon for one in found] == [1, 100]


def test_the_curve_of_membership_is_attained_by_one_count():
    """Tests at every threshold of a discrete Laplace count lie on the claimed curve."""
    found = attack.membership(Fraction(1), 101)
    assert found.best_guess == pytest.approx(0.731, abs=5e-4)
    assert found.best_total_error == pytest.approx(2 / (1 + math.e))
    p = 1 / (1 + math.exp(-1))
    for k in range(1, 6):
        # Say "there" at or above k: P(X ≥ k) without the person, P(X ≤ k − 2) with.
        alarm = math.exp(-k) * p
        miss = 1 - math.exp(-(k - 1)) * p
        assert miss == pytest.approx(tradeoff(Fraction(1), Fraction(alarm)).beta, abs=1e-12)
        at = float(np.interp(alarm, found.false_alarms, found.misses))
        assert miss == pytest.approx(at, abs=1e-4)
    assert (found.false_alarms + found.misses).min() >= found.best_total_error - 1e-9


@pytest.mark.parametrize("name", PARAMETERS)
def test_made_up_people_have_what_mechanisms_read(name):
    mechanism = MECHANISMS[name]
    p = mechanism.parse(PARAMETERS[name])
    records = synthetic_records(p, mechanism.reads(p), 30, np.random.default_rng(1))
    assert records.users == 30
    assert p.area.mask(records).all()
    without = neighbour(records, 3)
    assert without.users == 29
    assert without.rows == records.rows - int(records.starts[4] - records.starts[3])
    alike = with_identical_rows(records, 3, p)
    rows = slice(int(records.starts[3]), int(records.starts[4]))
    for texts in alike.texts.values():
        assert len(set(texts[rows])) == 1


@pytest.mark.parametrize("name", PARAMETERS)
def test_likelihood_ratios_never_exceed_epsilon(name):
    mechanism = MECHANISMS[name]
    p = mechanism.parse(PARAMETERS[name])
    records = with_identical_rows(
        synthetic_records(p, mechanism.reads(p), 12, np.random.default_rng(2)), 0, p
    )
    other = neighbour(records, 0)
    epsilon = Fraction(2)
    one, two = (log_likelihood(name, of, p, epsilon) for of in (records, other))
    source = np.random.default_rng(3)
    ratios = []
    for of, _ in product((records, other), range(40)):
        stored = mechanism.draw(of, p, epsilon, source.bytes).stored
        ratios.append(one(stored) - two(stored))
    assert max(map(abs, ratios)) <= float(epsilon) + 1e-9
    assert max(map(abs, ratios)) > (0.2 if name != "select.region/1" else 0)


def test_an_audit_of_a_count_shows_most_of_its_epsilon():
    found = attack.audit(
        "count.users/1",
        {"box": BOX},
        Fraction(1),
        1000,
        10,
        np.random.default_rng(1),
        np.random.default_rng(2).bytes,
    )
    assert 0.5 < found.shown < 1
    assert not found.fails
    assert found.runs == 800
    assert (np.diff(found.false_alarms) <= 0).all()
    assert (np.diff(found.misses) >= 0).all()
    assert (found.false_alarms[-1], found.misses[-1]) == (0, 1)
    # Estimates of a true trade-off of at least the claimed one.
    curve = attack.membership(Fraction(1))
    claimed = np.interp(found.false_alarms, curve.false_alarms, curve.misses)
    assert (found.misses > claimed - 0.06).all()


def test_an_audit_finds_noise_that_is_too_small(monkeypatch):
    real = counts.noisy
    monkeypatch.setattr(
        counts, "noisy", lambda values, B, epsilon, bits: real(values, B, 2 * epsilon, bits)
    )
    found = attack.audit(
        "count.users/1",
        {},
        Fraction(1),
        1000,
        10,
        np.random.default_rng(1),
        np.random.default_rng(2).bytes,
    )
    assert found.fails


def test_an_audit_can_be_stopped():
    class StopError(Exception):
        pass

    def check() -> None:
        raise StopError

    with pytest.raises(StopError):
        attack.audit(
            "count.users/1",
            {},
            Fraction(1),
            1000,
            10,
            np.random.default_rng(1),
            np.random.default_rng(2).bytes,
            check,
        )
    with pytest.raises(ValueError, match="runs: 3"):
        attack.audit(
            "count.users/1",
            {},
            Fraction(1),
            3,
            10,
            np.random.default_rng(1),
            np.random.default_rng(2).bytes,
        )


def test_pictures_are_filtered_square_maps():
    grid = np.zeros((16, 16))
    grid[3, 5] = 1.0
    found = heatmap(Shown(grid), 0.1)
    assert found.sum() == pytest.approx(1)
    assert np.unravel_index(found.argmax(), found.shape) == (3, 5)
    with pytest.raises(ValueError, match="no square map"):
        heatmap(Shown(table=(("People", 3.0),)))
