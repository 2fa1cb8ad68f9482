"""Checked against: what passes here, and that a wrong number does not."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from explorer.privacy import histograms as hg
from explorer.privacy.core.bound import Role
from explorer.studies.base.study import Fidelity, Result, default_request
from explorer.studies.guarantees import checks
from explorer.studies.guarantees.checks import GOLDEN, agrees
from explorer.studies.registry import get_study
from tests.studies.context import Context


def ask(request):
    *_, answer = get_study(request.study).answer(request, Context())
    return answer


@pytest.mark.full
def test_golden_values_enumerations_and_brackets_pass_here():
    found = list(checks.checks(ask, 0))
    assert len(found) == checks.count(0)
    assert [c.name for c in found if not c.passed] == []
    assert {c.group for c in found} == {checks.GOLDEN_VALUES, checks.ENUMERATIONS, checks.BRACKETS}
    assert len({c.name for c in found}) == len(found)


def test_every_study_that_can_be_audited_is():
    assert checks.count(1000) - checks.count(0) == len(checks.audited_studies()) >= 10


def test_a_wrong_number_fails(monkeypatch):
    right = hg.count_delta
    monkeypatch.setattr(hg, "count_delta", lambda *args: right(*args) * (1 - 1e-6))
    monkeypatch.setattr(checks, "GOLDEN", ())
    first = next(checks.checks(ask, 0))
    assert first.group == checks.ENUMERATIONS
    assert not first.passed


@pytest.mark.parametrize(
    ("value", "golden", "right"),
    [
        (1.0402185, "1.0402185", True),
        (1.04021861, "1.0402185", False),
        (28.0, "28", True),
        (7.67612e-8, "7.6761e-8", True),
        (7.678e-8, "7.6761e-8", False),
        (0.2783, "0.277", False),
        (0.1509, "0.150", True),
        (None, "1", False),
        (math.nan, "1", False),
        (math.inf, "1", False),
    ],
)
def test_a_golden_value_is_right_to_its_last_digit(value, golden, right):
    assert agrees(value, golden) is right


def test_golden_values_that_do_not_come_out_are_named():
    expected = GOLDEN[0]
    answer = ask(checks._at_sliders(expected.study, dict(expected.values), expected.quantity))
    assert checks.golden(expected, answer).passed
    off = tuple(
        replace(r, value=r.value + 1e-4) if r.key == "theorem1" else r
        for r in answer.readouts
        if r.key != "order"
    )
    found = checks.golden(expected, replace(answer, readouts=off))
    assert not found.passed
    assert found.said.startswith("theorem1: 1.04")
    assert found.said.endswith("order: nothing, not 28")


def test_bounds_that_cross_fail():
    answer = ask(checks._at_sliders("amplification", {}))
    assert checks.bracket(answer).passed
    crossed = tuple(replace(r, value=1.0) if r.role is Role.LOWER else r for r in answer.readouts)
    assert not checks.bracket(replace(answer, readouts=crossed)).passed


@pytest.mark.parametrize("holds", [True, False, None])
def test_an_audit_says_what_its_condition_does(holds):
    from explorer.studies.base.study import Condition

    result = Result(
        default_request(get_study("itemwise")),
        Fidelity.FULL,
        conditions=(Condition("The audit refutes nothing (it)", holds, "numbers"),),
    )
    assert checks.audit(result).passed is (holds is True)
    assert not checks.audit(replace(result, conditions=(), notes=("No audit: why",))).passed
