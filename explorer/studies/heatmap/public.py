"""What of a heatmap may stand where nothing private may: settings, guarantee, noisy numbers.

Nothing is taken out of an answer here; an answer is made anew. Words are made of the settings
alone, numbers are those made of noise, and what is on neither list does not pass:

- settings (mechanism and its parameters, the sample's size or share and public seed), version;
- region and time range if somebody typed them or they are public constants, else only that they
  came from the data; n₀ likewise;
- the private map, and numbers and remarks that are functions of noisy counts.

What counts users or check-ins, names the file, compares with the truth, was found from the data,
took so long, or makes the draw again stays with the curator.
"""

from __future__ import annotations

from explorer.privacy.core.bound import Role
from explorer.studies.base.study import Fidelity, Request, Result, ScalarResult, Surface
from explorer.studies.heatmap import text
from explorer.studies.heatmap.guarantee import conditions, guarantee
from explorer.studies.heatmap.parameters import PARAMETERS, is_map, is_private, request_of_surface

MADE_OF_NOISE = {
    "cells_read": "Noisy counts read",
    "objective": "Misfit minimised",
    "noisy_users": "Users by noisy counts",
    "flatness": "Flatness statistic F",
    "prior_weight": "Weight of the priors on the finest level read, by noisy counts",
    "centres_cost": "Mean distance to the nearest centre",
    "centres_kappa": "κ of Corollary A.1 for one user, in sides of the map; λ's constant is not "
    "known",
    "points": "Noisy points",
    "points_clamped": "Noisy points outside, on the region's side",
}
"""Readouts that are functions of noisy counts or points, and their labels."""
OF_SETTINGS = {
    "messages": ("Messages a user sends", ""),
    "message_bits": ("Bits of a message", ""),
    "megabytes": ("A user sends", "MB"),
    "noise_sd": ("Noise of a cell (standard deviation)", "users"),
    "lost_below": ("Cells mostly come out empty below", "users"),
    "worst_error": ("Largest error of any cell, with 95 %", "users"),
}
"""Readouts that are functions of the settings alone, n₀ among them: label and unit."""
IN_ITS_UNIT = ("centres_cost",)
"""Functions of noise that tell how large the region is."""
LEVEL, PRIOR_WEIGHT = "epsilon_level_", "prior_weight_level_"
"""Beginnings of the keys of readouts of single levels."""
NOISY_NOTES = (
    text.ALL_COUNTS_NEGATIVE,
    text.TOTAL_NEGATIVE,
    text.PRIOR_ALONE,
    text.ALL_CELLS_EMPTY,
    text.TOO_FEW_USERS,
    text.NOT_FLAT,
    text.MAYBE_FLAT,
)
"""Remarks that are functions of noisy counts, or of the settings."""


def noise_readout(key: str, value: float) -> ScalarResult:
    """Return the readout of a function of noisy counts or points.

    Weights of priors are estimates: the program's own judgement by the evidence of noisy counts.
    """
    if key.startswith(PRIOR_WEIGHT):
        level = key.removeprefix(PRIOR_WEIGHT)
        label = f"Weight of the priors on level {level}, by noisy counts"
        return ScalarResult(key, label, value, Role.ESTIMATE)
    return ScalarResult(key, MADE_OF_NOISE[key], value)


def public_result(result: Result) -> Result:
    """Return a new answer with the public part of an answer alone.

    Its request has neither data nor seed; its surfaces have a region only if that may be told.
    """
    request = result.request
    selection = request.selection
    tell_n0 = selection is None or selection.n0_from.may_be_told
    tell_region = selection is not None and selection.region_origin.may_be_told
    own_values = dict(request.values)
    values = tuple(
        (p.key, p.parse(own_values[p.key]))
        for p in PARAMETERS
        if p.key in own_values and (p.key != "n0" or tell_n0)
    )
    stamps = [text.stamp(synthetic, curator_only=False) for synthetic in (False, True)]
    stamp = result.stamp if result.stamp in stamps else stamps[0]
    surfaces = tuple(
        Surface(
            s.key,
            _label(request, s.key),
            s.values,
            s.region if tell_region else None,
            False,
            stamp,
            overlay=s.overlay,
            source=s.source,
        )
        for s in result.surfaces
        if is_private(s.key) and not s.curator_only
    )
    return Result(
        Request(request.study, values),
        Fidelity.FULL,
        surfaces=surfaces,
        readouts=tuple(_readouts(result, tell_n0, tell_region)),
        conditions=conditions(request),
        guarantee=guarantee(request),
        notes=(*text.notes(request), *_notes(result)),
        stamp=stamp,
        complete=True,
    )


def _label(request: Request, key: str) -> str:
    if is_map(key):
        return text.pane_label(request_of_surface(request, key))
    return text.drawing_label(request, key)


def _readouts(result: Result, tell_n0: bool, tell_region: bool) -> list[ScalarResult]:
    readouts = []
    for item in result.readouts:
        weighs = item.key.startswith(PRIOR_WEIGHT)
        label = item.label if weighs else MADE_OF_NOISE.get(item.key, "")
        level = item.key.removeprefix(LEVEL)
        unit = ""
        if tell_n0 and item.key in OF_SETTINGS:
            label, unit = OF_SETTINGS[item.key]
        if item.key.startswith(LEVEL) and level.isdecimal() and tell_n0:
            label = f"ε of level {level}"
        if item.key in IN_ITS_UNIT and not tell_region:
            continue
        if label and not item.curator_only:
            unit = unit or item.unit * (item.key in IN_ITS_UNIT)
            readouts.append(ScalarResult(item.key, label, item.value, item.role, unit=unit))
    return readouts


def _notes(result: Result) -> list[str]:
    """Return the remarks of an answer that noisy counts alone lead to.

    The text is that of the list: a remark that is not on it, word for word, does not pass.
    """
    return [note for note in NOISY_NOTES if note in result.notes]
