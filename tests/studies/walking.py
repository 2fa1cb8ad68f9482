"""What must be true of every answer of every study of curves, wherever its parameters stand."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
from matplotlib.mathtext import MathTextParser

from explorer.privacy.bounds import Role
from explorer.studies.model import (
    Kind,
    Mark,
    default_request,
    default_sweep,
    parameter,
    quantity,
)
from explorer.studies.pages import page_of, presets_of
from tests.studies.context import Context

_TIES = 1 + 1e-9


def check_result(study, result, where):
    """Hold one result against what every consumer relies on."""
    assert result.series, where
    keys = [s.key for s in result.series]
    assert len(keys) == len(set(keys)), where
    for series in result.series:
        assert series.label, where
        assert isinstance(series.role, Role), where
        assert series.reference is not None, where
        assert series.x.shape == series.y.shape, where
        assert np.isfinite(series.x).all(), (where, series.key)
        assert not np.isinf(series.y).any(), (where, series.key)
        assert bool(series.why_absent) == bool(np.isnan(series.y).any()), (where, series.key)
        if series.mark is Mark.LINE:
            assert np.all(np.diff(series.x) > 0), (where, series.key)
    for readout in result.readouts:
        if readout.value is None:
            assert readout.note or readout.low is not None, (where, readout.key)
        else:
            assert math.isfinite(readout.value), (where, readout.key)
    for table in result.tables:
        for row in table.rows:
            assert len(row) == len(table.columns), where
            for entry in row:
                assert entry is None or isinstance(entry, str) or math.isfinite(entry), where
            if None in row:
                assert table.note, where
    for condition in result.conditions:
        assert condition.text, where
    if result.guarantee is not None:
        g = result.guarantee
        assert all((g.unit, g.add_remove, g.replace_one, g.trust, g.sentence)), where
        assert "nan" not in f"{g.add_remove}{g.replace_one}{g.sentence}".lower().split(), where


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


def axis_pairs(study):
    """Return every (quantity, sweep) of a study."""
    return [(q.key, sweep) for q in study.quantities for sweep in q.sweeps]


def walk_axis(study, what, key, points=11, **values):
    """Answer a quantity over the whole range of one of its axes."""
    request = replace(
        default_request(study, **values),
        quantity=what,
        sweep=replace(default_sweep(study, key), points=points),
    )
    return answers(study, request)[-1]


def walk_parameter(study, key, points=5, steps=5, context=None, **values):
    """Answer every quantity with a parameter at both ends and between them."""
    p = parameter(study, key)
    if p.numeric:
        ends = [p.clamp(v) for v in p.grid(p.low, p.high, steps)]
    elif p.kind is Kind.CHOICE:
        ends = [value for value, _ in p.choices]
    elif p.kind is Kind.FLAG:
        ends = [False, True]
    else:
        ends = [""]
    context = context or Context()
    for what in study.quantities:
        for value in ends:
            sweep = replace(default_sweep(study, what.sweeps[0]), points=points)
            request = replace(
                default_request(study, **{**values, key: value}), quantity=what.key, sweep=sweep
            )
            answers(study, request, context)


def check_page(study):
    """Hold a study's help and presets against the study."""
    page = page_of(study)
    assert page is not None
    assert page.what
    assert page.assumptions
    assert page.sources
    parser = MathTextParser("path")
    texts = [f.latex for f in page.formulas]
    texts += [p.latex for p in study.parameters if p.latex]
    texts += [q.latex for q in study.quantities if q.latex]
    for text in texts:
        parser.parse(f"${text}$")
    for erratum in page.errata:
        assert erratum.startswith("The paper")
    keys = [p.key for p in presets_of(study)]
    assert len(keys) == len(set(keys))
    for p in study.parameters:
        assert len(p.help) > 20
        assert all(key in {q.key for q in study.quantities} for key in p.quantities)
        for key, allowed in p.relevant_when:
            other = parameter(study, key)
            assert other.kind in (Kind.CHOICE, Kind.FLAG)
            known = {v for v, _ in other.choices} or {"True", "False"}
            assert set(allowed) <= known, (p.key, key)


def preset_request(study, preset):
    """Return the request of a preset."""
    request = default_request(study, **dict(preset.values))
    what = preset.quantity or study.quantities[0].key
    sweep = preset.sweep or default_sweep(study, quantity(study, what).sweeps[0])
    return replace(request, quantity=what, sweep=sweep)


def preset(study, key):
    """Return the last answer to the preset of that key."""
    chosen = next(p for p in presets_of(study) if p.key == key)
    return answers(study, preset_request(study, chosen))[-1]


def ordered(lower, upper):
    """Whether one curve is nowhere above another, where both are."""
    both = np.isfinite(lower.y) & np.isfinite(upper.y)
    return bool(np.all(lower.y[both] <= upper.y[both] * _TIES))
