"""Public priors of a map as data: check-ins, grids of people and cities on the map's own cells.

A prior is public: whatever it is made of must be known without the data that are protected, and
nobody in it is protected. Of check-ins every user weighs 1; a grid is divided by area; cities weigh
their population, spread by a Gaussian of `CITY_KM`, as the places where people live are wider than
a point. Files are known by their names and the SHA-256 of their bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from explorer.bounded import CallCancelled
from explorer.geography.cities import shipped_cities
from explorer.geography.density_grid import ReleasedGrid, grid_on_region
from explorer.geography.region import Region
from explorer.privacy.core.bound import FloatArray
from explorer.privacy.heatmaps import aggregate, smoothing
from explorer.studies.base.parameters import files_of, names_of
from explorer.studies.base.study import Value
from explorer.studies.heatmap.mechanisms import PRIORS, EarlierRelease

CITY_KM = 12.0
"""Standard deviation of a city's people along each axis."""
LEAST_SPREAD = 0.5
"""The same at least, in cells of the map."""


class Sources(Protocol):
    """What priors are made from: part of `explorer.studies.base.study.Context`."""

    def check(self) -> None:
        """Raise if the work is no longer wanted."""

    def file(self, value: str) -> Path:
        """Return the path of an open file."""

    def checkins_of_file(self, value: str, *, public: bool = False) -> Any:
        """Return the check-ins in an open file."""

    def cached(self, key: object, make: Callable[[], Any]) -> Any:
        """Return the value cached under a key; compute and cache it if there is none."""


@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """A prior on the cells of a map.

    Attributes
    ----------
    key : tuple
        Source, region and grid that it is made of, or its digest.
    masses : ndarray of float64, shape (2^ℓ, 2^ℓ)
        ≥ 0, of sum above 0, row 0 south and column 0 west.
    """

    key: tuple[object, ...]
    masses: FloatArray


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A prior to be made: of what, where, and beside which protected data."""

    value: str
    region: Region
    level: int
    data: str

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.value.rpartition("#")[0]


def priors_of(
    values: Mapping[str, Value],
    region: Region | None,
    level: int,
    sources: Sources,
    data: str = "",
) -> tuple[Prior, ...]:
    """Return the priors that settings name, on a 2^ℓ × 2^ℓ grid of a region.

    Cities are left out of data that do not lie on the Earth.

    Parameters
    ----------
    values : mapping
        With those of `PRIORS` and, for an earlier release, ``epsilon``: one that does not complete
        maps of this ε is left out.
    region : Region or None
        None of made data.
    level : int
    sources : Sources
    data : str
        Fingerprint of the protected data, which are no prior; a privacy unit may follow a hyphen.

    Raises
    ------
    ValueError
        If a prior has no mass in the region, covers less than half of it, is the protected data
        itself, or can't be read; the message names file, field and remedy.
    LookupError
        If a file is not open.
    """
    priors = []
    for key in PRIORS:
        value, make = values.get(key, ""), _MAKERS[key]
        if not value:
            continue
        for one in ("",) if value is True else files_of(value):
            if region is None or region.plane is not None:
                if value is True:
                    continue
                name = names_of(one)[0]
                raise ValueError(
                    f"{key}: {name} lies on the Earth, the map's points do not; leave the file out"
                )
            wanted = _Wanted(one, region, level, data)
            if make is _of_release and not _earlier(wanted).completes(float(values["epsilon"])):
                continue
            prior_key = ("heatmap prior", key, wanted)

            def masses(make: _Maker = make, wanted: _Wanted = wanted) -> FloatArray:
                return make(wanted, sources)

            priors.append(Prior(prior_key, sources.cached(prior_key, masses)))
            sources.check()
    return tuple(priors)


def _of_checkins(wanted: _Wanted, sources: Sources) -> FloatArray:
    """Return the users of a file of check-ins, each of mass 1."""
    checkins, region = sources.checkins_of_file(wanted.value, public=True), wanted.region
    if wanted.data and checkins.fingerprint == wanted.data.partition("-")[0]:
        raise ValueError(
            f"{wanted.name} holds the check-ins of the map itself; a prior is a public file about "
            "others"
        )
    points = checkins.points(region.box, check=sources.check, polygon=region.polygon)
    columns = (points.user, points.lat, points.lon, points.weight)
    counts = aggregate(*columns, region.box, wanted.level, step=region.step)
    if not counts.users:
        raise ValueError(
            f"{wanted.name} has no check-in in the region; choose another file or a larger region"
        )
    return counts.grid()


def _of_grid(wanted: _Wanted, sources: Sources) -> FloatArray:
    """Return what a grid of people puts into the map's cells."""
    stopped: list[Exception] = []

    def cancelled() -> bool:
        try:
            sources.check()
        except Exception as error:  # raised here, where the answer is computed
            stopped.append(error)
        return bool(stopped)

    path = sources.file(wanted.value)
    try:
        return grid_on_region(path, wanted.region.box, 1 << wanted.level, cancelled)
    except CallCancelled:
        raise stopped[0] from None


def _of_release(wanted: _Wanted, sources: Sources) -> FloatArray:
    """Return what the map of an earlier release puts into the map's cells."""
    grid = ReleasedGrid.read(sources.file(wanted.value))
    return grid.onto(wanted.region.box, 1 << wanted.level, f"release {_earlier(wanted).id}")


def _earlier(wanted: _Wanted) -> EarlierRelease:
    return EarlierRelease.parse(wanted.name)


def _of_cities(wanted: _Wanted, sources: Sources) -> FloatArray:
    """Return the population of the cities in a region, spread around each."""
    side, (width, height) = 1 << wanted.level, wanted.region.sides
    masses = shipped_cities().population_on(wanted.region.box, side)
    if not masses.any():
        raise ValueError(
            "prior_cities: no city of the bundled list lies in the region; choose another prior or "
            "a larger region"
        )
    rows, columns = (
        smoothing(side, max(CITY_KM / length, LEAST_SPREAD / side)).matrix
        for length in (height, width)
    )
    return np.asarray(rows @ masses @ columns.T)


_Maker = Callable[[_Wanted, Sources], FloatArray]
_MAKERS: dict[str, _Maker] = {
    "prior_cities": _of_cities,
    "prior_checkins": _of_checkins,
    "prior_grid": _of_grid,
    "prior_release": _of_release,
}
