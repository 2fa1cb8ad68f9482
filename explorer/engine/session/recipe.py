"""Recipes: all settings needed to compute a result again, embedded in every exported file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal

from msgspec import UNSET

from explorer import __version__
from explorer.engine.session import schema
from explorer.engine.session.imported_curves import imported_from_list, imported_to_list
from explorer.engine.session.schema import plain, read, read_list
from explorer.engine.session.utility_settings import UtilitySettings, utility_from_recipe
from explorer.geography.region import Region, corners, region_of
from explorer.studies.base.grid import MAX_POINTS, Grid, axes_of
from explorer.studies.base.request import Unit
from explorer.studies.base.study import (
    Fidelity,
    Origin,
    Parameter,
    Request,
    Scale,
    Selection,
    Study,
    Sweep,
    Value,
    default_sweep,
    parameter,
    quantity,
)
from explorer.studies.registry import get_study, study_ids

SCHEMA: Literal["privacy-explorer-recipe/1"] = "privacy-explorer-recipe/1"
MAX_PINNED = 8
"""Pins of one plot: more could not be told apart."""


class RecipeError(ValueError):
    """A recipe cannot be applied; the message names the field and the remedy."""


@dataclass(frozen=True)
class Part:
    """Selection without its data: region, time range and users.

    Attributes
    ----------
    region : Region or None
        None where it may not be told.
    chosen : mapping
        The other fields of a `Selection`.
    """

    region: Region | None
    chosen: Mapping[str, Any]

    def of(self, selection: Selection) -> Selection:
        """Apply this part to a selection; absent fields remain unchanged.

        So does a region of another plane, the privacy unit, and the image, whose name may be no
        other data's.
        """
        fields = {k: v for k, v in self.chosen.items() if k not in ("image", "unit")}
        if self.region is None or self.region.plane != selection.region.plane:
            others = {k: v for k, v in fields.items() if k != "region_from"}
            return replace(selection, **others)
        return replace(selection, region=self.region, **fields)


@dataclass(frozen=True)
class Recipe:
    """A request, its data and its view.

    Attributes
    ----------
    request : Request
    data_name : str
        Base name of the data file, never its path; empty without data.
    version : str
        Of the program that made the result.
    view : mapping
        State of the view as JSON values (`explorer.figures.view_state.ViewState`).
    columns : mapping
        How the data file's columns were read, as the fields of `explorer.checkins.Mapping`; empty
        if not known. The same file read another way is other data.
    part : Part or None
        Of a file that holds nothing private: the settings, which any data can be asked with. The
        request then has no selection, and its seed means nothing.
    grid : Grid or None
        Grid of a sweep over further parameters, if there is one.
    """

    request: Request
    data_name: str = ""
    version: str = __version__
    view: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)
    part: Part | None = None
    which: UtilitySettings | None = None
    """View of *Utility*, of a file with its curves."""
    grid: Grid | None = None

    left_out: tuple[str, ...] = field(default=(), compare=False)
    """Sentences about parts that could not be read, such as a pinned curve of an unknown study."""

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as JSON values."""
        view = {"view": dict(self.view)} if self.view else {}
        grid = {"grid": grid_to_dict(self.grid)} if self.grid is not None else {}
        question = _question(self.request, self.version, self.data_name, self.columns)
        return schema.plain(question) | view | grid


def _question(
    request: Request, version: str, data_name: str, columns: Mapping[str, Any]
) -> schema.Question:
    sweep, selection = request.sweep, request.selection
    question = schema.Question(
        schema=SCHEMA,
        version=version,
        study=request.study,
        values=dict(request.values),
        quantity=request.quantity,
        seed=request.seed,
        fidelity="coarse" if request.fidelity is Fidelity.COARSE else "full",
    )
    if sweep is not None:
        question.sweep = schema.Sweep(
            sweep.key, sweep.low, sweep.high, sweep.points, sweep.scale.value
        )
    if selection is not None:
        question.data = schema.Data(data_name, selection.data)
        if columns:
            question.data.columns = schema.Columns(**columns)
        question.selection = _store_selection(selection)
    return question


def _store_selection(selection: Selection) -> schema.Selection:
    """Return a selection in its stored form, without its data."""
    sides = [_word(origin) for origin in selection.region_from]
    written = schema.Selection(
        list(selection.region.declared),
        selection.start,
        selection.end,
        selection.users,
        selection.data_seed,
        region_from=sides[0] if len(set(sides)) == 1 else sides,
    )
    if selection.share is not None:
        written.share = selection.share
    if selection.start is not None or selection.end is not None:
        written.time_from = _word(selection.time_from)
    if selection.n0_from is not Origin.TYPED:
        written.n0_from = _word(selection.n0_from)
    if selection.epsilon_from is not Origin.TYPED:
        written.epsilon_from = _word(selection.epsilon_from)
    if selection.settings_from is not Origin.TYPED:
        written.settings_from = _word(selection.settings_from)
    if selection.region.plane is not None:
        written.plane = selection.region.plane.text
    if selection.region.polygon is not None:
        written.polygon, *further = corners(selection.region)
        if further:
            written.rings = further
    if selection.image is not None:
        written.image = selection.image
    if selection.unit is not Unit.USER:
        written.unit = "row" if selection.unit is Unit.ROW else "file"
    return written


def _word(origin: Origin) -> schema.Origin:
    return origin.value


def recipe_from_dict(raw: object) -> Recipe:
    """Read a recipe from JSON values, checking every field against its study.

    A parameter, quantity or axis that the recipe does not name takes its default; a pinned curve
    that can't be read is left out, and `Recipe.left_out` says so.

    Raises
    ------
    RecipeError
        Naming the field that is missing, of the wrong type or out of range.
    """
    _check_schema(raw)
    try:
        read = schema.read(raw, schema.Recipe)
        request = _request(read)
        left_out: list[str] = []
        if read.sweep and read.sweep.points > MAX_POINTS:
            left_out.append(
                f"sweep: {read.sweep.points:,} points; {MAX_POINTS:,} over the same range are "
                "computed"
            )
        view = {} if read.view is UNSET else _view(read.view, "view", left_out)
        which = None if read.which is UNSET else utility_from_recipe(read.which, left_out)
    except ValueError as error:
        raise RecipeError(f"the recipe can't be followed: {error}") from error
    grid = None
    if read.grid is not UNSET:
        try:
            grid = grid_of(read.grid)
            axes_of(get_study(request.study), request, grid)
        except ValueError as error:
            grid = None
            left_out.append(f"grid: {error}")
    # Without a selection nothing was drawn from the file that is named.
    data = schema.Data() if read.data is UNSET or request.selection is None else read.data
    columns = {} if data.columns is UNSET else schema.plain(data.columns)
    part = None
    if read.private_only is True and isinstance(read.selection, schema.Selection):
        part = Part(*_part(read.selection))
    return Recipe(
        request, data.name, read.version, view, columns, part, which, grid, tuple(left_out)
    )


def request_from_dict(raw: object, where: str, most: int = MAX_POINTS) -> Request:
    """Read the request of a recipe; `where` is its path within the file.

    A sweep of more than `most` points is thinned to as many.

    Raises
    ------
    RecipeError
        As `recipe_from_dict`, the path first.
    """
    try:
        _check_schema(raw)
        return _request(schema.read(raw, schema.Question, where), most)
    except schema.SchemaError as error:
        raise RecipeError(str(error)) from error
    except ValueError as error:
        raise RecipeError(f"{where}: {error}") from error


def view_from_dict(raw: object, where: str, left_out: list[str]) -> dict[str, Any]:
    """Read the view of a recipe as JSON values.

    `left_out` gets a sentence for each pinned curve that can't be read.

    Raises
    ------
    SchemaError
        Naming the field by its path, which begins with `where`.
    """
    return _view(schema.read(raw, schema.View, where), where, left_out)


def _view(read: schema.View, where: str, left_out: list[str]) -> dict[str, Any]:
    view = schema.plain(read)
    if "pinned" in view:
        path = f"{where}.pinned"
        view["pinned"] = schema.read_list(view["pinned"], _read_pin, path, left_out, MAX_PINNED)
    if "own" in view:
        view["own"] = imported_to_list(imported_from_list(view["own"], left_out))
    return view


def _read_pin(raw: Any, where: str) -> dict[str, Any]:
    """Return a pinned curve unchanged if it is valid."""
    pin = schema.read(raw, schema.Pin, where)
    return {
        "recipe": Recipe(request_from_dict(raw["recipe"], f"{where}.recipe")).to_dict(),
        "hidden": pin.hidden,
    }


def _check_schema(raw: object) -> None:
    name = raw.get("schema") if isinstance(raw, Mapping) else None
    if name == SCHEMA:
        return
    stated = "none" if name is None else repr(name)[:40]
    raise RecipeError(
        f"this is not a recipe that version {__version__} reads (schema {stated}, "
        f"expected {SCHEMA!r}); a newer program may read it"
    )


def _request(read: schema.Question, most: int = MAX_POINTS) -> Request:
    """Return the request, every value checked against its study's declaration."""
    study = get_study(read.study)
    for key in read.values:
        parameter(study, key)
    values = tuple(
        (p.key, p.parse(read.values.get(p.key, _value_of_file(study, p)))) for p in study.parameters
    )
    former = schema.FORMER_QUANTITIES.get(study.id)
    shown = read.quantity or former or next((q.key for q in study.quantities), "")
    allowed = quantity(study, shown).sweeps if shown else ()
    sweep = default_sweep(study, allowed[0]) if allowed else None
    return Request(
        study=study.id,
        values=values,
        quantity=shown,
        sweep=_sweep(read.sweep, study, shown, allowed, most) if read.sweep else sweep,
        selection=_selection(read) if read.selection and read.private_only is not True else None,
        seed=read.seed,
        fidelity=Fidelity[read.fidelity.upper()],
    )


def _value_of_file(study: Study, p: Parameter) -> Value:
    """Return the value of a parameter that a file does not name."""
    return schema.FORMER_DEFAULTS.get((study.id, p.key), p.default)


def _sweep(
    read: schema.Sweep, study: Study, shown: str, allowed: tuple[str, ...], most: int
) -> Sweep:
    if read.key not in allowed:
        raise RecipeError(f"sweep: {shown or study.id!r} can't be swept over {read.key!r}")
    sweep = Sweep(read.key, read.low, read.high, min(read.points, most), Scale(read.scale))
    # Two of the points say as much of the range as all of them.
    parameter(study, read.key).grid(sweep.low, sweep.high, min(sweep.points, 2), sweep.scale)
    return sweep


def _selection(read: schema.Question) -> Selection:
    stored = read.selection
    assert isinstance(stored, schema.Selection)
    if read.data is UNSET or read.data.sha256 is UNSET:
        raise RecipeError("data: lacks the field 'sha256' of the file that the selection is of")
    region, others = _part(stored)
    if region is None:
        raise RecipeError("selection: lacks the field 'region'")
    columns = read.data.columns
    read_by = "user" if columns is UNSET or columns.unit is UNSET else columns.unit
    if columns is not UNSET and read_by != others["unit"]:
        raise RecipeError(
            f"selection.unit: {str(others['unit'])!r}, but data.columns.unit is {read_by!r}; make "
            "them the same"
        )
    return Selection(data=read.data.sha256, region=region, **others)


def _part(stored: schema.Selection) -> tuple[Region | None, dict[str, Any]]:
    """Return a selection's region (None if absent) and its other fields except the data."""
    for name, instant in (("start", stored.start), ("end", stored.end)):
        try:
            _ = instant and datetime.fromisoformat(instant)
        except ValueError:
            raise RecipeError(f"selection.{name}: there is no instant {instant!r}") from None
    sides = "unknown" if stored.region_from is UNSET else stored.region_from
    south, west, north, east = map(Origin, [sides] * 4 if isinstance(sides, str) else sides)
    plane = "" if stored.plane is UNSET else stored.plane
    region = None
    if stored.region is not UNSET:
        low, left, high, right = stored.region
        first = [] if stored.polygon is UNSET else [stored.polygon]
        further = [] if stored.rings is UNSET else stored.rings
        if further and not first:
            raise RecipeError("selection.rings: it has no polygon; the first ring belongs there")
        region = region_of((low, left, high, right), plane, [*first, *further])
    share = None if stored.share is UNSET else stored.share
    if share is not None and stored.users is not None:
        raise RecipeError("selection: has both users and a share; one of them says who is in")
    others: dict[str, Any] = {
        "image": None if stored.image is UNSET else stored.image,
        "users": stored.users,
        "data_seed": stored.data_seed,
        "share": share,
        "unit": Unit.USER if stored.unit is UNSET else Unit(stored.unit),
        "region_from": (south, west, north, east),
    }
    for name in ("n0_from", "epsilon_from", "settings_from"):
        word = getattr(stored, name)
        others[name] = Origin.TYPED if word is UNSET else Origin(word)
    bounded = stored.start is not None or stored.end is not None
    if bounded or stored.time_from is UNSET:  # else there is a time range that is not told
        came = Origin.UNKNOWN if stored.time_from is UNSET else Origin(stored.time_from)
        others |= {"start": stored.start, "end": stored.end, "time_from": came}
    return region, others


MAX_GRIDS = 400
"""Studies whose grids are read."""


def grid_to_dict(grid: Grid) -> dict[str, Any]:
    """Return a grid as JSON values."""
    return plain(schema.Grid(list(grid.over), grid.trials, grid.colours))


def grid_of(stored: schema.Grid) -> Grid:
    """Return the grid of a file, without checking it against a study."""
    return Grid(tuple(stored.over), stored.trials, stored.colours)


def grids_to_list(grids: Mapping[str, Grid]) -> list[dict[str, Any]]:
    """Return the grids of studies as JSON values."""
    return [{"study": study, **grid_to_dict(grid)} for study, grid in grids.items()]


def grids_from_list(raw: list[Any], left_out: list[str]) -> Mapping[str, Grid]:
    """Read the grids of studies; `left_out` gets a sentence for each unreadable one."""

    def take(item: Any, where: str) -> tuple[str, Grid]:
        stored = read(item, schema.GridOfStudy, where)
        if stored.study not in study_ids():
            raise ValueError(f"{where}.study: there is no study {stored.study!r}")
        return stored.study, grid_of(stored)

    return MappingProxyType(dict(read_list(raw, take, "grids", left_out, MAX_GRIDS)))
