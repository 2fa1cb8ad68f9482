"""Checks of the answers and pages of every study of curves."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np

from explorer.privacy.core.bound import Role
from explorer.studies.base.claims import (
    NOT_CLAIMABLE,
    evaluate_claim,
    unclaimed_reasons,
    value_here,
    with_claim,
)
from explorer.studies.base.phrases import best_chance, chance_of, odds_basis, times_in_100
from explorer.studies.base.study import default_request, default_sweep, parameter
from explorer.studies.guarantees.tradeoffs import KEY as TRADEOFF
from tests.studies.context import Context


def quantity_of(study, key):
    """Return a quantity of a study, or fail and say what the study lacks."""
    there = {q.key: q for q in study.quantities}
    remedy = "decorate its class by `with_tradeoff`" if key == TRADEOFF else "add it to its plots"
    assert key in there, f"{study.id} has no quantity {key!r}, only {', '.join(there)}: {remedy}"
    return there[key]


def last(study, host=None, what=None, sweep=None, points=9, **values):
    """Return the final answer of a request, after checking the whole row of answers."""
    what = what or study.quantities[0].key
    quantity = quantity_of(study, what)
    sweep = sweep or replace(default_sweep(study, quantity.sweeps[0]), points=points)
    request = replace(default_request(study, **values), quantity=what, sweep=sweep)
    results = list(study.answer(request, host or Context()))
    assert [r.complete for r in results] == [False] * (len(results) - 1) + [True]
    assert all(a.fidelity <= b.fidelity for a, b in itertools.pairwise(results))
    for result in results:
        assert_sound(result)
        assert_claim(study, result, study.id)
    # A later answer only adds curves: those before keep their places, and their colours. One that
    # has a number alone draws nothing.
    keys = [[s.key for s in r.series] for r in results if not r.curve_follows]
    for earlier, later in itertools.pairwise(keys):
        assert later[: len(earlier)] == earlier
    return results[-1]


def assert_claim(study, result, where=""):
    """Check that better bounds say why they aren't claimed, and whose odds stand beside a claim.

    Of the tightest valid bound, and of every one that a user could claim.
    """
    claim = study.claims.get(result.request.quantity)
    if claim is None:
        return
    turn, rivals = (-1, Role.LOWER) if claim.better == "high" else (1, Role.UPPER)
    for wanted in ("", *claim.among):
        found = evaluate_claim(result, wanted)
        reasons = unclaimed_reasons(result, found)
        most = np.inf if found is None else turn * found.value
        for series in result.series:
            better = turn * value_here(result, series) < most
            if better and not series.pin and series.role in (rivals, Role.EXACT):
                reason = reasons[series.key]
                assert reason.why not in ("", NOT_CLAIMABLE), (where, wanted, series.key)
                assert reason.rival or wanted, (where, series.key)
            if not better:
                assert series.key not in reasons, (where, wanted, series.key)
        if found is not None and found.text.pairs:
            promise = with_claim(result, wanted).guarantee
            assert_odds(result.request.quantity, promise, found, where)


_INDEX = {"eps": 0, "own": 0, "epochs": 0, "delta": 1, "own_delta": 1}
"""Which number of an (ε, δ) a quantity is."""


def assert_odds(quantity, promise, found, where=""):
    """Check that the odds printed are of the claimed (ε, δ), or that another basis is named."""
    if promise is None:
        return
    first = best_chance(*found.text.pairs[0])
    if quantity in _INDEX and found.series.key != "local":
        assert found.text.pairs[0][_INDEX[quantity]] == found.value, where
    chance = first if promise.qualified else chance_of(promise)
    text = f"{promise.sentence} {promise.beside}"
    printed = re.search(r"is right at most ([\d.]+) % of the time", text)
    if printed:
        assert printed[1] == times_in_100(chance), where
    basis = odds_basis(promise)
    assert bool(basis) == (chance < first), where
    if "δ(0)" in basis:
        assert "This is (1+δ(0))/2" in promise.beside, where
        right = times_in_100(min(best_chance(*pair) for pair in found.text.pairs))
        alone = "nothing" if right == "100" else f"at most {right} % of the time"
        assert promise.beside.endswith(f"on its own says less: {alone}."), where


def assert_sound(result):
    """Check that nothing shown is NaN without a reason, infinite, negative or out of order."""
    for series in result.series:
        assert series.x.shape == series.y.shape
        assert series.reference.paper
        assert series.label
        assert not np.isinf(series.y).any(), series.key
        assert bool(series.undefined_reason) == bool(np.isnan(series.y).any()), series.key
        if series.mark in ("line", "bars"):
            assert np.all(np.diff(series.x) > 0), series.key
        if series.mark == "dots":
            # Two may stand above each other.
            assert np.all(np.diff(series.x) >= 0), series.key
        for edge in (series.low, series.high):
            assert edge is None or edge.shape == series.y.shape
        if series.low is not None and series.high is not None:
            known = series.present & np.isfinite(series.low) & np.isfinite(series.high)
            assert np.all(series.low[known] <= series.high[known]), series.key
    for readout in result.readouts:
        assert readout.value is not None or readout.note or readout.low is not None, readout.key
        assert readout.value is None or np.isfinite(readout.value), readout.key
    for table in result.tables:
        assert all(len(row) == len(table.columns) for row in table.rows), table.key
        for entry in itertools.chain.from_iterable(table.rows):
            assert not isinstance(entry, float) or np.isfinite(entry), table.key
            assert entry is not None or table.note


def best_valid(study, result):
    """Return the best value at the sliders that may be claimed by default; None without one."""
    claim = study.claims[result.request.quantity]
    bound = Role.LOWER if claim.better == "high" else Role.UPPER
    failing = {c.key for c in result.conditions if c.holds is False or c.optional}
    values = [
        value_here(result, s)
        for s in result.series
        if s.key in claim.among and s.role in (bound, Role.EXACT) and not failing & set(s.assumes)
    ]
    finite = [v for v in values if v is not None and np.isfinite(v)]
    return (max if claim.better == "high" else min)(finite, default=None)


def preset_answer(study, preset, host=None, points=7):
    """Return the final answer of a preset, drawn with fewer points."""
    quantity = quantity_of(study, preset.quantity or study.quantities[0].key)
    sweep = preset.sweep or default_sweep(study, quantity.sweeps[0])
    sweep = replace(sweep, points=min(points, sweep.points))
    return last(study, host, quantity.key, sweep, **dict(preset.values))


def assert_page(study):
    """Check that the help page is complete and that every formula can be drawn."""
    from matplotlib.mathtext import MathTextParser

    page = study.page
    assert page is not None
    assert page.what
    assert page.assumptions
    assert page.sources
    parser = MathTextParser("path")
    formulas = [f.latex for f in page.formulas]
    symbols = [p.latex for p in (*study.parameters, *study.quantities) if p.latex]
    for latex in (*formulas, *symbols):
        parser.parse(f"${latex}$")
    keys = [p.key for p in study.presets]
    assert len(set(keys)) == len(keys) > 0
    for preset in study.presets:
        assert preset.name
        assert preset.about
        assert preset.computed
        for key, value in preset.values:
            assert parameter(study, key).parse(value) == value
