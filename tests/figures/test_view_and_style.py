import os
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.figures import captions
from explorer.figures.colour_maps import COLOUR_MAPS, colour_table
from explorer.figures.pages.page_layout import drawable, width_in_ems, wrap
from explorer.figures.style import DASHES, THEMES, WIDTHS, series_styles, theme
from explorer.figures.view_state import ViewState
from explorer.privacy.core.bound import Role
from explorer.studies.base.study import Kind, Parameter, ScalarResult
from explorer.studies.registry import get_study, study_ids
from tests.figures.samples import curves, maps, series

finite = st.floats(-1e6, 1e6)
ranges = st.one_of(st.none(), st.tuples(finite, finite).filter(lambda r: r[0] < r[1]))
views = st.builds(
    ViewState,
    title=st.text(max_size=40),
    theme=st.sampled_from(sorted(THEMES)),
    x_range=ranges,
    y_range=ranges,
    x_log=st.booleans(),
    y_log=st.booleans(),
    hidden=st.lists(st.text(max_size=9), max_size=5).map(tuple),
    surfaces=st.lists(st.sampled_from(["true", "private", "ü"]), max_size=3).map(tuple),
    colour_map=st.sampled_from(COLOUR_MAPS),
    linked_scale=st.booleans(),
    map_box=st.one_of(st.none(), st.just((40.0, -74.5, 41.0, -73.5))),
    show_basemap=st.booleans(),
    show_cities=st.booleans(),
    show_contributions=st.booleans(),
)


@given(views)
def test_views_survive_json(view):
    import json

    assert ViewState.from_dict(json.loads(json.dumps(view.to_dict()))) == view


def test_views_of_other_programs_are_read_as_far_as_known():
    assert ViewState.from_dict({}) == ViewState()
    assert ViewState.from_dict({"hologram": 3, "theme": "dark"}) == ViewState(theme="dark")


@pytest.mark.parametrize(
    "raw",
    [
        {"theme": "sepia"},
        {"colour_map": "jet"},
        {"x_range": [2, 1]},
        {"y_range": [0, float("inf")]},
        {"map_box": [41, -74, 40, -73]},
        {"map_box": [40, -74, float("nan"), -73]},
    ],
)
def test_views_out_of_range_are_refused_by_name(raw):
    (name,) = raw
    with pytest.raises(ValueError, match=f"^{name}: "):
        ViewState.from_dict(raw)


def test_first_views_show_what_anyone_may_see_on_the_declared_axes():
    assert ViewState.for_result(maps()).surfaces == ("private",)
    assert ViewState.for_result(curves()).x_log
    assert not ViewState.for_result(curves(log=False)).x_log
    assert ViewState.for_result(curves(), x_log=False, theme="dark") == ViewState(theme="dark")


def test_nothing_heavy_is_imported_until_something_is_exported():
    code = (
        "import sys, pkgutil, importlib, explorer.figures as f\n"
        "for m in pkgutil.iter_modules(f.__path__):\n"
        "    importlib.import_module('explorer.figures.' + m.name)\n"
        "heavy = 'matplotlib PIL pypdf PySide6 pyqtgraph duckdb pandas scipy'.split()\n"
        "print(sorted(set(heavy) & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ}
    )
    assert done.stdout.strip() == "[]"


def test_colour_tables_are_those_of_their_authors():
    import matplotlib

    for name in COLOUR_MAPS:
        table = colour_table(name)
        assert table.shape == (256, 3)
        assert table.dtype == np.uint8
        exact = np.asarray(matplotlib.colormaps[name](np.arange(256)))[:, :3] * 255
        assert np.abs(table - exact).max() <= 3.1
        with pytest.raises(ValueError, match="read-only"):
            table[0, 0] = 1
    with pytest.raises(ValueError, match=r"'jet' .* viridis"):
        colour_table("jet")


@pytest.mark.parametrize("name", COLOUR_MAPS)
def test_brightness_grows_all_along_a_colour_map(name):
    linear = (colour_table(name) / 255.0) ** 2.2
    brightness = linear @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(brightness) > -1e-3).all()
    assert brightness[-1] > brightness[0] + 0.5


def contrast(one: str, other: str) -> float:
    """Contrast ratio of WCAG 2.1."""

    def luminance(colour: str) -> float:
        channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(
            channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4
        )
        return float(linear @ [0.2126, 0.7152, 0.0722])

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", sorted(THEMES))
def test_themes_can_be_read(name):
    look = theme(name)
    assert contrast(look.text, look.background) >= 7
    assert contrast(look.muted, look.background) >= 4.5
    assert contrast(look.stamp_text, look.stamp_back) >= 4.5
    assert contrast(look.map_label, look.map_halo) >= 7
    for colour in look.curves:
        assert contrast(colour, look.axes) >= 3
    assert len(set(look.curves)) == len(look.curves)


def test_styles_tell_roles_and_places_apart():
    many = [series(f"s{i}", Role.UPPER, [1, 2]) for i in range(20)]
    styles = series_styles(many, "light")
    assert len({(s.colour, s.marker) for s in styles.values()}) == 20
    assert set(DASHES) == set(WIDTHS) == set(Role)
    assert DASHES[Role.UPPER] != DASHES[Role.LOWER] != DASHES[Role.ESTIMATE]
    with pytest.raises(ValueError, match=r"'sepia' .* light, dark"):
        series_styles(many, "sepia")


def test_parameters_are_written_with_symbol_and_unit():
    real = Parameter("e", "ε", "privacy", "", Kind.REAL, 1.0, unit="nats")
    choice = Parameter("m", "M", "mechanism", "", Kind.CHOICE, "p", choices=(("p", "Pyramid"),))
    flag = Parameter("f", "", "trim", "", Kind.FLAG, True)
    assert captions.parameter_text(real, 0.5) == "ε = 0.5 nats"
    assert captions.parameter_text(real, 1.2345) == "ε = 1.2345 nats"
    assert captions.parameter_text(choice, "p") == "mechanism: Pyramid"
    assert captions.parameter_text(flag, False) == "trim: no"


def test_one_of_something_is_not_written_in_the_plural():
    users = Parameter("n", "n", "users", "", Kind.INTEGER, 10, 1, 100, unit="users")
    assert captions.parameter_text(users, 1) == "n = 1 user"
    assert captions.parameter_text(users, 2) == "n = 2 users"
    nats = Parameter("c", "c", "budget", "", Kind.REAL, 1.0, 0.0, 9.0, unit="nats")
    assert captions.parameter_text(nats, 1.0) == "c = 1 nats"


@pytest.mark.parametrize("name", study_ids())
def test_axes_say_nothing_twice_and_have_no_raw_symbols(name):
    study = get_study(name)
    swept = {key for q in study.quantities for key in q.sweeps}
    for shown in (*study.quantities, *(p for p in study.parameters if p.key in swept)):
        label = captions.axis_label(shown.name, shown.symbol, "", shown.unit)
        said = re.findall(r"[^\W\d_]{3,}", label.lower())
        twice = {word for word in said if said.count(word) > 1} - {"the", "for"}
        assert not twice, label
    for shown in (*study.quantities, *study.parameters):
        assert "_" not in shown.symbol + shown.unit, shown


def test_absent_ranges():
    x = [1.0, 2, 3, 4, 5]
    assert captions.absent_ranges(x, np.array([1, 0, 0, 1, 0], bool)) == [(2, 3), (5, 5)]
    assert captions.absent_ranges(x, np.zeros(5, bool)) == [(1, 5)]
    assert captions.absent_ranges(x, np.ones(5, bool)) == []


def test_numbers_beside_a_picture_are_rounded_to_their_safe_side():
    readouts = (
        ScalarResult("a", "upper", 1.1371204, Role.UPPER),
        ScalarResult("b", "lower", 3.84899, Role.LOWER),
        ScalarResult("c", "between", None, Role.ESTIMATE, low=0.123456, high=0.654321),
    )
    line = captions.readout_line(replace(curves(), readouts=readouts), with_curator_only=True)
    assert line.endswith("upper ≤ 1.138 · lower ≥ 3.848 · between in [0.1234, 0.6544]")


def test_infinite_numbers_beside_a_picture_are_reported():
    readouts = (
        ScalarResult("a", "level", None, Role.EXACT, "nats", note="infinite: a value is excluded"),
        ScalarResult("b", "bound", None, Role.UPPER, note="infinite: a value is excluded"),
        ScalarResult("c", "unknown", None, Role.UPPER, note="beyond its condition"),
    )
    line = captions.readout_line(replace(curves(), readouts=readouts), with_curator_only=True)
    assert line.endswith("level = ∞ · bound ≤ ∞")


@pytest.mark.parametrize(("side", "deepest"), [("256", 8), ("16", 4), ("2048", 11)])
def test_levels_are_told_as_the_tree_has_them(side, deepest):
    request = maps().request.with_value("mechanism", "adaptive").with_value("resolution", side)
    assert request["L"] == 11
    line = captions.settings_line(replace(maps(), request=request))
    assert f"L = {deepest}" in line.split(" · ")


def test_that_all_check_ins_count_is_said_only_where_it_is_otherwise():
    """In captions, never in recipes, which name every setting."""
    request = maps().request
    parts = captions.settings_line(maps()).split(" · ")
    assert "σ = 0.02 of the side" in parts
    assert not [part for part in parts if part.startswith(("k =", "weights", "every user"))]
    assert request["cap"] == 1_000_000
    for key, value, said in (
        ("cap", 1, "k = 1 check-in"),
        ("weights", "cells", "weighting per user: Each visited cell once"),
        ("one_cell", True, "each user visits only one cell: yes"),
    ):
        line = captions.settings_line(replace(maps(), request=request.with_value(key, value)))
        assert said in line.split(" · ")


def test_legends_name_the_role_once():
    assert captions.legend_label(series("a", Role.UPPER, [1])) == "Curve a — upper bound"
    told = series("a", Role.UPPER, [1], label="Theorem 1 (upper bound)")
    assert captions.legend_label(told) == "Theorem 1 (upper bound)"


@given(st.text(st.characters(codec="utf-8"), max_size=200), st.floats(2, 60))
def test_wrapped_lines_fit_and_lose_nothing(text, ems):
    text = drawable(text)
    lines = wrap(text, ems)
    assert all(width_in_ems(line) <= ems or len(line) == 1 for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "").replace("\n", "")


def test_signs_without_a_glyph_are_marked():
    assert drawable("ε ≤ 1 ✓ ✗") == "ε ≤ 1 ✓ ✗"
    assert drawable("東🎉\x07\t") == "\ufffd" * 4
