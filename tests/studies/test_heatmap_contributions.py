"""What users contribute to the map: settings, words, the curator's histogram, bias, declaration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer.figures.view_state import ViewState
from explorer.privacy.heatmaps import aggregate
from explorer.privacy.heatmaps.counts import Contribution
from explorer.privacy.heatmaps.evaluation import exact_distance
from explorer.studies.base.study import (
    Fidelity,
    Origin,
    Result,
    default_request,
    parameter,
    relevant,
)
from explorer.studies.heatmap.contributions import ALL, requested_rule
from explorer.studies.heatmap.experiments.error_curves import parameters_read_by
from explorer.studies.heatmap.experiments.trial import make_trial
from explorer.studies.heatmap.losses import doubling
from explorer.studies.heatmap.mechanisms import MECHANISMS, ONE_CELL_EACH
from explorer.studies.heatmap.public import public_result
from explorer.studies.heatmap.study import HeatmapStudy
from tests import snapshots
from tests.figures.samples import file_bytes
from tests.studies.test_heatmap import REGION, FakeContext, FakeData, answers, request_for

STUDY = HeatmapStudy()


def few_people() -> FakeData:
    """One user with five check-ins in two cells of 16 × 16, one with one, one with two in one."""
    data = FakeData(3)
    south, west, north, east = REGION.box
    user = np.array([0, 0, 0, 0, 0, 1, 2, 2])
    row = np.array([2, 2, 2, 2, 9, 9, 4, 4]) + 0.5
    column = np.array([3, 3, 3, 3, 9, 1, 14, 14]) + 0.5
    data._all = (user, south + row / 16 * (north - south), west + column / 16 * (east - west))
    return data


def at_rest(context: FakeContext | None = None, **values: object) -> Result:
    request = request_for(**{"resolution": 16, "sigma": 0.0, "fidelity": Fidelity.FULL, **values})
    return answers(request, context or FakeContext(few_people()))[-1]


@pytest.mark.parametrize(
    ("values", "cells"),
    [
        ({}, {(2, 3): 0.8, (9, 9): 0.2, (9, 1): 1.0, (4, 14): 1.0}),
        ({"weights": "cells"}, {(2, 3): 0.5, (9, 9): 0.5, (9, 1): 1.0, (4, 14): 1.0}),
        ({"weights": "one-cell"}, {(2, 3): 1.0, (9, 1): 1.0, (4, 14): 1.0}),
    ],
)
def test_the_true_map_is_made_by_the_rule(values: dict, cells: dict) -> None:
    shown = at_rest(**values).surface("true").values
    expected = np.zeros((16, 16))
    for cell, mass in cells.items():
        expected[cell] = mass / 3
    np.testing.assert_allclose(shown, expected, atol=1e-7)


def test_rules_share_nothing_that_is_kept() -> None:
    """One context, as the window's: another rule has another truth, and the first comes back."""
    context = FakeContext(FakeData(40))
    found = {}
    for values in ({}, {"weights": "cells"}, {"cap": 2}, {"weights": "one-cell"}, {}):
        last = at_rest(context, **values)
        key = tuple(values.items())
        truth = last.surface("true").values
        found.setdefault(key, truth)
        np.testing.assert_array_equal(truth, found[key])
        data = context.data._all
        counts = aggregate(*data, None, REGION.box, 4, requested_rule(last.request))
        np.testing.assert_allclose(truth, counts.grid() / counts.total, atol=1e-6)
    assert len({truth.tobytes() for truth in found.values()}) == 4


def test_all_is_no_cap() -> None:
    assert requested_rule(request_for()) == Contribution()
    assert requested_rule(request_for(cap=ALL - 1, weights="cells")) == Contribution(
        "cells", ALL - 1
    )


def test_whole_counts_follow_the_cap_and_need_no_remark_where_the_truth_is_made_so() -> None:
    context = FakeContext(FakeData(40))
    free = at_rest(context, mechanism="integers", epsilon=20.0)
    assert ONE_CELL_EACH in free.notes
    made_so = at_rest(context, mechanism="integers", epsilon=20.0, weights="one-cell")
    assert ONE_CELL_EACH not in made_so.notes
    assert any(note.startswith("Every user counts once") for note in made_so.notes)
    # Noise of scale 1/20 on whole counts is almost always 0: then nothing but the rule differs.
    assert made_so.readout("similarity").value == pytest.approx(1, abs=1e-3)
    assert free.readout("similarity").value < 0.95
    capped = at_rest(context, mechanism="integers", epsilon=20.0, weights="one-cell", cap=1)
    assert capped.readout("similarity").value == pytest.approx(1, abs=1e-3)
    assert (capped.surface("private").values != made_so.surface("private").values).any()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_guarantee_is_the_same_and_says_what_bounds_it(mechanism: str) -> None:
    plain = answers(request_for(mechanism=mechanism))[0]
    for weights, said in (("cells", "the cells they checked in to"), ("one-cell", "counts once")):
        found = answers(request_for(mechanism=mechanism, weights=weights, cap=7))[0]
        assert found.guarantee == plain.guarantee
        first = found.conditions[0]
        assert said in first.text or MECHANISMS[mechanism].weight == first.text
        assert first.holds is True
        if MECHANISMS[mechanism].comparable:
            snapshots.check(first.margin)
        chosen = next(c for c in found.conditions if "were chosen without" in c.text)
        assert ", p, k" in chosen.text
        assert chosen.holds is None
        assert "p, k" in chosen.margin


def test_the_histogram_counts_users_by_checkins_and_by_cells() -> None:
    (table,) = at_rest(weights="cells", cap=1).tables
    assert table.rows == ((1.0, 1.0, 1.0, 2.0), (2.0, 2.0, 1.0, 1.0), (3.0, 4.0, 0.0, 0.0),
                          (5.0, 8.0, 1.0, 0.0))  # fmt: skip
    snapshots.check(table.note)


def test_sizes_double_and_a_power_of_two_ends_its_row() -> None:
    assert doubling(np.array([1, 2, 3, 4, 5, 8, 9, 1024, 1025])).tolist() == [
        1, 1, 2, 2, 1, *[0] * 5, 1, 1,
    ]  # fmt: skip
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 2**40, 500)
    counted = doubling(sizes)
    for i, users in enumerate(counted):
        low, high = 2**i // 2 + 1, 2**i
        assert users == np.count_nonzero((sizes >= low) & (sizes <= high))


def test_the_bias_of_the_rule_is_told_apart_from_the_noise() -> None:
    assert "weights_bias" not in {item.key for item in at_rest().readouts}
    last = at_rest(weights="one-cell", epsilon=1.0)
    bias = last.readout("weights_bias")
    # A fifth of one of three users moves from (9, 9) to (2, 3): 7 + 6 cells of 16.
    assert bias.value == pytest.approx(0.2 / 3 * 13 / 16, rel=1e-6)
    assert bias.curator_only
    assert "0.054 of the side" in bias.note
    assert bias.note.startswith("One cell, the most visited: the true map")
    assert at_rest(weights="one-cell", epsilon=9.0).readout("weights_bias").value == bias.value
    nothing = at_rest(cap=5).readout("weights_bias")
    assert nothing.value == 0
    assert nothing.note.endswith("the true map is that of all check-ins.")
    truth, other = (at_rest(cap=cap).surface("true").values.astype(float) for cap in (2, ALL))
    found = exact_distance(truth / truth.sum(), other / other.sum())
    assert at_rest(cap=2).readout("weights_bias").value == pytest.approx(found.low, abs=1e-6)


def test_nothing_of_it_leaves_with_a_private_map() -> None:
    result = at_rest(FakeContext(FakeData(40)), weights="cells", cap=3)
    assert result.tables
    shown = public_result(result)
    assert shown.tables == ()
    assert "weights_bias" not in {item.key for item in shown.readouts}
    assert any("the cells they checked in to" in note for note in shown.notes)  # a setting
    values = dict(shown.request.values)
    assert (values["weights"], values["cap"]) == ("cells", 3)
    recipe = {"schema": "privacy-explorer-recipe/1"}
    for suffix in ("csv", "json"):
        both, alone = (
            file_bytes(result, ViewState.for_result(result, surfaces=keys), recipe, suffix)
            for keys in (("true", "private"), ("private",))
        )
        assert b"users with so many check-ins" in both
        for word in (b"so many", b"half of the", b"from the one by all check-ins"):
            assert word not in alone


def test_a_declaration_is_vouched_for_and_the_histogram_contradicts_it() -> None:
    last = at_rest(one_cell=True)
    (declared,) = (c for c in last.conditions if c.text.startswith("Every user is in one cell"))
    assert declared.holds is None
    assert not declared.of_guarantee
    snapshots.check(last.tables[0].note)
    assert "declared" not in at_rest().tables[0].note
    for kept in ({}, {"one_cell": True, "weights": "one-cell"}):
        assert not any("in one cell only" in c.text for c in at_rest(**kept).conditions)
    assert public_result(last).conditions == last.conditions


def test_whole_counts_are_recommended_where_everybody_is_in_one_cell() -> None:
    """Δ²a/(1−a²) ≤ .02·n₀ with a = e^{−ε}: at Δ = 64, n₀ = 200 from ε = 6.93 on."""
    assert 64**2 * np.exp(-6.93) / (1 - np.exp(-2 * 6.93)) > 4
    assert 64**2 * np.exp(-6.94) / (1 - np.exp(-2 * 6.94)) <= 4
    for known in ({"one_cell": True}, {"weights": "one-cell"}):
        little = STUDY.advice(request_for(epsilon=6.93, **known))
        enough = STUDY.advice(request_for(epsilon=6.94, **known))
        assert (little.value, enough.value) == ("adaptive", "integers")
        snapshots.check(enough.reason)
        more = STUDY.advice(request_for(epsilon=3.5, n0=100_000, **known))
        assert more.value == "integers"
    assert "as declared" in STUDY.advice(request_for(epsilon=9.0, one_cell=True)).reason
    assert "by the weights" in STUDY.advice(request_for(epsilon=9.0, weights="one-cell")).reason
    assert STUDY.advice(request_for(epsilon=20.0)).value == "adaptive"
    found = request_for(epsilon=9.0, one_cell=True)
    from_data = replace(found, selection=replace(found.selection, n0_from=Origin.EXTENT))
    assert STUDY.advice(from_data).value == "adaptive"  # n₀ must be typed
    # The map does not read it: its promise does not rest on where it came from.
    for request in (found, from_data):
        (settings,) = (c for c in answers(request)[0].conditions if c.text.startswith("ε, "))
        assert "n₀" not in settings.text
        assert settings.holds is not False


def test_the_assumed_number_of_users_is_asked_for_where_the_recommendation_reads_it() -> None:
    n0, declare = (parameter(STUDY, key) for key in ("n0", "one_cell"))
    values = dict(default_request(STUDY).values)
    assert not relevant(n0, values, "")
    assert relevant(n0, {**values, "one_cell": True}, "")
    assert relevant(n0, {**values, "weights": "one-cell"}, "")
    assert relevant(declare, values, "")
    assert not relevant(declare, {**values, "weights": "one-cell"}, "")


def test_a_trial_is_known_by_its_counts_and_not_by_the_rule() -> None:
    same = {"data": "d", "region": "r", "counts": "c", "sides_km": None, "draw": 0, "seed": 0}
    plain = make_trial(**same, values={"mechanism": "adaptive"})
    rule = {"weights": "one-cell", "cap": 3, "one_cell": True}
    assert make_trial(**same, values={"mechanism": "adaptive", **rule}) == plain
    assert {"weights", "cap"} <= parameters_read_by("adaptive")
