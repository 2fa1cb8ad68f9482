"""Everything needed to make a result again, as it stands inside every exported file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from explorer import __version__
from explorer.geography.region import Region
from explorer.studies.model import (
    Fidelity,
    Request,
    Scale,
    Selection,
    Sweep,
    Value,
    parameter,
    quantity,
)
from explorer.studies.registry import get_study

SCHEMA = "privacy-explorer-recipe/1"
MOST_COLUMNS = 10_000


class RecipeError(ValueError):
    """A recipe that can't be followed; the message says which field and what to do."""


@dataclass(frozen=True)
class Recipe:
    """A request, the data it was about and how it was looked at.

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
    """

    request: Request
    data_name: str = ""
    version: str = __version__
    view: Mapping[str, Any] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as JSON values."""
        request = self.request
        recipe: dict[str, Any] = {
            "schema": SCHEMA,
            "version": self.version,
            "study": request.study,
            "values": dict(request.values),
            "quantity": request.quantity,
            "seed": request.seed,
            "fidelity": request.fidelity.name.lower(),
        }
        if request.sweep is not None:
            s = request.sweep
            recipe["sweep"] = {
                "key": s.key,
                "low": s.low,
                "high": s.high,
                "points": s.points,
                "scale": s.scale.value,
            }
        if request.selection is not None:
            c = request.selection
            recipe["data"] = {"name": self.data_name, "sha256": c.data}
            if self.columns:
                recipe["data"]["columns"] = dict(self.columns)
            recipe["selection"] = {
                "region": list(c.region.box),
                "start": c.start,
                "end": c.end,
                "users": c.users,
                "data_seed": c.data_seed,
            }
        if self.view:
            recipe["view"] = dict(self.view)
        return recipe


def recipe_from_dict(raw: Mapping[str, Any]) -> Recipe:
    """Read a recipe back, checking every field against its study.

    A parameter that the recipe does not name (it came later) takes its default.

    Raises
    ------
    RecipeError
        Naming the field that is missing, of the wrong type or out of range.
    """
    if not isinstance(raw, Mapping) or raw.get("schema") != SCHEMA:
        found = raw.get("schema") if isinstance(raw, Mapping) else type(raw).__name__
        raise RecipeError(
            f"this is not a recipe that version {__version__} reads (schema {found!r}, "
            f"expected {SCHEMA!r}); a newer program may read it"
        )
    try:
        return _read(raw)
    except RecipeError:
        raise
    except KeyError as error:
        raise RecipeError(f"the recipe lacks the field {error.args[0]!r}") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise RecipeError(f"the recipe can't be followed: {error}") from error


def _read(raw: Mapping[str, Any]) -> Recipe:
    study = get_study(str(raw["study"]))
    given: Mapping[str, Value] = raw["values"]
    for key in given:
        parameter(study, key)
    values = tuple((p.key, p.parse(given.get(p.key, p.default))) for p in study.parameters)
    wanted = str(raw.get("quantity", ""))
    if wanted:
        quantity(study, wanted)
    sweep = None
    if raw.get("sweep") is not None:
        s = raw["sweep"]
        sweep = Sweep(
            str(s["key"]), float(s["low"]), float(s["high"]), int(s["points"]), Scale(s["scale"])
        )
        if not 1 <= sweep.points <= 100_000:
            raise RecipeError(f"sweep: {sweep.points} points; between 1 and 100,000 can be drawn")
        if wanted and sweep.key not in quantity(study, wanted).sweeps:
            raise RecipeError(f"sweep: {wanted!r} can't be swept over {sweep.key!r}")
    selection = None
    if raw.get("selection") is not None:
        c = raw["selection"]
        south, west, north, east = (float(side) for side in c["region"])
        users = c.get("users")
        selection = Selection(
            data=str(raw["data"]["sha256"]),
            region=Region(south, west, north, east),
            start=None if c.get("start") is None else str(c["start"]),
            end=None if c.get("end") is None else str(c["end"]),
            users=None if users is None else int(users),
            data_seed=int(c.get("data_seed", 0)),
        )
    request = Request(
        study=study.id,
        values=values,
        quantity=wanted,
        sweep=sweep,
        selection=selection,
        seed=int(raw.get("seed", 0)),
        fidelity=Fidelity[str(raw.get("fidelity", "full")).upper()],
    )
    data = raw.get("data", {})
    return Recipe(
        request,
        str(data.get("name", "")),
        str(raw.get("version", "")),
        dict(raw.get("view", {})),
        _columns(data.get("columns", {})),
    )


def _columns(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Check how a recipe says its data file's columns were read."""
    from explorer.checkins.model import Mapping as ColumnMapping

    if not raw:
        return {}
    known = {f.name for f in fields(ColumnMapping)}
    for name, column in raw.items():
        if name == "time_format":
            fits = isinstance(column, str)
        else:
            fits = name in known and (
                column is None or (isinstance(column, int) and 0 <= column < MOST_COLUMNS)
            )
        if not fits:
            raise RecipeError(f"data.columns: {name!r} = {column!r} is not a column's number")
    return dict(raw)
