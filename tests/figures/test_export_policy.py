"""Nothing that is not private leaves with a private map: a canary is planted in every field."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from itertools import product
from typing import Any

import numpy as np
import pytest

from explorer.engine.session.recipe import Recipe, recipe_from_dict
from explorer.figures.export import PREVIEW_REFUSED, apply_export_policy, private_only
from explorer.figures.view_state import ViewState
from explorer.geography.region import Region
from explorer.studies.base.study import Condition, Origin, Result, ScalarResult, Surface, Table
from explorer.studies.heatmap.public import MADE_OF_NOISE, NOISY_NOTES
from tests import snapshots
from tests.figures.reading import BOTH, everything_in, words_of
from tests.figures.samples import ALL_OF_MAPS, CELLS, REGION, curves, file_bytes, maps

FORMATS = tuple(f for f in ALL_OF_MAPS if f not in CELLS)
"""Those that do without a place."""
PLACE = ('id="basemap"', 'id="region"', 'id="scale-bar"')
FOUND = [o for o in Origin if not o.may_be_told]


class Planter:
    """Puts a canary into every text, number and array of a result, but for what may pass.

    Place and time range may if it may be told where they came from.
    """

    MAY_PASS = (
        "request.study",
        "request.values",
        "request.selection.users",
        "request.selection.data_seed",
        "request.selection.share",
    )

    PLACE_AND_TIME = tuple(f"request.selection.{name}" for name in ("region", "start", "end"))

    def __init__(self, digits: int, came_from: Origin = Origin.FIRST) -> None:
        self.word, self.digits, self.number = f"canary{digits}", digits, 0
        self.told = came_from.may_be_told
        self.planted: list[str] = []

    def plant(self, value: Any, path: str = "") -> Any:
        """Return a value with canaries in it."""
        if path in self.MAY_PASS or isinstance(value, Enum | bool) or value is None:
            return value
        if self.told and path in self.PLACE_AND_TIME:
            return value
        if isinstance(value, Surface) and not value.curator_only:
            place = value.region if self.told else self.region()
            return replace(value, label=self.word, stamp=self.word, region=place)
        if (
            isinstance(value, ScalarResult)
            and value.key in MADE_OF_NOISE
            and not value.curator_only
        ):
            return replace(value, label=self.word, note=self.word, unit=self.word)
        if isinstance(value, Surface):
            return replace(
                value,
                label=self.word,
                stamp=self.word,
                region=self.region(),
                values=np.full((16, 16), self.fresh() / 1e12, np.float32),
            )
        if isinstance(value, Region):
            return self.region()
        self.planted.append(path)
        if isinstance(value, str):
            return f"2{self.digits:03d}-01-01" if path.endswith(("start", "end")) else self.word
        if isinstance(value, int):
            return self.fresh()
        if isinstance(value, float):
            return self.fresh() / 1000
        if isinstance(value, np.ndarray):
            return np.full(value.shape, self.fresh() / 1000)
        if isinstance(value, Mapping):
            return {f"{self.word} {k}": self.plant(v, f"{path}.{k}") for k, v in value.items()}
        if isinstance(value, tuple):
            return tuple(self.plant(v, path) for v in value)
        if isinstance(value, frozenset):
            return frozenset({self.word})
        assert is_dataclass(value), path
        dots = f"{path}." if path else ""
        return replace(
            value,
            **{f.name: self.plant(getattr(value, f.name), dots + f.name) for f in fields(value)},
        )

    def fresh(self) -> int:
        """Return a number that nothing else is, with the canary's digits."""
        self.number += 1
        return self.digits * 10**6 + self.number

    def region(self) -> Region:
        edge = self.digits / 1000
        return Region(20 + edge, 30 + edge, 21 + edge, 31 + edge)


def full(came_from: Origin = Origin.FIRST) -> Result:
    """Return a made-up answer in which every field holds something."""
    result = maps(came_from=came_from)
    series = curves()
    return replace(
        result,
        request=replace(result.request, sweep=series.request.sweep, quantity="epsilon"),
        series=series.series,
        tables=(Table("t", "Title", ("a",), (("b",), (1.5,)), "note"),),
        surfaces=(*result.surfaces, replace(result.surfaces[0], key="third")),
        readouts=(
            *result.readouts,
            ScalarResult("epsilon_level_x", "ε of level x", 3.0),
            ScalarResult("users_used", "Users in the map", 200.0),  # someone forgot to mark it
            ScalarResult("objective", "Misfit", 7.0, curator_only=True),
        ),
        conditions=(*result.conditions, Condition("Of 2,069 users", False, "by 3")),
        notes=("200 of 2,069 users were sampled.", "Only 3 have a check-in."),
        timings_ms={"points": 12.5},
        progress=0.5,
        curator_only=True,
    )


def recipe_with(planter: Planter) -> dict[str, Any]:
    word = planter.word
    return {
        "schema": word,
        "version": word,
        "study": word,
        "values": {word: word, "epsilon": planter.fresh()},
        "data": {
            "name": word,
            "sha256": word,
            "columns": {"user": planter.fresh(), "names": {"user": word}},
        },
        "selection": {"region": [planter.fresh()] * 4, "start": word, word: word},
        "seed": planter.fresh(),
        "view": {"title": word, "map_box": [planter.fresh()] * 4},
        word: [word, {word: word}],
    }


def view_with(planter: Planter) -> ViewState:
    edge = planter.digits / 1000
    return ViewState(
        surfaces=("private",),
        x_range=(edge, edge + 1),
        y_range=(edge, edge + 1),
        hidden=(planter.word,),
        map_box=(20 + edge, 30 + edge, 21 + edge, 31 + edge),
        pinned=({planter.word: planter.word},),
    )


def written(fmt: str, digits: int, came_from: Origin = Origin.FIRST) -> bytes:
    planter = Planter(digits, came_from)
    result = planter.plant(full(came_from))
    assert len(planter.planted) > 60
    return write(fmt, result, view_with(planter), recipe_with(planter))


def write(fmt: str, result: Result, view: ViewState, recipe: Mapping[str, Any]) -> bytes:
    return file_bytes(result, view, recipe, fmt, size_px=(600, 400), dpi=60)


@pytest.mark.full
@pytest.mark.parametrize(
    ("fmt", "came_from"),
    [
        *product(FORMATS, FOUND[:1]),
        *product(FORMATS[:1], FOUND[1:]),
        *product(("svg", "json", *CELLS), [Origin.TYPED]),
    ],
)
def test_no_canary_comes_out(fmt: str, came_from: Origin) -> None:
    """Not in the bytes, and not in the pixels: any other canary gives the very same file."""
    content = written(fmt, 137, came_from)
    text = everything_in(content, fmt)
    for canary in (b"canary", b"137000", b"2137-01"):
        assert canary not in text
    # A number of the canary in millions; 137.05 is a place on the page.
    assert not re.search(rb"137\.0(0000|\D|$)", text)
    assert written(fmt, 731, came_from) == content


@pytest.mark.full
@pytest.mark.parametrize(("fmt", "came_from"), [*product(CELLS, FOUND)])
def test_no_canary_is_in_a_refusal(fmt: str, came_from: Origin) -> None:
    with pytest.raises(ValueError, match=r"GeoJSON|GeoTIFF") as refused:
        written(fmt, 137, came_from)
    snapshots.check(refused.value)
    assert "137" not in str(refused.value)
    assert "canary" not in str(refused.value)


@pytest.mark.full
@pytest.mark.parametrize("fmt", ALL_OF_MAPS)
def test_the_canaries_come_out_with_the_true_map(fmt: str) -> None:
    """The curator's own files hold them: what the test above looks for can be found."""
    planter = Planter(137)
    result = planter.plant(full())
    view = replace(view_with(planter), surfaces=BOTH, pinned=())
    recipe = Recipe(result.request, planter.word, view=view.to_dict()).to_dict()
    assert b"canary137" in everything_in(write(fmt, result, view, recipe), fmt)


@pytest.mark.full
@pytest.mark.parametrize("fmt", ["png", "svg", "csv", "json", *CELLS])
def test_what_may_pass_does(fmt: str) -> None:
    """Settings, a typed region, sample, guarantee, conditions, numbers made of noise."""
    result = maps()
    view = ViewState.for_result(result, title="Our map", linked_scale=False)
    recipe = Recipe(result.request, "name.txt", view=view.to_dict()).to_dict()
    _, _, settings = apply_export_policy(result, view, recipe)
    read = recipe_from_dict(settings)
    assert read.request.values == result.request.values
    assert read.request.selection is None
    assert read.part is not None
    assert read.part.region == REGION
    selection = result.request.selection
    assert selection is not None
    assert read.part.of(replace(selection, users=1, start=None, data_seed=0)) == selection
    text = everything_in(write(fmt, result, view, recipe), fmt)
    for told in (b"private_only", b"2010-01-01T00:00:00", b"Our map"):
        assert told in text
    for withheld in (b"name.txt", b"cdcd", b"noise seed", b"sha256"):
        assert withheld not in text
    if fmt != "png":
        words = text.decode(errors="replace")
        assert "200 users" in words
        assert "ε = 1" in words
        assert fmt == "svg" or "Noisy counts read" in words


def test_remarks_pass_word_for_word_or_not_at_all() -> None:
    result = replace(maps(), notes=(NOISY_NOTES[0], f"{NOISY_NOTES[1]} 2,069 users."))
    public, _, _ = apply_export_policy(result, ViewState.for_result(result), {})
    assert public.notes == (NOISY_NOTES[0],)


def test_numbers_made_of_noise_keep_their_values() -> None:
    result = replace(
        maps(),
        readouts=(
            ScalarResult("objective", "Misfit minimised", 1.25),
            ScalarResult("epsilon_level_2", "ε of level 2", 0.5),
            ScalarResult("cells_read", "Noisy counts read", 512.0, curator_only=True),
        ),
    )
    public, _, _ = apply_export_policy(result, ViewState.for_result(result), {})
    assert [(r.key, r.value) for r in public.readouts] == [
        ("objective", 1.25),
        ("epsilon_level_2", 0.5),
    ]


def test_a_stamp_is_never_lost() -> None:
    result = replace(maps(), stamp="fit for release")
    public, _, _ = apply_export_policy(result, ViewState.for_result(result), {})
    assert "not private" in public.stamp
    assert {s.stamp for s in public.surfaces} == {public.stamp}


def test_an_assumed_number_found_from_the_data_is_not_told() -> None:
    result = maps()
    selection = replace(result.request.selection, n0_from=Origin.EXTENT)
    request = replace(result.request, selection=selection)
    request = request.with_value("mechanism", "least-squares").with_value("n0", 137)
    result = replace(result, request=request)
    view = ViewState.for_result(result)
    public, _, settings = apply_export_policy(result, view, Recipe(request).to_dict())
    assert "n0" not in settings["values"]
    assert any(c.holds is False and "n₀" in c.text for c in public.conditions)
    assert b"137" not in write("csv", result, view, Recipe(request).to_dict())
    assert recipe_from_dict(settings).request["n0"] == 200


@pytest.mark.full
@pytest.mark.parametrize("came_from", FOUND)
def test_a_region_that_was_found_is_drawn_without_its_place(came_from: Origin) -> None:
    result = maps(came_from=came_from)
    view = ViewState.for_result(result)
    recipe = Recipe(result.request, "name.txt").to_dict()
    picture = write("svg", result, view, recipe)
    text = words_of(picture, "svg")
    for told in ("° N", "° W", "Natural Earth", "2010", *PLACE):
        assert told not in picture.decode()
    assert "without its place" in text
    assert "from the check-ins" in text
    header = next(
        line
        for line in write("csv", result, view, recipe).decode().splitlines()
        if not line.startswith("#")
    )
    assert header == "row,column,private"


def test_a_place_that_is_told_is_drawn() -> None:
    result = maps()
    picture = write("svg", result, ViewState.for_result(result), {})
    for told in ("° N", "° W", "Natural Earth", *PLACE):
        assert told in picture.decode()


def test_curves_and_curators_files_pass_untouched() -> None:
    for result, view in (
        (curves(), ViewState.for_result(curves())),
        (maps(), ViewState.for_result(maps(), surfaces=BOTH)),
    ):
        recipe = {"anything": 1}
        assert not private_only(result, view)
        assert apply_export_policy(result, view, recipe) == (result, view, recipe)


@pytest.mark.parametrize("shown", [(), BOTH])
def test_a_first_glance_at_a_part_of_the_users_is_not_exported(shown: tuple[str, ...]) -> None:
    early = replace(maps(), early=True)
    view = replace(ViewState.for_result(early), surfaces=shown) if shown else ViewState()
    with pytest.raises(ValueError, match=PREVIEW_REFUSED):
        apply_export_policy(early, view, {})


def test_a_study_without_a_list_lets_nothing_through() -> None:
    result = replace(maps(), request=replace(maps().request, study="made-up"))
    with pytest.raises(ValueError, match="made-up"):
        apply_export_policy(result, ViewState.for_result(result), {})
