"""Export policy: what may be written of a view without the non-private map.

A picture, table, document or clipboard that shows only the private surfaces of a map study must not
reveal what the noise protects: not in captions, recipe or file metadata. None of its texts are
copied from the answer: `apply_export_policy` lets the study create them anew (`public_result`), and
passes only the listed fields of view and recipe.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from explorer import __version__
from explorer.figures import captions
from explorer.figures.view_state import ViewState, study_of
from explorer.studies.base.request import Unit
from explorer.studies.base.study import Result, Selection

VIEW = (
    "title",
    "theme",
    "surfaces",
    "colour_map",
    "linked_scale",
    "show_basemap",
    "show_cities",
    "picture",
    "left_out",
)
"""Fields of a view that pass. The visible part of the map does not: whoever moved it saw the
non-private map."""
JUDGED_HERE = (
    "ε or another setting was judged on these check-ins by “Which ε?”: it tells of them, and no "
    "file of private maps alone can be without it. Judge on a stand-in there (synthetic people or "
    "a public file) and take its ε, or include the true map and keep the file to yourself"
)
EARLY = (
    "what is shown is made of a part of the users, and keeps no guarantee: it is exported once all "
    "are counted"
)
_SCHEMA = re.compile(r"privacy-explorer-recipe/\d{1,3}")


def private_only(result: Result, view: ViewState) -> bool:
    """Return whether a view shows a map and no surface for the curator only.

    Raises
    ------
    ValueError
        If the view shows none of the result's surfaces.
    """
    shown = captions.shown_surfaces(result, view)
    return bool(shown) and not any(surface.curator_only for surface in shown)


def apply_export_policy(
    result: Result, view: ViewState, recipe: Mapping[str, Any]
) -> tuple[Result, ViewState, Mapping[str, Any]]:
    """Return result, view and recipe restricted to what may be written.

    They are unchanged if the view shows the non-private map, or if there is no map. Otherwise
    region, time range and n₀ are omitted if they were taken from the check-ins. ε can't be
    omitted, as the noise reveals it, so an ε selected on the check-ins is refused.

    Raises
    ------
    ValueError
        If the result is a preview, the view shows none of its surfaces, ε was selected on the
        check-ins, or the study does not define its public part.
    """
    if result.early:
        raise ValueError(EARLY)
    if not private_only(result, view):
        return result, view, recipe
    chosen = result.request.selection
    if chosen is not None and chosen.judged:
        raise ValueError(JUDGED_HERE)
    study = study_of(result)
    made: Callable[[Result], Result] | None = getattr(study, "public_result", None)
    if study is None or made is None:
        raise ValueError(
            f"study: {result.request.study!r} does not say what of it may be published; include "
            "the true map and keep the file to yourself"
        )
    public = made(result)
    looked = ViewState(**{name: getattr(view, name) for name in VIEW})
    schema = str(recipe.get("schema", ""))
    settings: dict[str, Any] = {
        "schema": schema if _SCHEMA.fullmatch(schema) else "",
        "version": __version__,
        "private_only": True,
        "study": study.id,
        "values": dict(public.request.values),
        "quantity": "",
        "fidelity": "full",
        "selection": _selection(result.request.selection),
        "view": looked.to_dict(),
    }
    return public, looked, settings


def _selection(chosen: Selection | None) -> dict[str, Any]:
    """Return the public part of the selection of users, region and time range."""
    if chosen is None:
        return {}
    told: dict[str, Any] = {
        "region_from": chosen.region_origin.value,
        "users": chosen.users,
        "data_seed": chosen.data_seed,
        "share": chosen.share,
    }
    if chosen.region_origin.may_be_told:
        told["region"] = list(chosen.region.declared)
    if chosen.region.plane is not None:
        told["plane"] = chosen.region.plane.text
    if chosen.image is not None:
        told["image"] = chosen.image
    if chosen.unit is not Unit.USER:
        told["unit"] = chosen.unit.value
    if chosen.start is not None or chosen.end is not None:
        told["time_from"] = chosen.time_origin.value
        if chosen.time_origin.may_be_told:
            told |= {"start": chosen.start, "end": chosen.end}
    for name in ("n0_from", "epsilon_from", "settings_from"):
        came = getattr(chosen, name)
        if not came.may_be_told:
            told[name] = came.value
    return told
