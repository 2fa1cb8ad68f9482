"""Names in files are frozen, and every field of them is checked by its path."""

from __future__ import annotations

import json
import math
from dataclasses import fields
from typing import Any

import msgspec
import pytest

from explorer.checkins.model import Mapping as ColumnMapping
from explorer.engine.session import schema
from explorer.engine.session.recipe import RecipeError, recipe_from_dict
from explorer.engine.session.schema import SchemaError, decode, read
from explorer.engine.session.session import state_from_dict
from explorer.figures.view_state import ViewState
from tests import snapshots
from tests.fuzz.recipes import recipes

FROZEN = {
    "Sweep": "key low high points scale",
    "Columns": "user time lat lon location weight time_format",
    "Data": "name sha256 columns",
    "Selection": "region start end users data_seed",
    "Question": "schema study values version quantity seed fidelity sweep data selection",
    "Recipe": "schema study values version quantity seed fidelity sweep data selection view",
    "View": "title theme x_range y_range x_log y_log hidden surfaces colour_map linked_scale "
    "map_box show_basemap show_cities show_contributions pinned",
    "Pin": "recipe hidden",
    "Entry": "recipe readout",
    "PlotView": "study quantity y_log hidden",
    "Session": "study requests looks pins comparison",
    "Window": "session data_path data_more data_columns files recent theme geometry layout "
    "folded views",
}


@pytest.mark.parametrize("name", FROZEN)
def test_no_name_in_a_file_is_ever_taken_away(name: str) -> None:
    struct = getattr(schema, name)
    assert set(FROZEN[name].split()) <= set(struct.__struct_fields__)


def test_the_wire_knows_every_field_of_what_it_carries() -> None:
    assert set(schema.View.__struct_fields__) == {f.name for f in fields(ViewState)}
    read = {f.name for f in fields(ColumnMapping)} | {"layer", "names"}  # of dialect and preview
    assert set(schema.Columns.__struct_fields__) == read


def data_recipe() -> dict[str, Any]:
    return next(r for r in recipes() if "selection" in r)


def curve_recipe() -> dict[str, Any]:
    return next(r for r in recipes() if "sweep" in r)


def put(recipe: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    recipe = json.loads(json.dumps(recipe))
    *steps, last = path.split(".")
    holder = recipe
    for step in steps:
        holder = holder[step]
    holder[last] = value
    return recipe


WRONG = [
    ("schema", 5, None),
    ("study", 5, None),
    ("study", "x" * 300, None),
    ("study", "\ud800", None),
    ("values", None, None),
    ("values", [], None),
    ("quantity", None, None),
    ("seed", math.inf, "seed: expected a whole number, got Infinity"),
    ("seed", True, None),
    ("seed", -1, None),
    ("seed", 10**400, None),
    ("fidelity", "best", None),
    ("version", 1, None),
    ("data", 3, None),
    ("data.name", None, None),
    ("data.sha256", "abc", "data.sha256: expected a sha256 of 64 hexadecimal digits"),
    ("data.columns.user", True, "data.columns.user: expected a whole number or null, got true"),
    ("data.columns.lat", 10**400, None),
    ("data.columns.lon", 0.5, None),
    ("data.columns.time_format", "epoch_x", "data.columns.time_format: expected iso, epoch_s"),
    ("data.columns.time_format", "%Q", None),
    ("data.columns.time_format", "\0%Y", None),
    ("selection.region", [1, 2, 3], None),
    ("selection.start", "soon", "selection.start: expected an instant such as"),
    ("selection.users", 0, None),
    ("selection.users", 1.5, None),
    ("selection.data_seed", -1, None),
    ("view", [], None),
    ("view.title", "x" * 501, None),
    ("view.x_range", [1], None),
    ("view.x_range", [1, math.inf], None),
    ("view.x_log", 1, None),
    ("view.hidden", ["x"] * 201, None),
    ("view.map_box", [1, 2, 3, math.nan], None),
    ("view.pinned", None, None),
]


@pytest.mark.parametrize(("path", "value", "message"), WRONG)
def test_every_field_of_a_recipe_is_refused_by_its_path(
    path: str, value: object, message: str | None
) -> None:
    with pytest.raises(RecipeError) as caught:
        recipe_from_dict(put(data_recipe(), path, value))
    said = str(caught.value)
    assert (message or path) in said
    assert "\n" not in said
    assert len(said) < 300


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("sweep.points", math.inf),
        ("sweep.points", 10**6),
        ("sweep.points", 0),
        ("sweep.low", math.nan),
        ("sweep.low", -1e300),
        ("sweep.high", "9" * 400),
        ("sweep.scale", "cubic"),
        ("sweep.key", "nothing"),
        ("sweep", 7),
    ],
)
def test_an_axis_that_cannot_be_drawn_is_refused(path: str, value: object) -> None:
    with pytest.raises(RecipeError):
        recipe_from_dict(put(curve_recipe(), path, value))


@pytest.mark.full
@pytest.mark.parametrize(
    "value", [math.inf, math.nan, 10**400, "9" * 400, [], None, {}, "\ud800", -1e308, True]
)
def test_every_parameter_is_refused_by_its_name(value: object) -> None:
    for recipe in {recipe["study"]: recipe for recipe in recipes()}.values():
        for key, right in recipe["values"].items():
            if isinstance(right, bool) and isinstance(value, bool):
                continue
            if key == "space_norm" and value == math.inf:  # one of its choices
                continue
            with pytest.raises(RecipeError, match=key):
                recipe_from_dict(put(recipe, f"values.{key}", value))


def test_a_time_range_that_no_calendar_has_is_refused() -> None:
    with pytest.raises(RecipeError, match=r"selection\.end: there") as error:
        recipe_from_dict(put(data_recipe(), "selection.end", "2010-13-45"))
    snapshots.check(error.value)


def test_pinned_curves_that_cannot_be_read_are_left_out_and_reported() -> None:
    raw = curve_recipe()
    good = raw["view"]["pinned"][0]
    bad = put(good, "recipe.seed", math.inf)
    read = recipe_from_dict(put(raw, "view.pinned", [bad, good, 5]))
    assert len(read.view["pinned"]) == 1
    assert [sentence.partition(":")[0] for sentence in read.left_out] == [
        "view.pinned[0].recipe.seed",
        "view.pinned[2]",
    ]
    assert recipe_from_dict(raw).left_out == ()


def test_parts_of_a_session_are_left_out_one_by_one() -> None:
    good = curve_recipe()
    said: list[str] = []
    state = state_from_dict(
        {
            "study": "gone",
            "requests": [good, put(good, "seed", math.inf), None],
            "looks": None,
            "pins": [{"recipe": good, "hidden": 5}],
            "comparison": "many",
        },
        said,
    )
    assert list(state.requests) == [good["study"]]
    assert [sentence.partition(":")[0] for sentence in said] == [
        "looks",
        "comparison",
        "study",
        "requests[1].seed",
        "requests[2]",
        "pins[0].hidden",
    ]
    said.clear()
    assert state_from_dict({"requests": None}, said).requests == {}
    assert said == ["requests: expected a list, got null"]


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": ' * 5000, "{", "\ud800", "", "nul"])
def test_a_text_that_is_no_json_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(SchemaError) as caught:
        decode(text.encode("utf-8", "surrogatepass"))
    assert "\n" not in str(caught.value)


def test_numbers_too_large_for_any_field_are_left_to_the_fields() -> None:
    assert decode(b'{"a": %s, "b": -Infinity}' % (b"9" * 10_000)) == {"a": math.inf, "b": -math.inf}


def test_what_an_earlier_version_wrote_is_read(request: pytest.FixtureRequest) -> None:
    path = request.path.parent.parent / "data" / "sessions" / "window-1.json"
    window = msgspec.convert(decode(path.read_bytes()), schema.Window)
    said: list[str] = []
    state = state_from_dict(window.session, said)
    assert said == []
    assert state.study == "shuffle-rdp"
    assert state.selection is not None
    for view in window.views.values():
        read(view, schema.View)


def test_a_file_named_without_a_selection_is_not_kept() -> None:
    """Found by mutating: such a recipe was another one after it was written again."""
    raw = next(r for r in recipes() if "selection" in r)
    del raw["selection"]
    recipe = recipe_from_dict(raw)
    assert (recipe.data_name, recipe.columns) == ("", {})
    assert recipe_from_dict(json.loads(json.dumps(recipe.to_dict()))) == recipe
