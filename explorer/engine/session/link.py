"""Links: a request encoded as one line of text.

A link holds settings only, and never the name, size or checksum of a file. Of check-ins it holds
the settings that a private-only export may hold, or nothing. Pinned requests are stored as
differences from the main one.
"""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from explorer import __version__
from explorer.engine.session.recipe import SCHEMA, RecipeError
from explorer.studies.base.parameters import Kind
from explorer.studies.base.study import Study, parameter, relevant
from explorer.studies.registry import get_study, study_ids

SCHEME = "privacy-explorer:"
_CERTIFICATE = "certificate"
"""In place of a study's id, for the certificate of a release."""
MAX_LENGTH = 20_000
"""Letters of a link that is read."""
_VIEW = ("y_log", "hidden", "claim", "x_range", "y_range", "surfaces", "colour_map")
_RESERVED_KEYS = (".version", ".quantity", ".sweep", ".seed", ".view", ".pins", ".selection")
"""Keys that are not parameters of the study, which have no dot in front."""
_SWEEP = ("key", "low", "high", "points", "scale")


def is_link(text: str) -> bool:
    """Return whether a text looks like a link."""
    return text.strip().startswith(SCHEME)


def link_of(recipe: Mapping[str, Any]) -> str:
    """Return the link to a recipe's request.

    Parameters
    ----------
    recipe : mapping
        JSON values that passed `explorer.figures.export`.
    """
    study = get_study(recipe["study"])
    values, quantity = recipe["values"], recipe.get("quantity", "")
    items = [
        (key, _encode(value))
        for key, value in values.items()
        if _matters(study, key, values, quantity)
    ]
    items.append((".version", __version__))
    if quantity:
        items.append((".quantity", quantity))
    if sweep := recipe.get("sweep"):
        items.append((".sweep", ",".join(_encode(sweep[part]) for part in _SWEEP)))
    if recipe.get("seed"):
        items.append((".seed", str(recipe["seed"])))
    view = {name: recipe["view"][name] for name in _VIEW if recipe.get("view", {}).get(name)}
    if view:
        items.append((".view", _encode(view)))
    if pins := _pins(study, recipe):
        items.append((".pins", _encode(pins)))
    if recipe.get("private_only") is True:
        items.append((".selection", _encode(recipe["selection"])))
    return f"{SCHEME}{study.id}?{urlencode(items, quote_via=quote, safe=',:')}"


def certificate_link(release: str, sha256: str) -> str:
    """Return the link that names a release's certificate by its id and the SHA-256 of its file."""
    return f"{SCHEME}{_CERTIFICATE}?{urlencode({'release': release, 'sha256': sha256})}"


def left_out(recipe: Mapping[str, Any]) -> int:
    """Return the number of reference curves that the link to a recipe leaves out."""
    view = recipe.get("view", {})
    references = len(view.get("pinned", ())) + len(view.get("own", ()))
    return references - len(_pins(get_study(recipe["study"]), recipe))


def _pins(study: Study, recipe: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return pinned requests as differences, except those on another file."""
    mine, quantity = recipe["values"], recipe.get("quantity", "")
    defaults = {
        p.key: mine[p.key] if _matters(study, p.key, mine, quantity) else p.default
        for p in study.parameters
    }
    files = [p.key for p in study.parameters if p.kind is Kind.FILE]
    pins = []
    for pin in recipe.get("view", {}).get("pinned", ()):
        values = pin["recipe"]["values"]
        if any(values[key] != mine[key] for key in files):
            continue
        other = {
            key: value
            for key, value in values.items()
            if _matters(study, key, values, quantity) and value != defaults[key]
        }
        pins.append({"values": other} | ({"hidden": pin["hidden"]} if pin.get("hidden") else {}))
    return pins


def _read_pins(recipe: Mapping[str, Any], pins: Any) -> list[dict[str, Any]]:
    """Return pins in the recipe's form."""
    if not isinstance(pins, list) or not all(isinstance(p, dict) for p in pins):
        raise RecipeError("link: .pins is no list of questions")
    common = {
        key: recipe[key]
        for key in ("schema", "study", "version", "quantity", "sweep")
        if key in recipe
    }
    return [
        {
            "recipe": {**common, "values": {**recipe["values"], **_object(pin.get("values"))}},
            "hidden": pin.get("hidden", []),
        }
        for pin in pins
    ]


def _object(raw: Any) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise RecipeError("link: a pin of .pins has no values")
    return raw


def recipe_of(text: str) -> dict[str, Any]:
    """Return a link's recipe as JSON values, to be checked by `recipe_from_dict`.

    Raises
    ------
    RecipeError
        Naming the part that can't be read.
    """
    if len(text) > MAX_LENGTH:
        raise RecipeError(f"link: longer than {MAX_LENGTH:,} letters")
    if not is_link(text):
        raise RecipeError(f"link: it does not begin with {SCHEME}")
    study_id, _, query = text.strip().removeprefix(SCHEME).partition("?")
    if study_id == _CERTIFICATE:
        named = dict(parse_qsl(query))
        raise RecipeError(
            f"link: it names the certificate of release {named.get('release', '')[:32]} and holds "
            "no settings. Get the certificate’s JSON file from its publisher; its SHA-256 must be "
            f"{named.get('sha256', '')[:64]}"
        )
    if study_id not in study_ids():
        raise RecipeError(f"link: there is no question {study_id[:40]!r} in this version")
    items = dict(parse_qsl(query, keep_blank_values=True))
    if unknown := [key for key in items if key.startswith(".") and key not in _RESERVED_KEYS]:
        raise RecipeError(f"link: {unknown[0][:40]!r} is not known; a newer program may read it")
    recipe: dict[str, Any] = {
        "schema": SCHEMA,
        "study": study_id,
        "version": items.get(".version", ""),
        "values": {key: value for key, value in items.items() if not key.startswith(".")},
        "quantity": items.get(".quantity", ""),
    }
    if ".seed" in items:
        recipe["seed"] = _read(items, ".seed")
    if ".sweep" in items:
        key, *numbers, scale = items[".sweep"].split(",")
        try:
            low, high, points = map(json.loads, numbers)
        except ValueError:
            raise RecipeError("link: .sweep is not KEY,LOW,HIGH,POINTS,SCALE") from None
        recipe["sweep"] = dict(zip(_SWEEP, (key, low, high, points, scale), strict=True))
    if ".view" in items:
        recipe["view"] = _read(items, ".view")
    if ".pins" in items:
        pinned = _read_pins(recipe, _read(items, ".pins"))
        recipe["view"] = {**_object(recipe.get("view", {})), "pinned": pinned}
    if ".selection" in items:
        recipe |= {"private_only": True, "selection": _read(items, ".selection")}
    return recipe


def _matters(study: Study, key: str, values: Mapping[str, Any], quantity: str) -> bool:
    """Return whether a value is part of the link: it matters and names no file."""
    p = parameter(study, key)
    return p.kind is not Kind.FILE and relevant(p, values, quantity)


def _encode(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _read(items: Mapping[str, str], key: str) -> Any:
    try:
        return json.loads(items[key])
    except (ValueError, RecursionError):
        raise RecipeError(f"link: what stands in {key} is damaged") from None
