"""Shuffled histograms as a study: the spec's tables, order of bounds, dots, tables, words."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from explorer.privacy import histograms as hist
from explorer.privacy.core.bound import Role
from explorer.privacy.randomisers.tables import ExactCrowd, checked_table
from explorer.studies.base.claims import evaluate_claim, headline_of
from explorer.studies.base.numbers import nearest
from explorer.studies.base.parameters import table_rows
from explorer.studies.base.study import (
    Cancelled,
    Fidelity,
    Mark,
    Scale,
    Sweep,
    default_request,
    default_sweep,
)
from explorer.studies.registry import get_study
from explorer.studies.shuffled_histograms import own_column, simulation, tables
from explorer.studies.shuffled_histograms.tables import table1_rows
from tests import snapshots
from tests.studies.checks import assert_page, assert_sound, last
from tests.studies.context import Context
from tests.studies.walking import final_result

AXES = (
    [("error", k) for k in ("n", "d", "eps", "delta", "beta", "h")]
    + [("query", k) for k in ("n", "eps", "delta", "beta")]
    + [("rmse", k) for k in ("s", "n", "eps", "delta")]
    + [("noise", k) for k in ("n", "eps", "delta", "trusted")]
    + [("messages", k) for k in ("d", "n", "eps", "delta")]
    + [("loss", k) for k in ("adding", "n")]
)


@pytest.fixture(scope="module")
def study():
    return get_study("histograms")


@pytest.fixture(scope="module")
def host():
    """A context whose kept calibrations and tables serve all tests."""
    return Context()


def curves(result):
    return {s.key: s for s in result.series}


def at(study, host, what, **values):
    values = {"simulate": False, "levels": 2, "children": 2} | values
    return last(study, host, what, points=2, **values)


def test_every_axis_pair_is_tried(study):
    assert {(q.key, k) for q in study.quantities for k in q.sweeps} == {
        *AXES,
        ("users", "eps"),
        ("users", "delta"),
        ("run", "place"),
        ("tradeoff", "type1"),
    }


@pytest.mark.parametrize(("what", "key"), AXES)
@pytest.mark.parametrize("release", ["histogram", "count"])
def test_every_axis_over_its_whole_range(study, host, what, key, release):
    if release == "count" and key in ("d", "h"):
        return
    sweep = replace(default_sweep(study, key), points=5)
    small = {"levels": 2, "children": 2, "runs": 50, "release": release}
    shown = curves(last(study, host, what, sweep, **small))
    if what in ("error", "query"):
        tight, loose, paper = shown["tails"], shown["calibrated"], shown["paper"]
        both = np.isin(tight.x, loose.x[loose.present])
        assert np.all(tight.y[both] <= loose.y[loose.present] * (1 + 1e-12))
        there = np.isin(paper.x, loose.x[loose.present]) & paper.present
        within = np.isin(loose.x, paper.x[there])
        assert np.all(loose.y[within] <= paper.y[there])
    if what == "noise":
        less, more = shown["noise"], shown["paper_noise"]
        there = np.isin(more.x, less.x[less.present]) & more.present
        assert np.all(less.y[np.isin(less.x, more.x[there])] < more.y[there])
    if what == "messages":
        assert np.all(shown["messages"].y[shown["messages"].present] <= 1 + 1e15)


@pytest.mark.parametrize(
    ("release", "eps", "n", "noise"),
    [
        ("count", 1.0, 200, 34.98),
        ("count", 1.0, 1000, 34.00),
        ("count", 1.0, 10**5, 34.07),
        ("count", 0.5, 400, 105.4),
        ("count", 0.5, 10**4, 90.28),
        ("histogram", 1.0, 200, 51.6),
        ("histogram", 1.0, 10**4, 42.75),
        ("histogram", 1.0, 10**5, 42.66),
        ("histogram", 0.5, 1000, 158.4),
        ("histogram", 0.5, 10**5, 136.25),
    ],
)
def test_smallest_noise(study, host, release, eps, n, noise):
    final = at(study, host, "noise", release=release, eps=eps, n=n)
    digits = 10.0 ** -len(str(noise).partition(".")[2])
    assert final.readout("noise").value == pytest.approx(noise, abs=0.6 * digits)
    q = final.readout("noise").value / n
    exact = hist.histogram_delta if release == "histogram" else hist.count_delta
    assert exact(eps, n, q) <= 1e-6 * (1 + 1e-6)


@pytest.mark.parametrize(
    ("release", "eps", "n", "paper"),
    [
        ("count", 1.0, 10**5, 725),
        ("count", 0.5, 10**5, 2902),
        ("histogram", 1.0, 10**5, 3040),
        ("histogram", 0.5, 10**5, 12161),
    ],
)
def test_the_papers_noise(study, host, release, eps, n, paper):
    final = at(study, host, "noise", release=release, eps=eps, n=n)
    assert final.readout("paper_noise").value == pytest.approx(paper, abs=0.6)


def test_too_few_users_say_so(study, host):
    final = at(study, host, "noise", release="histogram", eps=0.5, n=400)
    assert final.readout("noise").value is None
    assert "too few users" in final.readout("noise").note
    assert final.guarantee is None
    assert final.conditions[0].holds is False
    assert any("raise n" in note for note in final.notes)
    table = {row[0]: row[1] for row in final.tables[0].rows}
    assert table["P_hist, calibrated exactly"] is None
    assert table["central: Laplace"] > 0


@pytest.mark.full
def test_least_users(study, host):
    sweep = Sweep("eps", 0.5, 1.0, 2)
    final = last(study, host, "users", sweep, release="count", levels=2, children=2)
    shown = curves(final)
    assert shown["users"].y.tolist() == [268, 80]
    assert shown["paper_users"].y.tolist() == [5804, 1451]
    for eps, n in zip(shown["users"].x, shown["users"].y, strict=True):
        assert hist.calibrate(eps, 1e-6, n, "count").feasible
        assert not hist.calibrate(eps, 1e-6, n - 1, "count").feasible
    request = replace(default_request(study, levels=2), quantity="users", sweep=sweep)
    shares = [r.progress for r in study.answer(request, Context())]
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_missing_users(study, host):
    """The spec's ×2.8 for 10 % and ×228 for 50 %; calibrated for those who come it is 1e-6."""
    for adding, factor, two_bins in ((0.9, 2.85, 2.829), (0.5, 228, 222.7)):
        count = at(study, host, "loss", adding=adding, release="count")
        assert count.readout("loss").value == pytest.approx(factor * 1e-6, rel=2e-3)
        final = at(study, host, "loss", adding=adding)
        assert final.readout("loss").value == pytest.approx(two_bins * 1e-6, rel=2e-3)
        assert f"only {10_000 * adding:,.0f} users add noise" in final.guarantee.replace_one
        assert f"{10_000 * adding - 1:,.0f} of the others" in final.guarantee.trust
        broken = next(c for c in final.conditions if "really add" in c.text)
        assert broken.holds is False
        assert f"{10_000 * adding:,.0f} do; δ is " in broken.margin or adding > 0.8
        safe = at(study, host, "loss", adding=adding, trusted=adding)
        assert safe.readout("loss").value == pytest.approx(1e-6, rel=1e-6)
        assert next(c for c in safe.conditions if "really add" in c.text).holds is True
    all_do = at(study, host, "loss", adding=1.0)
    assert "only" not in all_do.guarantee.replace_one
    assert "10,000 users add noise" in all_do.guarantee.replace_one
    more = at(study, host, "noise", trusted=0.5).readout("noise").value
    assert more > 1.9 * at(study, host, "noise").readout("noise").value


def test_leaving_users_are_not_covered_and_the_guarantee_says_by_how_much(study, host):
    said = at(study, host, "noise", release="count").guarantee.add_remove
    q = 34.0677 / 10_000
    exact = hist.count_delta(1.0, 10_000, 1 - q, "addremove")
    assert exact == pytest.approx(1.4e-3, rel=0.05)
    assert "0.0014" in said


def test_bounds_are_those_of_the_mathematics(study, host):
    final = at(study, host, "error", n=20_000, h=50, beta=0.1, d=500)
    found = hist.calibrate(1.0, 1e-6, 20_000)
    bound = hist.simultaneous_error(20_000, found.p, 0.1, 50)
    assert final.readout("calibrated").value == pytest.approx(float(bound.value), rel=1e-12)
    local = hist.local_error(20_000, 500, 1.0, 0.1)
    assert final.readout("local").value == pytest.approx(float(local.value), rel=1e-12)
    central = hist.central_error(20_000, 500, 1.0, 0.1)
    assert final.readout("central").value == float(central.value)
    table = table1_rows(20_000, 500, 1.0, 1e-6, 0.1)
    for row, key in (
        (table[0], "local_order"),
        (table[1], "cheu_order"),
        (table[-1], "central_order"),
    ):
        assert final.readout(key).value == pytest.approx(float(row.value.value), rel=1e-12)
        assert final.readout(key).role is Role.ESTIMATE
    assert final.readout("central").role is Role.EXACT
    law = hist.error_law(20_000, found.p, 60)
    shown = at(study, host, "rmse", n=20_000, s=60)
    assert shown.readout("rmse").value == pytest.approx(law.rmse, rel=1e-12)
    assert shown.readout("bias").value == pytest.approx(abs(law.bias), rel=1e-12)


@pytest.mark.parametrize(
    ("what", "release", "key", "level", "share"),
    [
        ("error", "histogram", "printed", 0.5, 20_000),
        ("query", "histogram", "printed_one", 0.5, 1),
        ("error", "count", "printed_one", 1.0, 1),
        ("query", "count", "printed_one", 1.0, 1),
    ],
)
def test_the_printed_error_is_a_curve_of_its_own(study, host, what, release, key, level, share):
    """Theorem 3.1(ii) with its constants, and 3.2 by it: β/n at any h (errata hist-B2, hist-B6)."""
    final = at(study, host, what, n=20_000, h=50, beta=0.1, release=release)
    asked = hist.printed_error(level, level * 1e-6, 20_000, 0.1 / share)
    shown = final.readout(key)
    assert shown.value == pytest.approx(float(asked.value), rel=1e-12)
    assert shown.role is Role.UPPER
    assert "as printed" in shown.label
    assert "3.2(ii" in shown.label or release == "count"
    assert shown.value > final.readout("paper").value
    few = at(study, host, what, n=500, release=release).readout(key)
    assert few.value is None
    snapshots.check(few.note)


def test_the_largest_error_rests_on_how_many_values_occur(study, host):
    def occurring(**values):
        final = at(study, host, "error", **values)
        return final, [c for c in final.conditions if "different values occur" in c.text]

    final, (assumed,) = occurring(h=100)
    assert assumed.holds is None
    snapshots.check(assumed.margin)
    # With as many as n and d allow nothing is assumed, beyond 100,000 too.
    most, (known,) = occurring(h=10**9, n=10**6, d=10**6)
    assert known.holds is True
    q = hist.calibrate(1.0, 1e-6, 10**6).p
    every = hist.simultaneous_error(10**6, q, 0.05)
    assert most.readout("calibrated").value == pytest.approx(float(every.value), rel=1e-12)
    assert final.tables[0].note.count("h = 100 values occur") == 1
    assert not occurring(release="count")[1]
    assert not [c for c in at(study, host, "query").conditions if "values occur" in c.text]
    assert any("h different values" in text for text in study.page.assumptions)


@pytest.mark.parametrize(
    ("what", "release", "shared"),
    [
        ("error", "histogram", True),
        ("error", "count", False),
        ("query", "histogram", False),
        ("query", "count", False),
    ],
)
def test_beta_is_shared_in_words_where_it_is_in_numbers(study, host, what, release, shared):
    sweep = Sweep("n", 10, 1e5, 3, Scale.LOG)
    final = last(
        study, host, what, sweep, release=release, beta=1e-9, delta=0.1, eps=5.0, simulate=False
    )
    condition = next(c for c in final.conditions if "β" in c.text)
    curve = curves(final)["calibrated"]
    share = 1e-9 / (100 if shared else 1)
    assert condition.margin.startswith(f"{nearest(math.log(2 / share))} of")
    for text in (condition.text, curve.note, curve.undefined_reason):
        assert ("2h/β" in text) is shared
        assert ("2/β" in text) is not shared


def test_a_bias_that_does_not_matter_leaves_the_plot_but_not_the_numbers(study, host):
    sweep = Sweep("s", 1, 1e4, 30, Scale.LOG)
    final = last(study, host, "rmse", sweep, simulate=False, levels=2, children=2)
    bias, rmse = curves(final)["bias"], curves(final)["rmse"]
    assert 0 < np.sum(bias.present) < 30
    assert np.all(bias.y[bias.present] >= 1e-3 * rmse.y[bias.present])
    assert "a thousandth" in bias.undefined_reason
    assert 0 < final.readout("bias").value < 1e-60


def test_conditions_of_single_curves_say_so(study, host):
    """The paper's constants fail here; the guarantee, by the exact δ, does not."""
    final = at(study, host, "error", n=500)
    failing = [c for c in final.conditions if c.holds is False]
    assert failing
    assert all("not for the guarantee" in c.text for c in failing)
    assert not any(c.of_guarantee for c in failing)
    assert final.guarantee is not None


def test_the_error_does_not_depend_on_the_domain(study, host):
    sweep = Sweep("d", 200, 1e15, 5, Scale.LOG)
    shown = curves(last(study, host, "error", sweep, simulate=False, levels=2))
    assert np.ptp(shown["calibrated"].y) == 0
    assert np.ptp(shown["stable"].y) == 0
    for key in ("local", "central", "local_order"):
        assert np.all(np.diff(shown[key].y) > 0), key
    assert "order" in shown["local_order"].note
    assert "order only" in shown["local_order"].label


def test_a_beta_too_small_for_the_noise_is_absent_with_its_reason(study, host):
    final = at(study, host, "error", beta=1e-9, eps=5.0, delta=0.1, h=10_000)
    assert final.readout("calibrated").value is None
    assert "β is too small" in final.readout("calibrated").note
    # Exact tails need no such condition.
    assert final.readout("tails").value > 0
    assert next(c for c in final.conditions if "β" in c.text).holds is False


def test_calibrations_that_were_not_searched_for_humps_are_marked(study, host):
    wide = at(study, host, "noise", n=200_000, eps=0.1, delta=1e-6, trusted=0.55)
    assert "certified" in wide.readout("noise").note
    assert "certified" not in at(study, host, "noise").readout("noise").note


@pytest.mark.full
@pytest.mark.parametrize(
    ("what", "shape"), [("error", "zipf"), ("error", "edge"), ("query", "even"), ("rmse", "edge")]
)
def test_dots_lie_where_the_theory_says(study, what, shape):
    """Each of the at most 8 intervals misses with probability 0.01 (seed fixed, so none does)."""
    sweep = Sweep("n", 500, 1e6, 5, Scale.LOG)
    final = last(study, Context(), what, sweep, shape=shape, s=60, h=20, runs=400, levels=2)
    shown = curves(final)
    dots = shown["simulated"]
    assert dots.mark is Mark.DOTS
    assert dots.role is Role.ESTIMATE
    assert dots.present.all()
    where = np.isin(shown["tails" if what != "rmse" else "rmse"].x, dots.x)
    if what == "rmse":
        exact = shown["rmse"].y[where]
        assert np.all(dots.low <= exact)
        assert np.all(exact <= dots.high)
    else:
        assert np.all(dots.low <= shown["tails"].y[where])
        assert np.all(dots.y <= shown["calibrated"].y[where])
        # And not absurdly far below: the bound is of the right order.
        assert np.all(dots.y >= 0.1 * shown["tails"].y[where])


@pytest.mark.full
def test_dots_are_seeded_and_run_in_the_worker(study):
    sweep = Sweep("n", 1000, 1e5, 3, Scale.LOG)
    request = replace(
        default_request(study, runs=50, levels=2), quantity="error", sweep=sweep, seed=7
    )
    hosts = [Context(), Context()]
    first, second = (curves(final_result(study, request, h))["simulated"] for h in hosts)
    np.testing.assert_array_equal(first.y, second.y)
    other = final_result(study, replace(request, seed=8), Context())
    assert not np.array_equal(curves(other)["simulated"].y, first.y)
    assert "largest_errors" in hosts[0].heavy_calls
    shares = [r.progress for r in study.answer(request, Context()) if r.progress]
    assert shares == sorted(shares)


def test_runs_too_few_for_beta_are_reported(study, host):
    final = last(
        study, host, "error", Sweep("n", 1000, 1e4, 2), runs=50, beta=0.001, levels=2, children=2
    )
    dots = curves(final)["simulated"]
    assert not dots.present.any()
    assert "raise R" in dots.undefined_reason


def test_quantile_intervals_cover_at_their_rate():
    """1000 intervals at 99 %: fewer than 975 hits has probability below 1e-5."""
    rng = np.random.default_rng(3)
    hits = 0
    for values in rng.random((1000, 200)):
        dot = simulation.quantile_dot(values, 0.9)
        hits += dot.low <= 0.9 <= dot.high
        assert dot.low <= dot.value <= dot.high
    assert hits >= 975


def test_simulated_data_add_up():
    for shape in ("zipf", "even"):
        for n, h in ((10, 10), (1000, 7), (12345, 100)):
            counts = simulation.counts_of(shape, n, h, 43.0)
            assert counts.sum() == n
            assert counts.size <= h
            assert counts.min() >= 1
    edge = simulation.counts_of("edge", 1000, 100, 43.0)
    assert edge.sum() == 1000
    assert np.sum(edge == 43) >= 20
    assert simulation.counts_of("edge", 10, 1, 43.0).tolist() == [10]


def test_tables(study, host):
    final = last(
        study, host, "error", points=2, simulate=False, levels=4, children=3, length=50, crowd=3
    )
    tables = {t.key: t for t in final.tables}
    assert list(tables) == ["table1", "table2", "separation", "reductions", "views", "one_by_one"]
    told = dict(tables["one_by_one"].rows)
    letters = [told[f"user {i}, bin {b}"] for i, b in ((1, "A"), (2, "B"), (3, "A"))]
    shuffled = told["shuffler: all in random order"].split()
    assert sorted(" ".join(letters).split()) == sorted(shuffled)
    for letter, true in (("A", 2 / 3), ("B", 1 / 3)):
        own = hist.count_analyzer(np.zeros(shuffled.count(letter)), 3, 0.75)
        assert told[f"analyzer: bin {letter}"].startswith(nearest(own))
        assert nearest(true) in told[f"analyzer: bin {letter}"]
    assert "Empty" not in tables["table2"].note
    assert all(row[2] is not None for row in tables["table2"].rows)
    first = {row[0]: row for row in tables["table1"].rows}
    assert first["P_hist, calibrated exactly"][1] == final.readout("calibrated").value
    assert first["local, the paper's [3] (order only)"][2] == "order only"
    assert first["P_hist, calibrated exactly"][3] == pytest.approx(1 + 1000 * (1 - 42.7468e-4))
    second = {(row[0], row[1]): row[2] for row in tables["table2"].rows}
    assert second["pointer chasing", "shuffled: P_hist, calibrated exactly"] == 320
    assert second["pointer chasing", "shuffled: P_hist, the paper's constants"] == 13633
    solved = {row[0]: row for row in tables["reductions"].rows}
    # Each run fails with probability below 0.01: more than 3 of 20 with less than 1e-4.
    assert len(solved) == 3
    assert all(row[4] >= 17 for row in solved.values())
    assert solved["pointer chasing PC(2, 50)"][1] == 320
    views = {row[0]: row for row in tables["views"].rows}
    single = views["randomised response, truth with 3/4"]
    assert single[1] == single[3] == pytest.approx(math.log(3))
    assert single[5] == "yes"
    never = views["R∞: sends x, then 1−x"]
    assert (never[1], never[3]) == ("∞", 0.0)
    gap = views["R_gap: four bits, never two 1s for x = 1"]
    assert gap[1] == gap[2] == "∞"
    assert gap[3] == pytest.approx(0.66943, abs=1e-5)
    assert views["P_zsum, p = 3/4"][3] == "∞"
    assert views["P_zsum, p = 3/4"][4] > 0


@pytest.mark.full
def test_a_randomiser_of_the_user_stands_in_the_table_of_views(study):
    """Theorem 4.1 and Claim 4.2: shuffled it is no purer, and the analyzer could shuffle itself."""
    values = {"simulate": False, "crowd": 3, "own": "typed"}
    for typed, local in (
        ("0.7 0.2 0.1; 0.1 0.2 0.7", math.log(7)),
        ("0.5 0.5 0; 0.25 0.25 0.5", None),
    ):
        final = last(study, None, "error", points=2, own_table=typed, **values)
        row = next(t for t in final.tables if t.key == "views").rows[-1]
        assert row[0] == "your own randomiser"
        if local is None:
            assert row[1:4] == ("∞", "∞", "∞")
        else:
            assert row[1] == pytest.approx(local, rel=1e-12)
            assert row[3] >= row[1] * (1 - 1e-12)
            listed = ExactCrowd(checked_table(table_rows(typed, "")), 3)
            assert row[4] == pytest.approx(listed.delta(1.0), rel=1e-9)
        assert row[5] == "yes"
    with pytest.raises(ValueError, match=r"row 2: .* 0\.9"):
        last(study, None, "error", points=2, own_table="0.5 0.5; 0.5 0.4", **values)
    with pytest.raises(ValueError, match=r"at most 4 and 6"):
        last(study, None, "error", points=2, own_table="0.2 0.8;" * 5, **values)


@pytest.mark.parametrize("order", [True, False])
def test_a_randomiser_of_several_messages_may_be_pure_only_when_shuffled(study, order):
    """Claim 4.3's randomiser, typed, is that of the paper; so is P_zsum's."""
    table, sends, law = (
        ("1 0; 0 1", "1 2; 2 1", hist.r_infinity())
        if order
        else ("1/4 3/4 0; 0 1/4 3/4", "0 0; 1 0; 1 1", hist.zsum_randomizer(Fraction(3, 4)))
    )
    own = tables.own_randomiser(np.array(table_rows(table, "table")), table_rows(sends, "messages"))
    assert hist.privacy_of_views(own, 3) == hist.privacy_of_views(law, 3)
    row = tables.views(3, own).rows[-1]
    assert row[4] == pytest.approx(hist.shuffled_delta(law, 3, 1.0), rel=1e-12)
    if order:
        asked = {"own": "typed", "own_table": table, "own_messages": sends, "simulate": False}
        final = last(study, None, "error", points=2, crowd=3, **asked)
        assert next(t for t in final.tables if t.key == "views").rows[-1] == row
        assert row[1:4] == ("∞", 0.0, 0.0)


@pytest.mark.parametrize(
    ("sends", "why"),
    [("1", "1 rows, and"), ("1; 1/2", "row 2: messages"), ("1 1 1 1 1; 1 1 1 1 1", "5 messages")],
)
def test_messages_that_no_output_can_have_are_refused(sends, why):
    with pytest.raises(ValueError, match=why):
        tables.own_randomiser(np.eye(2), table_rows(sends, "messages"))


def _column(tmp_path, context, heading, values):
    path = tmp_path / "users.csv"
    path.write_text("\n".join((f"id,{heading}", *(f"7,{v}" for v in values))) + "\n", "utf-8")
    return {"column_file": context.add_file(path), "column": 2}


def _run(study, context, **values):
    return last(study, context, "run", sweep=Sweep("place", 0.0, 1.0, 5, Scale.LINEAR), **values)


def test_a_run_on_an_own_column_shows_its_three_steps_and_errors(study, tmp_path):
    context, values = Context(), ["yes", "no", "no", "?"] * 500
    asked = _column(tmp_path, context, "smoker [yes|no|former]", values)
    result = _run(study, context, **asked)
    steps, by_bin = result.tables
    users = {row[0]: row for row in by_bin.rows}
    assert [users[b][1] for b in ("yes", "no", "former", "other")] == [500, 1000, 0, 500]
    n, p = 2000, 1 - result.readout("q").value
    for row in by_bin.rows:
        assert row[3] == hist.estimates(np.array([int(row[2])]), n, p)[0]
        assert row[5] == pytest.approx(row[3] - row[1] / n, abs=1e-15)
        assert abs(row[5]) <= result.readout("margin").value
    assert users["former"][3] == 0.0
    told = dict(steps.rows)
    for i, value in enumerate(("yes", "no", "no", "other"), 1):
        assert value in told[f"randomiser: user {i}, {value}"].split(", ")
    total = sum(row[2] for row in by_bin.rows)
    assert told["shuffler: all messages in random order"].endswith(f"{total - 20:,.0f} more")
    assert result.curator_only
    assert result.readout("largest").curator_only
    assert [c.holds for c in result.conditions][-1] is None
    truth = next(s for s in result.series if s.key == "truth")
    assert truth.y.tolist() == [0.25, 0.5, 0.0, 0.25]
    snapshots.check("\n".join(result.notes))


def test_bins_that_were_taken_from_the_file_are_not_public(study, tmp_path):
    context = Context()
    asked = _column(tmp_path, context, "city", ["A", "B", "B"] * 200)
    result = _run(study, context, **asked)
    assert [row[0] for row in result.tables[1].rows] == ["A", "B"]
    assert result.conditions[-1].holds is False
    asked = _column(tmp_path, context, "age [0:120]", ["5", "130", "x"] * 200)
    result = _run(study, context, column_bins=4, **asked)
    assert [row[:2] for row in result.tables[1].rows] == [
        ("0 to 30", 200),
        ("30 to 60", 0),
        ("60 to 90", 0),
        ("90 to 120", 0),
        ("other", 400),
    ]


@pytest.mark.full
def test_messages_of_a_run_have_the_law_of_the_protocol():
    own = own_column.OwnColumn(("a", "b", "c"), (3, 2, 1), (0, 1, 0), True, "", "")
    values, p, runs = np.array([0, 0, 0, 1, 1, 2]), 0.6, 1500
    rng = np.random.default_rng(5)

    def sent():
        return hist.histogram_randomizer(values, 3, p, rng)

    whole = np.array(
        [
            np.bincount(
                hist.shuffler(hist.histogram_randomizer(values, 3, p, rng), rng), minlength=3
            )
            for _ in range(runs)
        ]
    )
    drawn = np.array([own_column.run(own, p, seed).received for seed in range(runs)])
    error = np.sqrt(6 * p * (1 - p) * 2 / runs)
    assert np.all(np.abs(whole.mean(axis=0) - drawn.mean(axis=0)) <= 4.5 * error)
    assert drawn.var(axis=0) == pytest.approx(6 * p * (1 - p), rel=0.12)
    assert np.abs(np.corrcoef(drawn.T) - np.eye(3)).max() < 0.13
    one = own_column.run(own, p, 1)
    assert all(one.received >= np.bincount(np.concatenate(one.sent), minlength=3))
    assert len(one.order) == min(20, one.received.sum())


def test_without_a_file_a_run_is_on_synthetic_users(study):
    result = _run(study, Context(), n=300, d=7)
    assert result.readout("users").value == 300
    assert len(result.tables[1].rows) == 7
    assert not result.curator_only
    few = _run(study, Context(), n=10, d=7)
    assert few.tables == ()
    assert few.guarantee is None


def test_the_lower_bounds_of_table_2_keep_their_conditions(study, host):
    final = last(study, host, "error", points=2, simulate=False)
    table = next(t for t in final.tables if t.key == "table2")
    scope = table.columns.index("holds for")
    local = {row[0]: row[scope] for row in table.rows if row[1].startswith("local")}
    assert local == {
        "pointer chasing": "k = 2, no interaction",
        "pointer jumping": "s = h⁴, sequentially interactive or not",
    }
    assert all(row[scope] for row in table.rows)


def test_the_defaults_show_the_separation(study, host):
    """Theorem 1.2: the local column has slope 1 in ℓ, the shuffled ones slope 0."""
    final = last(study, host, "error", points=2, simulate=False)
    table = next(t for t in final.tables if t.key == "separation")
    lengths, local, *shuffled = zip(*table.rows, strict=True)
    assert lengths == (1e2, 1e4, 1e6, 1e8)
    np.testing.assert_allclose(np.diff(np.log(local)), np.diff(np.log(lengths)))
    assert shuffled == [(13633,) * 4, (320,) * 4]
    assert local[-1] > 1000 * shuffled[0][-1]
    assert "order only" in table.columns[1]
    assert "means nothing" in table.note
    beyond = last(study, host, "error", points=2, simulate=False, eps=2.0, delta=2e-6)
    beyond = next(t for t in beyond.tables if t.key == "separation")
    assert [row[1:3] for row in beyond.rows] == [(None, 3631)] * 4
    assert "Empty" in beyond.note


@pytest.mark.parametrize("beta", [1.5e-8, 1e-3, 0.05, 0.3])
def test_a_headline_is_not_more_certain_than_its_bound(study, host, beta):
    result = at(study, host, "query", beta=beta)
    text = headline_of(study, result, evaluate_claim(result)).text
    runs = float(re.search(r"in (\S+) of 100 runs", text)[1])
    assert 100 * (1 - beta) - 0.01 <= runs <= 100 * (1 - beta) < 100


def test_headline_samples_of_the_paper(study, host):
    """Errata hist-A3: 3631, 18972 and 197208 users for h = 2, 10, 100 run at (1, 1e-6)."""
    final = at(study, host, "error", eps=2.0, delta=2e-6, levels=10, children=2)
    second = {(row[0], row[1]): row[2] for row in final.tables[1].rows}
    assert second["pointer chasing", "shuffled: P_hist, the paper's constants"] == 3631
    assert second["pointer jumping", "shuffled: P_hist, the paper's constants"] == 18972


def test_the_guarantee_moves_with_the_sliders(study, host):
    weak, strong = (at(study, host, "noise", eps=e).guarantee for e in (3.0, 0.5))
    assert weak.sentence != strong.sentence
    assert "replaced" in weak.replace_one
    assert "how many messages" in weak.trust
    assert any("71.1 times" in d for d in at(study, host, "error").guarantee.differences)


def test_coarse_alone_and_cancelled_when_asked(study):
    request = replace(default_request(study), fidelity=Fidelity.COARSE)
    for what in ("error", "users"):
        asked = replace(request, quantity=what, sweep=Sweep("eps", 0.5, 1.0, 9))
        results = list(study.answer(asked, Context()))
        assert [(r.fidelity, r.complete) for r in results] == [(Fidelity.COARSE, True)]
        assert_sound(results[0])
    with pytest.raises(Cancelled):
        list(study.answer(default_request(study), Context(stop_after=12)))


def test_the_page(study):
    assert_page(study)
