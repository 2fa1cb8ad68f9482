"""One known randomiser in the amplification study: families, typed tables, tables from files."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from explorer.privacy.core.bound import Role
from explorer.privacy.histograms import privacy_of_views
from explorer.studies.base.builders import _from_file
from explorer.studies.base.claims import evaluate_claim
from explorer.studies.base.numbers import nearest
from explorer.studies.base.parameters import table_rows
from explorer.studies.base.study import default_sweep
from explorer.studies.registry import get_study
from explorer.studies.shuffled_histograms.tables import own_randomiser
from tests import snapshots
from tests.studies.checks import last
from tests.studies.context import Context

KINDS = ("krr", "unary", "laplace", "privunit", "rinf", "typed")
ORDER = ("own_exact", "own_blanket", "own_ratio", "exact_2023", "exact_2021")


@pytest.fixture(scope="module")
def study():
    return get_study("amplification")


def at(study, what="own", **values):
    sweep = replace(default_sweep(study, "n"), points=2)
    return last(study, what=what, sweep=sweep, **values)


def assert_order(series):
    for below, above in itertools.pairwise(ORDER):
        first, second = (next(s for s in series if s.key == key) for key in (below, above))
        both = first.present & second.present
        assert np.all(first.y[both] <= second.y[both] * (1 + 1e-9) + 1e-300), (below, above)


def test_fractions_are_entries_of_typed_tables_and_files(tmp_path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a;b\n1/3;2/3\n0,75;1/4\n", encoding="utf-8")
    assert table_rows("1/3 2/3; .75 1/4", "table") == ((1 / 3, 2 / 3), (0.75, 0.25))
    assert _from_file(path, "table.csv", "auto").tolist() == [[1 / 3, 2 / 3], [0.75, 0.25]]
    for wrong in ("1/0 1", "1/ 1", "/3 1", "1/2/3 1"):
        with pytest.raises(ValueError, match="row 1, field 1"):
            table_rows(wrong, "table")


def test_a_tiny_entry_keeps_the_views_of_a_table_from_being_pure() -> None:
    law = own_randomiser(np.array([[1.0, 0.0], [0.9999999999999, 1e-13]]))
    assert law[1][(1,)] == Fraction(1, 10**13)
    assert privacy_of_views(law, 3).shuffled == math.inf
    assert own_randomiser(np.array([[1 / 3, 2 / 3], [0.5, 0.5]]))[0][(0,)] == Fraction(1, 3)


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", ["own", "own_delta"])
def test_bounds_stand_in_order_on_every_axis(study, kind, what):
    axes = next(q.sweeps for q in study.quantities if q.key == what)
    for key in axes:
        for values in ({}, {"n": 2, "eps0": 6.0}, {"n": 10**9, "eps0": 0.05}):
            sweep = replace(default_sweep(study, key), points=2)
            final = last(study, what=what, sweep=sweep, randomiser=kind, outcomes=3, **values)
            shown = {s.key: s for s in final.series}
            assert set(shown) == set(ORDER)
            assert_order(final.series)
            assert shown["own_blanket"].role is Role.UPPER
            assert shown["own_blanket"].present.all()


def test_published_levels(study):
    for outcomes, expected in ((3, 0.0380013), (10, 0.0232534)):
        final = at(study, randomiser="krr", outcomes=outcomes, eps0=1.0, n=10_000, delta=1e-6)
        assert final.readout("own_blanket").value == pytest.approx(expected, rel=2e-5)
        assert final.readout("exact_2023").value == pytest.approx(0.0432062, abs=5e-8)
        assert evaluate_claim(final).series.key == "own_blanket"
    final = at(study, randomiser="rinf", eps0=1.0, n=10_000, delta=1e-6)
    assert final.readout("own_blanket").value == final.readout("exact_2023").value
    snapshots.check(" ".join(final.notes))


def test_few_clients_of_a_table_are_exact_and_that_is_claimed(study):
    table = "0.7 0.2 0.1; 0.1 0.2 0.7"
    final = at(study, randomiser="typed", table=table, n=6, delta=0.05)
    best = evaluate_claim(final)
    assert best.series.key == "own_exact"
    assert best.text.number == f"ε = {nearest(final.readout('own_exact').value)}"
    snapshots.check(best.text.promise)
    assert final.readout("own_exact").value < 0.99 * final.readout("own_blanket").value
    assert "ε₀ is 1.946" in " ".join(final.notes)
    again = at(study, randomiser="typed", table=table, n=6, delta=0.05, eps0=5.0)
    assert again.readout("own_exact").value == final.readout("own_exact").value


def test_a_table_with_an_impossible_output_has_no_general_bound(study):
    final = at(study, randomiser="typed", table="0.9 0.1 0; 0.85 0.1 0.05", n=1000, delta=1e-3)
    assert final.readout("exact_2023").value is None
    assert final.readout("own_blanket").value is None
    assert final.readout("own_blanket").note.startswith("infinite")
    assert evaluate_claim(final) is None
    better = at(study, randomiser="typed", table="0.9 0.1 0; 0.85 0.1 0.05", n=1000, delta=0.06)
    assert 0 <= better.readout("own_blanket").value < 0.1
    assert better.readout("own_ratio").value is None


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("0.5 0.5; 0.5 0.6", "typed table, row 2: its probabilities add up to 1.1, not 1; give"),
        ("0.5 0.5; 1.5 -0.5", "typed table, row 2, field 1: 1.5 is no probability; give numbers"),
        ("0.5 0.5", "typed table: 1 × 2 numbers; give a row for each"),
        ("", "typed table: "),
    ],
)
def test_bad_typed_tables_say_row_field_and_remedy(study, table, message):
    with pytest.raises(ValueError, match=message):
        at(study, randomiser="typed", table=table)


def _host(tmp_path, text):
    path = tmp_path / "mine.csv"
    path.write_text(text, encoding="utf-8")
    host = Context()
    return host, host.add_file(path)


@pytest.mark.parametrize(
    "text",
    [
        "0.6,0.2,0.2\n0.2,0.6,0.2\n0.2,0.2,0.6\n",
        "input,yes,no,none\na,0.6,0.2,0.2\nb,0.2,0.6,0.2\nc,0.2,0.2,0.6\n",
        "# ours\nyes;no;none\n0,6;0,2;0,2\n0,2;0,6;0,2\n0,2;0,2;0,6\n",
    ],
)
def test_tables_from_files_are_the_same_as_typed_ones(study, tmp_path, text):
    host, value = _host(tmp_path, text)
    found = at(study, host=host, randomiser="file", table_file=value, n=500)
    typed = at(study, randomiser="typed", n=500)
    for key in ("own_blanket", "own_ratio", "exact_2023"):
        assert found.readout(key).value == pytest.approx(typed.readout(key).value, rel=1e-9)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n0.5,0.5\n0.5,0.4\n", "mine.csv, line 3: its probabilities add up to 0.9, not 1; g"),
        ("0.5,0.5\n0.5,half\n", "mine.csv, line 2, field 2: 'half' is not a probability; give a"),
        ("0.5,0.5\n-0.5,1.5\n", "mine.csv, line 2, field 1: -0.5 is no probability; give num"),
        ("0.5,0.5\n0.5,0.25,0.25\n", "mine.csv, line 2: 3 probabilities where the first row"),
        ("a,b\n", "mine.csv"),
        ("", "mine.csv: there is no row; give a row of probabilities for each input"),
    ],
)
def test_bad_files_say_file_line_field_and_remedy(study, tmp_path, text, message):
    host, value = _host(tmp_path, text)
    with pytest.raises(ValueError, match=message):
        at(study, host=host, randomiser="file", table_file=value)


def test_without_a_file_the_general_bounds_stand_alone(study):
    final = at(study, randomiser="file")
    assert "open a CSV file" in final.readout("own_blanket").note
    assert evaluate_claim(final).series.key == "exact_2023"


def test_what_is_not_proved_is_said(study):
    final = at(study, randomiser="laplace")
    assert any("not proved" in c.text for c in final.conditions)
    snapshots.check(evaluate_claim(final).text.promise)
    assert "accountant" in " ".join(final.notes)


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "axis"), [("krr", "T"), ("privunit", "k"), ("krr", "n"), ("privunit", "eps0")]
)
def test_the_accountants_bound_of_one_randomiser_is_nowhere_above_the_clones(axis, kind):
    accountant = get_study("shuffle-rdp")
    sweep = replace(default_sweep(accountant, axis), points=2)
    final = last(accountant, what="own", sweep=sweep, randomiser=kind, outcomes=3)
    shown = {s.key: s for s in final.series}
    assert set(shown) == {"cap", "own", "numerical_upper"}
    both = shown["own"].present & shown["numerical_upper"].present
    assert both.any()
    assert np.all(shown["own"].y[both] <= shown["numerical_upper"].y[both] * (1 + 1e-9))
    best = evaluate_claim(final)
    assert best.series.key == "own"
    assert best.value < 0.95 * final.readout("numerical_upper").value
    assert any("run this randomiser" in c.text for c in final.conditions)
    snapshots.check(" ".join(final.notes))


def test_the_accountant_says_so_where_more_are_sampled_than_there_are():
    final = last(get_study("shuffle-rdp"), what="own", points=3, k=1000, n=100)
    assert not final.series[0].present.any()
    assert "lower k or raise n" in final.notes[0]
