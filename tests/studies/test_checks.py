"""Checked against: what passes here, and that a wrong number does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from explorer.privacy import histograms as hg
from explorer.privacy.core.bound import Role
from explorer.studies.base.study import Fidelity, Result, default_request
from explorer.studies.guarantees import checks
from explorer.studies.registry import get_study
from tests.studies.context import Context


def ask(request):
    *_, answer = get_study(request.study).answer(request, Context())
    return answer


def test_enumerations_and_brackets_pass_here():
    found = list(checks.checks(ask, 0))
    assert len(found) == checks.count(0)
    assert [c.name for c in found if not c.passed] == []
    assert {c.group for c in found} == {checks.ENUMERATIONS, checks.BRACKETS}
    assert len({c.name for c in found}) == len(found)


def test_every_study_that_can_be_audited_is():
    assert checks.count(1000) - checks.count(0) == len(checks.audited_studies()) >= 10


def test_a_wrong_number_fails(monkeypatch):
    right = hg.count_delta
    monkeypatch.setattr(hg, "count_delta", lambda *args: right(*args) * (1 - 1e-6))
    first = next(checks.checks(ask, 0))
    assert first.group == checks.ENUMERATIONS
    assert not first.passed


def test_bounds_that_cross_fail():
    answer = ask(checks._at_sliders("amplification", {}))
    assert checks.bracket(answer).passed
    crossed = tuple(replace(r, value=1.0) if r.role is Role.LOWER else r for r in answer.readouts)
    assert not checks.bracket(replace(answer, readouts=crossed)).passed


@pytest.mark.parametrize("holds", [True, False, None])
def test_an_audit_says_what_its_condition_does(holds):
    from explorer.studies.base.study import Condition

    result = Result(
        default_request(get_study("itemwise")), Fidelity.FULL,
        conditions=(Condition("The audit refutes nothing (it)", holds, "numbers"),),
    )  # fmt: skip
    assert checks.audit(result).passed is (holds is True)
    assert not checks.audit(replace(result, conditions=(), notes=("No audit: why",))).passed
