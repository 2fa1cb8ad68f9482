"""Which column is which: guesses by name and by content, and whether rows fit a guess."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from explorer.checkins.model import Mapping

Rows = Sequence[Sequence[str]]

_NAMES: dict[str, tuple[str, ...]] = {
    "user": ("user", "userid", "uid", "useridentifier", "username", "person", "personid", "member"),
    "time": (
        "time", "timestamp", "datetime", "date", "utctime", "checkintime", "createdat", "created",
        "utc", "ts", "when", "localtime",
    ),
    "lat": ("lat", "latitude", "y", "ycoord", "venuelat", "venuelatitude"),
    "lon": ("lon", "lng", "long", "longitude", "x", "xcoord", "venuelon", "venuelng",
            "venuelongitude"),
    "location": (
        "loc", "location", "locationid", "locid", "venue", "venueid", "poi", "poiid", "place",
        "placeid", "spot", "spotid",
    ),
    "weight": ("count", "weight", "n", "visits", "freq", "frequency", "checkins", "num"),
}  # fmt: skip

ISO = re.compile(
    r"\s*\d{4}[-/]\d{1,2}[-/]\d{1,2}"
    r"([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*(Z|UTC|[+-]\d{2}:?\d{0,2})?)?\s*"
)
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")

STRPTIME_FORMATS = (
    "%a %b %d %H:%M:%S %z %Y",
    "%Y%m%dT%H%M%SZ",
    "%Y%m%d%H%M%S",
    "%m/%d/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%d/%m/%Y %H:%M:%S",
    "%d/%m/%Y %H:%M",
)
"""Spellings of time tried when ISO 8601 does not fit; day and month told apart by the rows."""

_EPOCHS = {"epoch_s": 1.0, "epoch_ms": 1e3, "epoch_us": 1e6}
_FIRST_EPOCH, _LAST_EPOCH = 631_152_000, 4_102_444_800  # 1990 to 2100: else it is just a number


def number(text: str) -> float | None:
    """Return the number a field holds, or None."""
    return float(text) if _NUMBER.fullmatch(text) else None


def time_format(values: Sequence[str]) -> str | None:
    """Return the spelling that most of these fields share, or None if none of ours fits."""
    values = [v for v in values if v.strip()]
    if not values:
        return None
    if _share(values, lambda v: ISO.fullmatch(v) is not None) > 0.5:
        return "iso"
    for name, unit in _EPOCHS.items():

        def since_1970(v: str, unit: float = unit) -> bool:
            n = number(v)
            return n is not None and _FIRST_EPOCH <= n / unit < _LAST_EPOCH

        if _share(values, since_1970) > 0.5:
            return name
    shares = {f: _share(values, partial(_parses, f)) for f in STRPTIME_FORMATS}
    best = max(STRPTIME_FORMATS, key=lambda f: shares[f])
    return best if shares[best] > 0.5 else None


def _parses(spelling: str, value: str) -> bool:
    try:
        datetime.strptime(value.strip(), spelling)
    except ValueError:
        return False
    return True


def _share(values: Sequence[str], test: Callable[[str], bool]) -> float:
    return sum(1 for v in values if test(v)) / len(values)


def looks_like_header(rows: Rows) -> bool:
    """Tell whether the first row holds names: known ones, or no number where the others have some.

    A first row that is only broken (a single bad field) is not a header.
    """
    first = [cell.strip() for cell in rows[0]]
    keys = [_key(cell) for cell in first]
    known = sum(any(key in names for names in _NAMES.values()) for key in keys)
    if any(number(cell) is not None or ISO.fullmatch(cell) for cell in first):
        return False
    if known >= 2:
        return True
    below = [row for row in rows[1:200] if len(row) == len(first)]
    if not below or len(first) < 2:
        return known >= 1 and len(first) >= 2
    numeric = [
        i for i in range(len(first))
        if _share([row[i] for row in below], lambda v: number(v) is not None) > 0.5
    ]  # fmt: skip
    return (
        len(numeric) >= 2
        and all(re.match(r"[^\W\d]", first[i]) for i in numeric)
        and not any(first[i].lower() in ("nan", "inf", "null", "none", "na") for i in numeric)
    )


def _key(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


def guess_mapping(names: Sequence[str], rows: Rows, width: int) -> Mapping:
    """Guess which column holds what: by its name, then by what is in it.

    Parameters
    ----------
    names : sequence of str
        The header, or empty.
    rows : sequence of sequence of str
        The first rows, without the header.
    width : int
        How many columns there are.
    """
    found: dict[str, int] = {}
    for role, known in _NAMES.items():
        for word in known:
            hits = [i for i, name in enumerate(names) if _key(name) == word]
            if hits and hits[0] not in found.values():
                found[role] = hits[0]
                break
    values = [[row[i] for row in rows if len(row) == width] for i in range(width)]
    spellings = [time_format(column[:200]) for column in values]
    named_time = found.get("time")
    if named_time is not None and spellings[named_time] is None and any(spellings):
        del found["time"]  # perhaps another column holds the times; else the name stands
    _guess_by_content(found, values, spellings, bool(names))
    if named_time is not None and named_time not in found.values():
        found.setdefault("time", named_time)
    spelling = spellings[found["time"]] if "time" in found else None
    return Mapping(**found, time_format=spelling or "iso")


def _guess_by_content(
    found: dict[str, int],
    values: list[list[str]],
    spellings: list[str | None],
    named: bool,
) -> None:
    free = [i for i in range(len(values)) if i not in found.values()]
    if "time" not in found:
        for i in free:
            epoch = (spellings[i] or "").startswith("epoch")
            if spellings[i] is not None and not (named and epoch):
                found["time"] = i
                free.remove(i)
                break
    if "lat" not in found and "lon" not in found:
        for i in free:
            # right after user and time, as in SNAP text, whole degrees are degrees too
            snap = not named and i == 2 and found.get("time") == 1
            if (
                i + 1 in free
                and _degrees(values[i], 90, fractions=not snap)
                and _degrees(values[i + 1], 180, fractions=not snap)
            ):
                found["lat"], found["lon"] = i, i + 1
                free = [k for k in free if k not in (i, i + 1)]
                break
    if "user" not in found and free and "lat" in found and "lon" in found:
        found["user"] = free.pop(0)
    if "location" not in found and free and not named and "user" in found:
        found["location"] = free[0]


def _degrees(values: Sequence[str], limit: float, fractions: bool) -> bool:
    """Tell whether a column looks like degrees: inside ±limit and, if asked for, with fractions."""
    if not values:
        return False

    def fits(v: str) -> bool:
        n = number(v)
        return n is not None and math.isfinite(n) and abs(n) <= limit

    fractional = _share(values, lambda v: "." in v)
    return _share(values, fits) > 0.5 and (fractional > 0.5 or not fractions)


def fitting_share(rows: Rows, mapping: Mapping, width: int) -> float:
    """Return the share of rows with the right number of fields and readable degrees."""
    if mapping.missing or not rows:
        return 0.0
    lat, lon = mapping.lat, mapping.lon
    assert lat is not None
    assert lon is not None

    def fits(row: Sequence[str]) -> bool:
        if len(row) != width:
            return False
        y, x = number(row[lat]), number(row[lon])
        return y is not None and x is not None and abs(y) <= 90 and abs(x) <= 180

    return sum(map(fits, rows)) / len(rows)
