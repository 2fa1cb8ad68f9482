"""How the accountant's numbers become curves, readouts, and absences with their reasons."""

import numpy as np

from explorer.privacy.core.bound import BoolArray, Bound, FloatArray, Role
from explorer.privacy.shuffling.clones import Clones
from explorer.studies.base.study import Readout, Request, Series
from explorer.studies.base.sweeping import SweptPoints, readout_from, series_from
from explorer.studies.shuffle_accountant import names, text

_ROUNDING, _LAST_DIGIT = 1e-11, 1e-15
"""What sums, and a single formula, may lose to rounding, relative to themselves."""


def absent_series(
    request: Request, swept: SweptPoints, keys: tuple[str, ...], why: str = ""
) -> tuple[Series, ...]:
    """Return curves that are nowhere in this sweep, by default because they hold nowhere."""
    nowhere, why = np.full(swept.x.size + 1, np.nan), why or undefined_reason(request)
    variant = Clones(request["clones"])
    return tuple(curve(key, swept, bound_of(key, nowhere, why, variant), variant) for key in keys)


def undefined_reason(request: Request) -> str:
    """Return why there is no answer where there is none: k > n, or nobody sampled."""
    swept = request.sweep.key if request.sweep else ""
    return text.NONE_SAMPLED if swept == "gamma" else text.MORE_THAN_ALL


def joined(*reasons: str) -> str:
    """Return those reasons that there are, as one."""
    return "; or ".join(r for r in reasons if r)


def bound_of(
    key: str,
    values: FloatArray,
    why: str,
    variant: Clones = Clones.PUBLISHED,
    cap: FloatArray | None = None,
) -> Bound:
    """Return a curve's bound; where it is what holds in any case, that errs by a unit or two."""
    _, role, reference = names.curve_names(key, variant)
    known: BoolArray = np.isfinite(values)
    why = "" if known.all() else why
    if role is Role.BASELINE:
        return Bound(values, role, reference, known, why)
    error = np.full(values.shape, _ROUNDING)
    if cap is not None:
        error[known & (values >= cap)] = _LAST_DIGIT
    return Bound.proved(values, role, reference, error, known, why)


def curve(
    key: str,
    swept: SweptPoints,
    bound: Bound,
    variant: Clones = Clones.PUBLISHED,
    note: str = "",
) -> Series:
    """Return a curve under its name."""
    about = "; ".join(n for n in (names.ABOUT.get(key, ""), note) if n)
    return series_from(
        key,
        names.curve_names(key, variant)[0],
        swept,
        bound,
        note=about,
        assumes=names.ASSUMES.get(key, ()),
    )


def readouts_of(bounds: dict[str, Bound], variant: Clones) -> tuple[Readout, ...]:
    """Return the numbers at the sliders' values under the curves' names."""
    return tuple(
        readout_from(key, names.curve_names(key, variant)[0], bound)
        for key, bound in bounds.items()
    )
