"""Mechanisms of the map that simulate shuffled protocols: maps, promises, what a user sends."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from explorer.privacy.heatmaps import CellCounts, communication, shuffle_plan
from explorer.privacy.histograms import calibrate, hist, histogram_analyzer, simultaneous_error
from explorer.studies.base.numbers import format_number
from explorer.studies.base.study import Origin, Request, Result
from explorer.studies.heatmap import text
from explorer.studies.heatmap.guarantee import conditions, guarantee
from explorer.studies.heatmap.mechanisms import SIMULATED
from explorer.studies.heatmap.public import OF_SETTINGS, public_result
from explorer.studies.heatmap.shuffled_cells import MissingBits, histogram_grid
from tests import snapshots
from tests.studies.test_heatmap import FakeContext, FakeData, answers, request_for

BOTH = ["shuffled-pyramid", "shuffled-cells"]
DATA = FakeData(users=300)


def last(request: Request) -> Result:
    return answers(request, FakeContext(DATA))[-1]


def private(**values: object) -> np.ndarray:
    return last(request_for(**values)).surface("private").values


def numbers(result: Result) -> dict[str, float]:
    found = {r.key: r.value for r in result.readouts if r.key in OF_SETTINGS}
    assert all(r.unit == OF_SETTINGS[r.key][1] for r in result.readouts if r.key in found)
    return {key: value for key, value in found.items() if value is not None}


def test_the_shuffled_pyramid_tends_to_the_central_one() -> None:
    """The same draw: with ever more units a user the map of the pyramid comes out."""
    central = private(mechanism="pyramid", n0=300)
    off = [
        float(np.abs(private(mechanism="shuffled-pyramid", n0=300, B=b) - central).sum())
        for b in (1, 16, 1 << 20)
    ]
    assert off[0] > off[1] > 100 * off[2]
    assert off[2] < 1e-3


def test_more_users_than_counted_on_add_more_noise() -> None:
    fewer, enough = (private(mechanism="shuffled-pyramid", n0=n, epsilon=2.0) for n in (20, 300))
    true = last(request_for()).surface("true").values
    assert np.abs(fewer - true).sum() > 1.3 * np.abs(enough - true).sum()


def test_what_a_user_of_the_pyramid_sends() -> None:
    result = last(request_for(mechanism="shuffled-pyramid", n0=300, B=256, delta=1e-5))
    cells = sum(4**i for i in range(2, 7))
    found = numbers(result)
    sent = communication(300, cells, _modulus(result.request), 1.0, 1e-5)
    assert found["messages"] == sent.messages == sent.shares * cells
    assert found["message_bits"] == sent.message_bits
    assert found["megabytes"] == pytest.approx(sent.messages * sent.message_bits / 8e6)
    assert set(found) == {"messages", "message_bits", "megabytes"}


def _modulus(request: Request) -> int:
    from fractions import Fraction

    from explorer.privacy.heatmaps import exact_epsilons, schedule

    parts = exact_epsilons(schedule(request["epsilon"], 6, request["w"]), Fraction(1))
    return shuffle_plan(parts, request["n0"], request["B"], request["delta"]).modulus


def test_what_a_user_of_the_histogram_sends_and_what_error_to_expect() -> None:
    result = last(request_for(mechanism="shuffled-cells", n0=300, epsilon=3.0, delta=1e-4))
    p = calibrate(3.0, 1e-4, 300).p
    found = numbers(result)
    assert found["messages"] == pytest.approx(1 + 64**2 * p)
    assert found["message_bits"] == 12
    assert found["megabytes"] == pytest.approx((1 + 64**2 * p) * 12 / 8e6)
    assert found["noise_sd"] == pytest.approx(math.sqrt(300 * p * (1 - p)))
    assert found["lost_below"] == pytest.approx(300 * (1 - p))
    worst = simultaneous_error(300, p, 0.05)
    assert ("worst_error" in found) is bool(np.all(worst.valid))


def test_the_histogram_is_what_all_messages_make_of_it() -> None:
    """Every cell's estimate is the analyzer's of the messages, for given noise bits."""
    rng, n, p = np.random.default_rng(2), 40, 0.85
    values = rng.integers(0, 5, n)
    votes = CellCounts(1, np.arange(4), np.bincount(values, minlength=5)[:4].astype(float), n, n)
    bits = rng.random((n, 4)) < p
    messages = np.concatenate([np.repeat(np.arange(4), bits.sum(axis=0)), values[values < 4]])
    grid = histogram_grid(votes, n, p, n - bits.sum(axis=0))
    np.testing.assert_allclose(grid[votes.cells], histogram_analyzer(messages, n, 4, p))
    assert (grid > 0).any()


def test_missing_noise_bits_are_binomial_and_belong_to_the_cell() -> None:
    codes = np.arange(40_000)
    noise = MissingBits(seed=4, level=8, users=60, p=0.8)
    drawn = noise(codes)
    expected = stats.binom.pmf(np.arange(61), 60, 0.2) * len(codes)
    some = expected > 20
    found = np.bincount(drawn, minlength=61)
    observed, wanted = ([*x[some], x[~some].sum()] for x in (found, expected))
    assert stats.chisquare(observed, wanted).pvalue > 1e-4
    np.testing.assert_array_equal(noise(codes[[7, 5]]), drawn[[7, 5]])


@pytest.mark.full
def test_the_histograms_error_is_that_of_the_protocol() -> None:
    """Mean and spread of one cell's estimates, against the protocol run message by message."""
    n, p, runs = 50, 0.8, 1500
    votes = CellCounts(1, np.array([2]), np.array([25.0]), n, n)
    mine = [
        n * histogram_grid(votes, n, p, MissingBits(seed, 1, n, p)(votes.codes))[votes.cells][0]
        for seed in range(runs)
    ]
    rng = np.random.default_rng(0)
    values = np.array([0] * 25 + [1] * 25)
    theirs = [n * hist(values, 2, p, rng)[0] for _ in range(runs)]
    assert stats.ks_2samp(mine, theirs).pvalue > 1e-4


@pytest.mark.parametrize(("mechanism", "n0", "epsilon"), [(BOTH[0], 18, 1.0), (BOTH[1], 40, 0.3)])
def test_too_few_users_have_no_map(mechanism: str, n0: int, epsilon: float) -> None:
    result = last(request_for(mechanism=mechanism, n0=n0, epsilon=epsilon, sigma=0.0))
    assert text.TOO_FEW_USERS in result.notes
    assert np.ptp(result.surface("private").values) < 1e-6
    assert any(c.holds is False and c.text.startswith("n₀") for c in result.conditions)
    enough = conditions(request_for(mechanism=mechanism, n0=4000, epsilon=epsilon))
    assert all(c.holds is not False for c in enough if c.text.startswith("n₀"))


@pytest.mark.parametrize("mechanism", BOTH)
def test_what_is_promised(mechanism: str) -> None:
    """Replaced, not added or removed; the pyramid at twice ε, the histogram at ε itself."""
    request = request_for(mechanism=mechanism, n0=300, epsilon=1.0, delta=1e-6)
    found = guarantee(request)
    assert found.add_remove.startswith("not covered: ")
    level = {"shuffled-pyramid": "(2, 2.257e-6)", "shuffled-cells": "(1, 1e-6)"}[mechanism]
    assert found.replace_one.startswith(f"{level}-DP")
    assert "73.11 %" in found.sentence
    said = [c.text for c in conditions(request)]
    assert not any("number of users is not published" in item for item in said)
    assert any("add their noise" in item for item in said)
    assert SIMULATED in last(request).notes
    sampled = replace(request, selection=replace(request.selection, users=50))
    sentence = guarantee(sampled).sentence
    assert f"costs at most {level}" in sentence
    # Adding or removing one is covered only where the number of messages stays.
    snapshots.check(sentence)
    assert guarantee(sampled).add_remove.startswith("not covered: ")


def test_missing_noise_is_told_with_what_it_costs() -> None:
    margins = {
        key: next(
            c.margin
            for c in conditions(request_for(mechanism=key, n0=1000))
            if "take part" in c.text and "noise" in c.text
        )
        for key in BOTH
    }
    assert margins["shuffled-pyramid"].startswith("if 10 % of them don't, ε is ")
    assert float(margins["shuffled-pyramid"].split()[-1]) > 1.05
    assert margins["shuffled-cells"].startswith("if 10 % of them don't, δ is ")
    assert 2e-6 < float(margins["shuffled-cells"].split()[-1]) < 4e-6


@pytest.mark.parametrize("mechanism", BOTH)
def test_messages_are_public_unless_they_tell_a_secret_number_of_users(mechanism: str) -> None:
    request = request_for(mechanism=mechanism, n0=300, epsilon=3.0)
    assert set(numbers(public_result(last(request)))) == set(numbers(last(request)))
    assert "messages" in numbers(public_result(last(request)))
    sent = [note for note in public_result(last(request)).notes if "messages of" in note]
    assert len(sent) == 1
    assert format_number(numbers(last(request))["megabytes"]) + " MB" in sent[0]
    selection = replace(request.selection, n0_from=Origin.JUDGED)
    assert not selection.n0_from.may_be_told
    secret = public_result(last(replace(request, selection=selection)))
    assert numbers(secret) == {}
    assert not any("messages of" in note for note in secret.notes)
