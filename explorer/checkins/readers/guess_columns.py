"""Which column is which: guesses by name and by content, and whether rows fit a guess."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from explorer.checkins.errors import printable
from explorer.checkins.model import Mapping, Preview, Reason
from explorer.checkins.readers.guess_plane import limits, planar_columns

Rows = Sequence[Sequence[str]]

_BLANKS = " \t\n\v\f\r"
"""What the reader allows beside a number; Python's own notion has separators such as U+001F too."""

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
    r"([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*(Z|UTC|[+-]\d{2}:?\d{0,2})?)?\s*",
    re.ASCII,
)
# ASCII: neither other scripts' digits nor separators beside a number are numbers to the reader.
_NUMBERS = {
    sign: re.compile(rf"\s*[+-]?(\d+{re.escape(sign)}?\d*|{re.escape(sign)}\d+)([eE][+-]?\d+)?\s*",
                     re.ASCII)
    for sign in ".,"
}  # fmt: skip
_FRACTIONS = {sign: re.compile(rf"\s*[+-]?\d+{re.escape(sign)}\d+\s*", re.ASCII) for sign in ".,"}

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

_DIGITS_ONLY = ("%Y%m%d%H%M%S",)
"""Those of them that are numbers, too: no others need be tried on a column of degrees."""

_FEWEST_DIGITS = 7
"""Of a time in any of these spellings: ``1/1/2010 0:0``."""

_EPOCHS = {"epoch_s": 1.0, "epoch_ms": 1e3, "epoch_us": 1e6}
_FIRST_EPOCH, _LAST_EPOCH = 631_152_000, 4_102_444_800  # 1990 to 2100: else it is just a number


MIN_WEIGHT, MAX_WEIGHT = 1e-100, 1e100
"""Outside of these, sums of weights and of their squares may be lost."""


def number(text: str, decimal: str = ".") -> float | None:
    """Return the number a field holds, or None."""
    if not _NUMBERS[decimal].fullmatch(text):
        return None
    return float(text.strip(_BLANKS).replace(decimal, "."))


def decimal_sign(rows: Rows, delimiter: str) -> str:
    """Return what stands before most fractions of a file: a point or a comma.

    A comma with three digits behind it is no sign of thousands here: degrees have no thousands.
    """
    if delimiter == ",":
        return "."
    cells = [cell for row in rows for cell in row]
    found = {sign: sum(1 for c in cells if p.fullmatch(c)) for sign, p in _FRACTIONS.items()}
    return "," if found[","] > found["."] else "."


def reads_time(text: str, spelling: str, decimal: str = ".") -> bool:
    """Tell whether a field is a time in a spelling of `Mapping.time_format`."""
    if spelling == "iso":
        return ISO.fullmatch(text) is not None
    if spelling in _EPOCHS:
        return number(text, decimal) is not None
    return _parses(spelling, text)


def bad_cells(row: Sequence[str], mapping: Mapping, decimal: str = ".") -> dict[int, str]:
    """Return the columns of a row that can't be read as the mapping says, and why.

    The same rules as loading, cell by cell; a row without any is kept unless it repeats another.
    """
    bad: dict[int, str] = {}

    def cell(column: int) -> str:
        return row[column].strip(_BLANKS) if column < len(row) else ""

    if mapping.user is not None and not cell(mapping.user):
        bad[mapping.user] = "no user"
    if mapping.image is not None and not cell(mapping.image):
        bad[mapping.image] = "no image"
    places = []
    for name, column, low, high in limits(mapping):
        if column is None:
            continue
        value = number(cell(column), decimal)
        if value is None:
            bad[column] = f"no number for the {name}"
        elif not low <= value <= high:
            bad[column] = f"{name} outside {low:g}…{high:g}".replace("-", "−")
        elif value == 0:
            places.append(column)
    if len(places) == 2 and not mapping.planar:
        bad.update(dict.fromkeys(places, UNKNOWN_POSITION))
    time = mapping.time
    if time is not None and not reads_time(cell(time), mapping.time_format, decimal):
        bad[time] = "the time can't be read"
    if mapping.weight is not None:
        value = number(cell(mapping.weight), decimal)
        if value is None or not MIN_WEIGHT <= value <= MAX_WEIGHT:
            bad[mapping.weight] = "the weight is not a positive number"
    return bad


_BLAMED = {
    "time": (Reason.BAD_TIME, Reason.BLANK_FIELD),
    "lat": (Reason.NOT_A_NUMBER, Reason.NOT_FINITE, Reason.OUT_OF_RANGE, Reason.BLANK_FIELD,
            Reason.Y_OUTSIDE),
    "lon": (Reason.NOT_A_NUMBER, Reason.NOT_FINITE, Reason.OUT_OF_RANGE, Reason.BLANK_FIELD,
            Reason.X_OUTSIDE),
    "weight": (Reason.BAD_WEIGHT, Reason.BLANK_FIELD),
    "user": (Reason.BLANK_FIELD,),
    "image": (Reason.BLANK_FIELD,),
}  # fmt: skip
"""Reasons for which a column may be to blame."""

UNKNOWN_POSITION = "(0, 0): unknown position"


def time_format(values: Sequence[str], decimal: str = ".") -> str | None:
    """Return the spelling that most of these fields share, or None if none of ours fits."""
    values = [v for v in values if v.strip()]
    if not values:
        return None
    if _share(values, lambda v: ISO.fullmatch(v) is not None) > 0.5:
        return "iso"
    for name, unit in _EPOCHS.items():

        def since_1970(v: str, unit: float = unit) -> bool:
            n = number(v, decimal)
            return n is not None and _FIRST_EPOCH <= n / unit < _LAST_EPOCH

        if _share(values, since_1970) > 0.5:
            return name
    if _share(values, lambda v: sum(map(str.isdigit, v)) >= _FEWEST_DIGITS) <= 0.5:
        return None  # trying all spellings takes long where there are thousands of columns
    numeric = _share(values, lambda v: number(v, decimal) is not None) > 0.5
    formats = _DIGITS_ONLY if numeric else STRPTIME_FORMATS
    shares = {f: _share(values, partial(_parses, f)) for f in formats}
    best = max(formats, key=lambda f: shares[f])
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


def guess_mapping(
    names: Sequence[str],
    rows: Rows,
    width: int,
    decimal: str = ".",
    tick: Callable[[], None] = lambda: None,
) -> Mapping:
    """Guess which column holds what: by its name, then by what is in it.

    Parameters
    ----------
    names : sequence of str
        The header, or empty.
    rows : sequence of sequence of str
        The first rows, without the header.
    width : int
        How many columns there are.
    decimal : str
        What stands before a fraction.
    tick : callable
        Called for every column; may raise to stop.
    """
    places: dict[str, int] = {}
    for i, name in enumerate(names):
        places.setdefault(_key(name), i)
    whole = [row for row in rows if len(row) == width]
    planar = planar_columns(places, whole, lambda text: number(text, decimal))
    found: dict[str, int] = dict(planar or {})
    for role, known in _NAMES.items():
        for word in known if role not in found else ():
            if word in places and places[word] not in found.values():
                found[role] = places[word]
                break
    values: list[list[str]] = []
    spellings: list[str | None] = []
    for i in range(width):
        tick()
        values.append([row[i] for row in whole])
        spellings.append(time_format(values[i][:200], decimal))
    named_time = found.get("time")
    if named_time is not None and spellings[named_time] is None and any(spellings):
        del found["time"]  # perhaps another column holds the times; else the name stands
    _guess_by_content(found, values, spellings, bool(names), decimal)
    if named_time is not None and named_time not in found.values():
        found.setdefault("time", named_time)
    spelling = spellings[found["time"]] if "time" in found else None
    return Mapping(**found, time_format=spelling or "iso", plane="" if planar else None)


def _guess_by_content(
    found: dict[str, int],
    values: list[list[str]],
    spellings: list[str | None],
    named: bool,
    decimal: str,
) -> None:
    taken = set(found.values())
    free = [i for i in range(len(values)) if i not in taken]
    if "time" not in found:
        for i in free:
            epoch = (spellings[i] or "").startswith("epoch")
            if spellings[i] is not None and not (named and epoch):
                found["time"] = i
                taken.add(i)
                break
        free = [i for i in free if i not in taken]
    if "lat" not in found and "lon" not in found:
        for i in free:
            # right after user and time, as in SNAP text, whole degrees are degrees too
            snap = not named and i == 2 and found.get("time") == 1
            if (
                i + 1 < len(values)
                and i + 1 not in taken
                and _degrees(values[i], 90, not snap, decimal)
                and _degrees(values[i + 1], 180, not snap, decimal)
            ):
                found["lat"], found["lon"] = i, i + 1
                free = [k for k in free if k not in (i, i + 1)]
                break
    if "user" not in found and free and "lat" in found and "lon" in found:
        found["user"] = free.pop(0)
    if "location" not in found and free and not named and "user" in found:
        found["location"] = free[0]


def _degrees(values: Sequence[str], limit: float, fractions: bool, decimal: str) -> bool:
    """Tell whether a column looks like degrees: inside ±limit and, if asked for, with fractions."""
    if not values:
        return False

    def fits(v: str) -> bool:
        n = number(v, decimal)
        return n is not None and math.isfinite(n) and abs(n) <= limit

    fractional = _share(values, lambda v: decimal in v)
    return _share(values, fits) > 0.5 and (fractional > 0.5 or not fractions)


def fitting_share(rows: Rows, mapping: Mapping, width: int, decimal: str = ".") -> float:
    """Return the share of rows that the mapping can read, unknown positions included."""
    if mapping.missing or not rows:
        return 0.0

    def fits(row: Sequence[str]) -> bool:
        bad = bad_cells(row, mapping, decimal) if len(row) == width else {0: "fields"}
        return all(why == UNKNOWN_POSITION for why in bad.values())

    return sum(map(fits, rows)) / len(rows)


def mapping_problem(preview: Preview, mapping: Mapping, failing: dict[Reason, int]) -> str:
    """Return which column is to blame for most rows that fail, and what stands there.

    Returns
    -------
    str
        To be put behind a sentence: beginning with a colon, or empty.
    """
    worst = max(failing, key=lambda reason: failing[reason], default=None)
    for role, reasons in _BLAMED.items():
        column = getattr(mapping, role)
        if worst not in reasons or column is None:
            continue
        for row in preview.rows:
            if column in bad_cells(row, mapping, preview.dialect.decimal):
                text = printable(row[column][:40]) if column < len(row) else ""
                name = printable(preview.columns[column][:40])
                return f": the column “{name}” holds “{text}”, where {worst.said(mapping)}"
    return ""


def mapping_problems(
    columns: Sequence[str], rows: Rows, mapping: Mapping, decimal: str = "."
) -> list[str]:
    """Return what is doubtful about a guessed mapping, in sentences."""
    found = []
    if mapping.missing:
        found.append("No column looks like " + ", ".join(mapping.missing) + ".")
    if mapping.time is not None:
        texts = [row[mapping.time] for row in rows if mapping.time < len(row)]
        bad = [t for t in texts if not reads_time(t, mapping.time_format, decimal)]
        if len(bad) > len(texts) / 2:
            found.append(
                f"The column “{printable(columns[mapping.time][:40])}” holds no times that can be "
                f"read, such as “{printable(bad[0][:40])}”: choose another one, or none."
            )
    return found


def with_columns(preview: Preview, chosen: dict[str, int | None]) -> Mapping:
    """Return a preview's mapping with some columns put right, and times as they are spelt there.

    Parameters
    ----------
    chosen : dict
        Role to column; None leaves the role out.
    """
    mapping = replace(preview.mapping, **chosen)  # type: ignore[arg-type]
    if mapping.time in (None, preview.mapping.time):
        return mapping
    values = [row[mapping.time] for row in preview.rows if mapping.time < len(row)]
    spelling = time_format(values, preview.dialect.decimal)
    return replace(mapping, time_format=spelling or "iso")
