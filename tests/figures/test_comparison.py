"""Rows of a comparison as text: what each format must not lose or break."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from explorer.figures.comparison import (
    ComparedRow,
    comma_separated,
    compared_row,
    latex,
    markdown,
    settings,
    value_text,
    varying_first,
)
from explorer.privacy.core.bound import Role
from explorer.studies.base.study import (
    Condition,
    Fidelity,
    Request,
    Result,
    ScalarResult,
    default_request,
)
from explorer.studies.registry import get_study
from tests import snapshots

ROW = ComparedRow(
    "Study & co",
    "ε at δ",
    "Theorem 1 | α_0",
    Role.UPPER,
    2.5e-6,
    None,
    None,
    "",
    ("ε₀ = 2",),
    (Condition("k ≤ n", True), Condition("ε ≤ 1", False), Condition("independent", None)),
    "Paper 2021, 50% of it",
    "",
    recipe='{"a": 1}',
)


@pytest.fixture
def request_() -> Request:
    return default_request(get_study("shuffle-rdp"))


def answer(request: Request, *readouts: ScalarResult, **more: object) -> Result:
    return Result(request, Fidelity.FULL, readouts=readouts, complete=True, **more)


def test_markdown_keeps_its_columns_whatever_is_in_a_cell() -> None:
    head, rule, row = markdown([ROW]).splitlines()
    assert head.count(" | ") == rule.count(" | ")
    assert row.replace("\\|", "").count(" | ") == head.count(" | ")
    assert "≤ 2.5×10⁻⁶" in row
    assert r"Theorem 1 \| α\_0" in row
    assert "✓ 1 · ✗ ε ≤ 1" in row
    for absent in ("Low", "High", "Unit", "Stamp"):
        assert absent not in head


def test_latex_escapes_and_balances() -> None:
    text = latex([ROW, replace(ROW, stamp="curator only", low=1e-6, high=3e-6)])
    lines = text.splitlines()
    columns = lines[1].count("&")
    assert all(line.replace(r"\&", "").count("&") == columns for line in (lines[3], lines[4]))
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 1
    assert r"Study \& co" in text
    assert r"50\% of it" in text
    assert r"$\le$ 2.5$\times$10$^{-6}$" in text
    assert r"$\varepsilon _{0}$ = 2" in text
    assert "curator only" in text
    assert text.replace(r"\$", "").count("$") % 2 == 0
    assert text.isascii() or "|" in text


def test_csv_has_every_digit_and_the_recipe() -> None:
    odd = replace(ROW, value=0.1 + 0.2, low=1 / 3, high=2 / 3, stamp="curator only")
    rows = list(csv.DictReader(io.StringIO(comma_separated([ROW, odd]))))
    assert float(rows[1]["value"]) == 0.1 + 0.2
    assert float(rows[1]["low"]) == 1 / 3
    assert rows[1]["stamp"] == "curator only"
    assert rows[0]["low"] == ""
    assert rows[0]["recipe"] == '{"a": 1}'
    assert rows[0]["role"] == "upper bound"


def test_a_row_says_what_its_number_is(request_: Request) -> None:
    result = answer(
        request_,
        ScalarResult("emd", "error", 0.25, Role.ESTIMATE, "km", low=0.2, high=0.3),
        conditions=(Condition("n is large", True),),
        stamp="demonstration noise",
    )
    row = compared_row(request_, "emd", result)
    assert (row.quantity, row.statement, row.unit) == ("error", "error", "km")
    assert (row.low, row.high) == (0.2, 0.3)
    assert row.stamp == "demonstration noise"
    secret = answer(request_, replace(result.readouts[0], curator_only=True), stamp="demo")
    assert compared_row(request_, "emd", secret).stamp == "demo; curator only"
    whole = replace(result, curator_only=True, stamp="")
    assert compared_row(request_, "emd", whole).stamp == "curator only"


def test_rows_without_a_number_say_why(request_: Request) -> None:
    gone = answer(request_, ScalarResult("a", "a", None, Role.UPPER, note="k exceeds n"))
    assert compared_row(request_, "a", gone).missing == "k exceeds n"
    snapshots.check(compared_row(request_, "b", gone).missing)
    waiting = compared_row(request_, "a", None, missing="computing…")
    assert (waiting.value, waiting.missing) == (None, "computing…")
    endless = answer(request_, ScalarResult("a", "a", np.inf, Role.UPPER))
    assert compared_row(request_, "a", endless).value is None
    assert value_text(compared_row(request_, "a", gone)) == "–"
    between = answer(request_, ScalarResult("a", "a", None, low=1.0, high=2.0))
    assert value_text(compared_row(request_, "a", between)) == "1 … 2"


def test_settings_name_what_matters_and_what_differs_comes_first(request_: Request) -> None:
    parts = settings(request_)
    assert "ε₀ = 2" in parts
    assert not any(part.startswith("γ") for part in parts)
    other = request_.with_value("T", 7)
    rows = [compared_row(r, "x", None) for r in (request_, other)]
    first = [said.split(", ")[0] for said in varying_first(rows)]
    assert first == ["T = 100,000 rounds", "T = 7 rounds"]


@pytest.mark.parametrize(
    ("value", "role", "said"),
    [
        (2.11802, Role.UPPER, "≤ 2.119"),
        (0.24479, Role.LOWER, "≥ 0.2447"),
        (2.11802, Role.EXACT, "= 2.118"),
        (2.11802, None, "2.118"),
    ],
)
def test_a_bound_is_rounded_to_its_safe_side_wherever_it_is_read(value, role, said) -> None:
    row = replace(ROW, role=role, value=value)
    assert value_text(row) == said
    assert said in markdown([row])
    assert said.split()[-1] in latex([row])
    [whole] = csv.DictReader(io.StringIO(comma_separated([row])))
    assert whole["value"] == repr(value)


def test_an_interval_is_rounded_outwards() -> None:
    row = replace(ROW, role=None, value=None, low=0.123456, high=0.123489)
    assert value_text(row) == "0.1234 … 0.1235"
