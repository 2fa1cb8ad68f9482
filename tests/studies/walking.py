"""What must be true of every answer of every study of curves, wherever its parameters stand."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from explorer.privacy.core.bound import Role
from explorer.studies.base.study import (
    Kind,
    default_request,
    default_sweep,
    parameter,
    quantity,
)
from tests.studies.checks import assert_claim, assert_page, assert_sound
from tests.studies.context import Context

_TIES = 1 + 1e-9


def check_result(study, result, where):
    """Hold one result against what every consumer relies on, and some more."""
    assert_sound(result)
    assert_claim(study, result, where)
    assert result.series, where
    keys = [s.key for s in result.series]
    assert len(keys) == len(set(keys)), where
    for series in result.series:
        assert isinstance(series.role, Role), where
        assert np.isfinite(series.x).all(), (where, series.key)
    assert all(condition.text for condition in result.conditions), where
    if result.guarantee is not None:
        g = result.guarantee
        assert all((g.unit, g.add_remove, g.replace_one, g.trust, g.sentence)), where
        assert "nan" not in f"{g.add_remove} {g.replace_one} {g.sentence}".lower().split(), where


def answers(study, request, context=None):
    """Return all answers to a request, each checked; the last must be complete."""
    where = f"{request.quantity} over {request.sweep} at {dict(request.values)}"
    found = list(study.answer(request, context or Context()))
    assert found, where
    assert [r.complete for r in found] == [False] * (len(found) - 1) + [True], where
    for earlier, later in itertools.pairwise(found):
        assert earlier.fidelity <= later.fidelity, where
    for result in found:
        check_result(study, result, where)
    return found


def final_result(study, request, context=None):
    """Return the last of all answers to a request, each checked."""
    return answers(study, request, context)[-1]


def axis_pairs(study):
    """Return every (quantity, sweep) of a study."""
    return [(q.key, sweep) for q in study.quantities for sweep in q.sweeps]


def needed(study, p):
    """Return what other parameters must be for this one to matter."""
    values = {}
    for key, allowed in p.relevant_when:
        other = parameter(study, key)
        values.update(needed(study, other))
        if str(other.default) in allowed:
            continue
        if other.choices and allowed[0] not in dict(other.choices):  # only in the list beside it
            other = parameter(study, dict(p.more_values)[key])
            values[other.key] = other.parse(f"{other.default},{allowed[0]}")
        else:
            values[key] = other.parse(allowed[0])
    return values


def walk_axis(study, what, key, points=11, context=None, **values):
    """Answer a quantity over the whole range of one of its axes."""
    request = replace(
        default_request(study, **values),
        quantity=what,
        sweep=replace(default_sweep(study, key), points=points),
    )
    return final_result(study, request, context)


def walk_parameter(study, key, context=None, **values):
    """Answer the quantities that a parameter matters for with it at both ends, or at every choice.

    Where it is an axis, `walk_axis` passes through both ends: one quantity tells what stands beside
    the plot there. A request is asked once in a context: parameters have defaults in common.
    """
    p = parameter(study, key)
    if p.numeric:
        ends = [p.clamp(v) for v in p.grid(p.low, p.high, 2)]
    elif p.kind is Kind.CHOICE:
        ends = [value for value, _ in p.choices]
    elif p.kind is Kind.FLAG:
        ends = [False, True]
    else:
        ends = [p.default]
    context = context or Context()
    asked = context.cached("asked", set)
    matters = [q for q in study.quantities if q.key in (p.quantities or (q.key,))]
    for what in [matters[0], *(q for q in matters[1:] if key not in q.sweeps)]:
        for value in ends:
            sweep = replace(default_sweep(study, what.sweeps[0]), points=2)
            request = replace(
                default_request(study, **{**values, key: value}), quantity=what.key, sweep=sweep
            )
            if request not in asked:
                asked.add(request)
                answers(study, request, context)


def check_page(study):
    """Hold a study's help, presets and parameters against each other."""
    assert_page(study)
    assert all(erratum.startswith("The paper") for erratum in study.page.errata)
    for p in study.parameters:
        assert len(p.help) > 20
        assert all(key in {q.key for q in study.quantities} for key in p.quantities)
        for key, allowed in p.relevant_when:
            other = parameter(study, key)
            assert other.kind in (Kind.CHOICE, Kind.FLAG)
            known = {v for v, _ in other.choices} or {"True", "False"}
            more = dict(p.more_values).get(key)
            known |= {v for v, _ in parameter(study, more).choices} if more else set()
            assert set(allowed) <= known, (p.key, key)


def preset_request(study, preset):
    """Return the request of a preset."""
    request = default_request(study, **dict(preset.values))
    what = preset.quantity or study.quantities[0].key
    sweep = preset.sweep or default_sweep(study, quantity(study, what).sweeps[0])
    return replace(request, quantity=what, sweep=sweep)


def preset(study, key, points=7):
    """Return the last answer to the preset of that key, drawn with fewer points."""
    chosen = next(p for p in study.presets if p.key == key)
    request = preset_request(study, chosen)
    sweep = replace(request.sweep, points=min(points, request.sweep.points))
    return final_result(study, replace(request, sweep=sweep))


def ordered(lower, upper):
    """Whether one curve is nowhere above another, where both are."""
    both = np.isfinite(lower.y) & np.isfinite(upper.y)
    return bool(np.all(lower.y[both] <= upper.y[both] * _TIES))
