"""Mechanisms of releases: parameters, user maps against plain ones, prices, what is shown."""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from explorer.privacy.heatmaps import all_codes, cumulative_floors
from explorer.privacy.noise.laplace_law import dlap_tail
from explorer.privacy.releases.means import DECIMAL_PLACES, user_value
from explorer.release.errors import ParameterError
from explorer.release.mechanisms import MECHANISMS, contributions, mechanism_of
from explorer.release.mechanisms.base import UserRecords
from explorer.release.mechanisms.fields import Area, Fields
from explorer.studies.heatmap.mechanisms import MECHANISMS as DEMONSTRATIONS
from tests.release.made_people import BOX, people_of, some_users

PARAMETERS: dict[str, dict[str, Any]] = {
    "heatmap.adaptive/1": {"box": BOX, "side": 16},
    "heatmap.adaptive/2": {"box": BOX, "side": 16},
    "heatmap.paper/1": {"box": BOX, "side": 16, "kept": 5},
    "heatmap.pyramid/1": {"box": BOX, "side": 16, "assumed_users": 100},
    "counts.cells/1": {"box": BOX, "side": 8, "end": "1970-01-01T00:10:00Z"},
    "count.users/1": {"start": "1970-01-01", "end": "2000-01-01T02:00:00+02:00"},
    "select.region/1": {"box": BOX, "grid": [3, 2], "chosen": 2},
    "histogram/1": {"value_column": "text", "edges": ["1", "2", "3"]},
    "mean/1": {"value_columns": ["number", "text"], "low": ["0", "1"], "high": ["3", "1e1"]},
}


def everywhere(**more: Any) -> Area:
    return Area.of(Fields("test", {"box": BOX} | more, ("box", "start", "end")), needs_box=True)


def test_the_table_is_the_specification():
    assert list(MECHANISMS) == [
        "heatmap.adaptive/1",
        "heatmap.adaptive/2",
        "heatmap.paper/1",
        "heatmap.pyramid/1",
        "counts.cells/1",
        "count.users/1",
        "select.region/1",
        "histogram/1",
        "mean/1",
    ]
    for name, mechanism in MECHANISMS.items():
        assert mechanism.id == name
        assert "Privacy\n    -------" in (type(mechanism).__doc__ or "")
    with pytest.raises(ParameterError, match=r"^id: "):
        mechanism_of("heatmap.adaptive/3")


def test_demonstrations_name_what_releases_them():
    named = {row.key: row.release for row in DEMONSTRATIONS.values() if row.release}
    assert named == {
        "adaptive": "heatmap.adaptive/1",
        "adaptive-prior": "heatmap.adaptive/2",
        "pyramid": "heatmap.paper/1",
        "least-squares": "heatmap.pyramid/1",
        "integers": "counts.cells/1",
    }
    assert set(named.values()) <= set(MECHANISMS)


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_state_every_default_and_are_read_again(name):
    mechanism = MECHANISMS[name]
    p = mechanism.parse(PARAMETERS[name])
    stated = p.as_parameters()
    assert mechanism.parse(json.loads(json.dumps(stated))) == p
    form = {"columns": ["user", "time", "lat", "lon", "text"], "delimiter": "tab"}
    assert mechanism.parse(stated | form) == p
    with pytest.raises(ParameterError, match=r"^seed: "):
        mechanism.parse(stated | {"seed": 1})


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("heatmap.adaptive/1", {"side": None}, "side: is missing"),
    ("heatmap.adaptive/1", {"side": 100}, "side: 100 is not a power of two"),
    ("heatmap.adaptive/1", {"side": True}, "side: True is not a whole number"),
    ("heatmap.adaptive/1", {"side": 4096}, "side: 4096 is not a whole number from 2 to 1024"),
    ("heatmap.adaptive/1", {"share": 0.3}, "share: 0.3 is not a fraction"),
    ("heatmap.adaptive/1", {"share": "1/0"}, "share: '1/0' is not a fraction"),
    ("heatmap.adaptive/1", {"share": "1_0/20"}, "share: '1_0/20' is not a fraction"),
    ("heatmap.adaptive/1", {"share": "1/1"}, "share: '1/1' is not between 0 and 1"),
    ("heatmap.adaptive/1", {"box": ["10", "20", "11"]}, "box: has 3 entries"),
    ("heatmap.adaptive/1", {"box": [10, 20, 11, 21]}, "box: 10 is not a text"),
    ("heatmap.adaptive/1", {"box": ["10", "20", "10", "21"]}, "box: has no area"),
    (
        "heatmap.adaptive/1",
        {"box": ["10", "20", "nan", "21"]},
        "box: has an entry that is not a decimal",
    ),
    ("heatmap.adaptive/1", {"box": ["10.00000001", "20", "11", "21"]}, "more than seven decimals"),
    ("heatmap.adaptive/1", {"box": ["-91", "20", "11", "21"]}, "south -91 is outside ±90"),
    ("heatmap.adaptive/1", {"start": "yesterday"}, "start: 'yesterday' is not a time"),
    ("heatmap.adaptive/1", {"start": "2020-01-01T00:00:00.5Z"}, "is not a whole second"),
    ("heatmap.adaptive/1", {"start": "2020-01-02", "end": "2020-01-02"}, "end: is not after"),
    ("heatmap.adaptive/1", {"units": 2**28 + 1}, "units: 268435457 is not a whole number"),
    ("heatmap.adaptive/1", {"units": 10**5000}, "units: a number of over 30 digits is no"),
    ("heatmap.pyramid/1", {"assumed_users": None}, "assumed_users: is missing"),
    ("select.region/1", {"grid": [1, 1]}, "grid: one region"),
    (
        "select.region/1",
        {"grid": [2, 1], "chosen": 2},
        "chosen: 2 is not a whole number from 1 to 1",
    ),
    ("select.region/1", {"grid": "22"}, "grid: '22' is not a list"),
    ("histogram/1", {"values": ["a"]}, "values: and edges are given"),
    ("histogram/1", {"edges": None}, "values: and edges are given, or neither"),
    ("histogram/1", {"edges": ["1", "1"]}, "edges: do not increase"),
    ("histogram/1", {"edges": None, "values": ["a", "a"]}, "values: are not all different"),
    ("histogram/1", {"value_column": ""}, "value_column: '' is not a text"),
    ("histogram/1", {"value_column": "user"}, "value_column: 'user' is not a column of texts"),
    (
        "mean/1",
        {"value_columns": ["number", "lat"]},
        "value_columns: 'lat' is not a column of texts",
    ),
    ("mean/1", {"low": ["0", "10"]}, "high: '1e1' of 'text' is not above low"),
    ("mean/1", {"value_columns": ["text", "text"]}, "not all different"),
]


@pytest.mark.parametrize(("name", "changed", "said"), REFUSED)
def test_what_can_not_be_used_is_refused_in_a_sentence(name, changed, said):
    with pytest.raises(ParameterError) as error:
        MECHANISMS[name].parse(PARAMETERS[name] | changed)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert error.value.remedy


def test_a_threshold_at_which_empty_trees_grow_is_refused():
    mechanism = MECHANISMS["heatmap.adaptive/1"]
    p = mechanism.parse(PARAMETERS["heatmap.adaptive/1"] | {"threshold": "1"})
    with pytest.raises(ParameterError, match=r"^threshold: 1 "):
        mechanism.parts(p, Fraction(1))


@pytest.mark.parametrize("name", PARAMETERS)
def test_prices_are_what_was_asked_and_parts_spend_them(name):
    """A single measurement spends all of it, several less by under 2⁻⁴⁰ each."""
    mechanism = MECHANISMS[name]
    p = mechanism.parse(PARAMETERS[name])
    for epsilon in (Fraction(1), Fraction(1, 3), Fraction(10**6, 7), Fraction(2**20 + 1, 2**41)):
        parts = mechanism.parts(p, epsilon)
        assert mechanism.price(p, epsilon) == epsilon
        assert all(part.epsilon > 0 for part in parts)
        if len(parts) == 1:
            assert parts[0].epsilon == epsilon
        else:
            assert 0 <= epsilon - sum(part.epsilon for part in parts) < Fraction(len(parts), 2**40)
            assert all((part.epsilon * 2**40).denominator == 1 for part in parts)
    for epsilon in (Fraction(0), Fraction(-1), Fraction(1, 2**41), Fraction(10**400)):
        with pytest.raises(ParameterError, match=r"^epsilon: "):
            mechanism.parts(p, epsilon)


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("heatmap.adaptive/1", {"start_level": 1, "last_level": 1}),
        ("heatmap.paper/1", {"last_level": 0}),
        ("heatmap.pyramid/1", {"start_level": 1, "assumed_users": 1}),
        ("select.region/1", {"chosen": 1}),
    ],
)
def test_one_level_or_choice_is_drawn_with_exactly_epsilon(name, changed):
    mechanism = MECHANISMS[name]
    p = mechanism.parse(PARAMETERS[name] | changed)
    (part,) = mechanism.parts(p, Fraction(1, 10))
    assert part.epsilon == Fraction(1, 10)
    output = mechanism.draw(people_of([[(0, 0, "")]]), p, Fraction(1, 10), os.urandom)
    mechanism.shown(output.stored, p, Fraction(1, 10))


@pytest.mark.parametrize("name", PARAMETERS)
def test_any_epsilon_and_nobody_at_all_make_an_output(name):
    mechanism = MECHANISMS[name]
    p = mechanism.parse(PARAMETERS[name])
    nobody = people_of([])
    few = people_of([[(0, 0, "1")], [(7, 7, "nan"), (1, 1, "1e9999")]])
    shapes = defaultdict(set)
    for records in (nobody, few):
        # Noise beyond 64 bits, and none to speak of.
        for epsilon in (Fraction(1, 2**30), Fraction(10**6)):
            output = mechanism.draw(records, p, epsilon, os.urandom)
            assert len(json.dumps(output.stored)) <= mechanism.max_output_bytes(p, epsilon)
            stored = json.loads(json.dumps(output.stored))
            assert stored == output.stored
            found = mechanism.shown(stored, p, epsilon)
            if found.grid is not None:
                assert found.grid.sum() == pytest.approx(1)
                assert found.grid.min() >= 0
            assert all(np.isfinite(value) for _, value in found.table)
            assert found.steps
            shapes[epsilon].add(output.shape)
    if "adaptive" not in name:
        assert all(len(one) == 1 for one in shapes.values())


def test_the_depth_follows_from_the_price():
    mechanism = MECHANISMS["heatmap.pyramid/1"]
    p = mechanism.parse({"box": BOX, "side": 256, "assumed_users": 3})
    # ε·n₀ = 2⁵ at ε = 32/3, which is no multiple of 2⁻⁴⁰.
    assert p.last(Fraction(32, 3)) == 3
    assert p.last(Fraction(32, 3) - Fraction(1, 2**60)) == 2
    assert [p.last(Fraction(2) ** k) for k in (0, 2, 3, 5, 7, 9)] == [2, 2, 2, 3, 4, 5]


def test_random_bytes_come_from_where_they_are_said_to():
    mechanism = MECHANISMS["count.users/1"]
    p = mechanism.parse({})
    records = people_of([[(0, 0, "")]] * 3)
    asked = []

    def given_bytes(count: int) -> bytes:
        asked.append(count)
        return np.random.default_rng(len(asked)).bytes(count)

    first = mechanism.draw(records, p, Fraction(1), given_bytes)
    again = list(asked)
    asked.clear()
    assert mechanism.draw(records, p, Fraction(1), given_bytes) == first
    assert again == asked
    with pytest.raises(ValueError, match="bytes: 7 came"):
        mechanism.draw(records, p, Fraction(1), lambda count: bytes(7))


TEXTS = ["1", "2.5", "-3", "x", "1e0", "", "2"]


def plain_rows(records: UserRecords, user: int, area: Area) -> list[int]:
    """Of a user, those in the box and the time range, one by one."""
    sides = area.edges
    found = []
    for row in range(int(records.starts[user]), int(records.starts[user + 1])):
        if sides is not None:
            lat, lon = int(records.lat[row]), int(records.lon[row])
            inside = sides.south <= lat <= sides.north and sides.west <= lon <= sides.east
            if not (records.placed[row] and inside):
                continue
        late = area.end is not None and records.time[row] >= area.end
        early = area.start is not None and records.time[row] < area.start
        if area.timed and (late or early or not records.timed[row]):
            continue
        found.append(row)
    return found


def plain_cell(
    records: UserRecords, row: int, area: Area, rows: int, columns: int
) -> tuple[int, int]:
    sides = area.edges
    y = Fraction(int(records.lat[row]) - sides.south, sides.north - sides.south) * rows
    x = Fraction(int(records.lon[row]) - sides.west, sides.east - sides.west) * columns
    return min(int(y), rows - 1), min(int(x), columns - 1)


@st.composite
def peoples(draw: Any) -> UserRecords:
    """People anywhere near the box, with rows that can't be read."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    each = rng.integers(0, 6, int(rng.integers(0, 7)))
    starts = np.concatenate([[0], np.cumsum(each)]).astype(np.int64)
    rows = int(starts[-1])
    lat = 100_000_000 + rng.integers(-1, 10, rows) * 1_000_000 + rng.integers(-1, 2, rows)
    lon = 200_000_000 + rng.integers(-1, 10, rows) * 1_000_000 + rng.integers(-1, 2, rows)
    placed, timed = rng.random(rows) < 0.9, rng.random(rows) < 0.9
    lat[~placed] = rng.choice([2**62, -(2**62), 0])
    texts = [None if k == len(TEXTS) else TEXTS[k] for k in rng.integers(0, 8, rows).tolist()]
    return UserRecords(
        starts,
        lat,
        lon,
        placed,
        rng.integers(-5, 5, rows),
        timed,
        {"text": texts, "number": texts[::-1]},
    )


@settings(deadline=None)
@given(peoples(), st.sampled_from([{}, {"start": "1970-01-01", "end": "1970-01-01T00:00:03Z"}]))
def test_user_maps_by_definition(records, times):
    area = everywhere(**times)
    B, level = 7, 3
    heat: Counter[int] = Counter()
    cells: Counter[int] = Counter()
    regions: Counter[tuple[int, int]] = Counter()
    bins = np.zeros(3, np.int64)
    sums, users, present = [0, 0], 0, 0
    code = all_codes(level)
    for user in range(records.users):
        rows = plain_rows(records, user, area)
        visits = Counter(int(code[plain_cell(records, row, area, 8, 8)]) for row in rows)
        ordered = sorted(visits)
        if rows:
            present += 1
            z = cumulative_floors(np.array([visits[c] for c in ordered]), B)
            heat.update(dict(zip(ordered, z.tolist(), strict=True)))
            cells[max(ordered, key=lambda c: (visits[c], -c))] += 1
        regions.update({plain_cell(records, row, area, 3, 2) for row in rows})
        texts, numbers = records.texts["text"], records.texts["number"]
        of_bin = Counter(
            {"1": 0, "2": 1}.get(texts[row], 2) for row in rows if texts[row] is not None
        )
        if of_bin:
            known = sorted(of_bin)
            bins[known] += cumulative_floors(np.array([of_bin[k] for k in known]), B)
        good = [
            row
            for row in rows
            if texts[row] not in (None, "x", "") and numbers[row] not in (None, "x", "")
        ]
        if good:
            users += 1
            for k, column in enumerate((texts, numbers)):
                y = user_value([column[row] for row in good], "0", "2.5", B)
                assert 0 <= y <= B
                sums[k] += 2 * y - B
    found = contributions.heatmap_counts(records, area, level, B)
    dense = found.at(level, np.arange(4**level))
    assert dense.tolist() == [heat[c] for c in range(4**level)]
    assert int(dense.sum()) == present * B
    once = contributions.one_cell_counts(records, area, level)
    assert once.tolist() == [cells[c] for c in range(4**level)]
    assert contributions.user_count(records, area).tolist() == [present]
    grid = contributions.region_counts(records, area, 3, 2)
    assert grid.tolist() == [regions[divmod(k, 2)] for k in range(6)]
    of = {"1": 0, "2": 1}
    histogram = contributions.bin_counts(records, area, "text", lambda t: of.get(t, 2), 3, B)
    assert histogram.tolist() == bins.tolist()
    bounds = [(0, 25 * 10 ** (DECIMAL_PLACES - 1))] * 2
    totals, count = contributions.mean_sums(records, area, ("text", "number"), bounds, B)
    assert totals.tolist() == sums
    assert count.tolist() == [users]


@settings(deadline=None)
@given(peoples(), st.sampled_from(sorted(PARAMETERS)), st.lists(st.text(max_size=60), max_size=4))
def test_nothing_in_a_row_stops_a_release(records, name, odd):
    texts = {
        column: [odd[k % len(odd)] if odd and k % 2 else text for k, text in enumerate(values)]
        for column, values in records.texts.items()
    }
    records = replace(records, texts=texts)
    mechanism = MECHANISMS[name]
    p = mechanism.parse(PARAMETERS[name])
    stored = mechanism.draw(records, p, Fraction(1), os.urandom).stored
    assert mechanism.shown(json.loads(json.dumps(stored)), p, Fraction(1)).steps


def test_numeric_bins_have_their_lower_edge_and_the_last_its_upper():
    p = MECHANISMS["histogram/1"].parse({"value_column": "x", "edges": ["-1", "0", "0.5"]})
    find = p.bin_of()
    texts = ["-1", "-0.0001", "0", "5e-1", "0.50000000000000000001", "-2", "1e40", "nan", "", "x"]
    assert [find(text) for text in texts] == [0, 0, 1, 1, 2, 2, 2, None, None, None]
    assert p.names == ("-1 to 0", "0 to 0.5", "other")
    assert p.count == 3


@pytest.mark.parametrize("name", PARAMETERS)
def test_expected_errors_are_quantiles_of_the_noise_alone(name):
    mechanism = MECHANISMS[name]
    p = mechanism.parse(PARAMETERS[name])
    rows = mechanism.expected_error(p, Fraction(1, 2))
    assert rows
    for row in rows:
        assert row.keys() == {"quantity", "half_width", "probability", "source"}
        assert type(row["half_width"]) is int
        assert row["probability"] == "19/20"
    if name == "count.users/1":
        half = rows[0]["half_width"]
        assert half == 6
        assert dlap_tail(Fraction(1, 2), 1, half + 1) <= 0.05 < dlap_tail(Fraction(1, 2), 1, half)


def test_the_table_of_the_noise_has_a_row_per_level_whose_epsilons_add_up():
    mechanism = MECHANISMS["heatmap.adaptive/1"]
    p = mechanism.parse(PARAMETERS[mechanism.id])
    epsilon = Fraction(1, 2)
    columns, rows = mechanism.noise_table(p, epsilon)
    assert [row[:2] for row in rows] == [("2", "4"), ("3", "8"), ("4", "16")]
    assert {len(row) for row in rows} == {len(columns)}
    # Rounded up: at most 10⁻⁴ above the exact sum on every path down the tree.
    first, last = [float(row[2]) for row in rows], [float(row[4]) for row in rows[:-1]]
    for level in range(len(rows)):
        path = sum(first[: level + 1]) + (last[level] if level < len(last) else 0)
        assert 0 <= path - epsilon <= 1e-4 * len(rows)
    widths = [row[place] for row in rows for place in (3, 5) if row[place] != "–"]
    expected = mechanism.expected_error(p, epsilon)
    assert widths == [f"{one['half_width']:,}" for one in expected]


def test_shown_maps_are_made_of_the_stored_numbers_alone():
    """With hardly any noise they are the true ones."""
    users = some_users(np.random.default_rng(4), 200, ["x"])
    records = people_of(users)
    epsilon = Fraction(10**7)
    exact = contributions.heatmap_counts(records, everywhere(), 4, 2**20)
    true = exact.at(4, all_codes(4)) / (200 * 2**20)
    for name in ("heatmap.adaptive/1", "heatmap.paper/1", "heatmap.pyramid/1"):
        mechanism = MECHANISMS[name]
        p = mechanism.parse(PARAMETERS[name] | ({"kept": 256} if "paper" in name else {}))
        output = mechanism.draw(records, p, epsilon, os.urandom)
        found = mechanism.shown(output.stored, p, epsilon)
        assert found.total == pytest.approx(200, rel=1e-3)
        assert np.abs(found.grid - true).sum() < 0.01


@pytest.mark.parametrize("name", ["heatmap.adaptive/1", "heatmap.paper/1"])
def test_a_stored_output_that_lacks_a_reading_is_not_shown(name):
    mechanism = MECHANISMS[name]
    p = mechanism.parse(PARAMETERS[name])
    records = people_of(some_users(np.random.default_rng(4), 50, ["x"]))
    stored = mechanism.draw(records, p, Fraction(5), os.urandom).stored
    with pytest.raises(ValueError, match="is missing"):
        mechanism.shown({"readings": stored["readings"][1:]}, p, Fraction(5))
