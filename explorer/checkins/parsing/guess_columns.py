"""Assigns columns to roles by name and contents."""

import math
import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import time
from functools import cached_property
from typing import Any

from explorer.checkins.errors import printable
from explorer.checkins.model import E7, Candidate, Mapping, Preview, Question, Reason
from explorer.checkins.parsing.column_names import (
    AMBIGUOUS_WORDS,
    CALENDAR,
    CLEAR_WORDS,
    HOUSEHOLDS,
    NO_COORDINATE,
    NOBODY,
    OTHER_TIME_WORDS,
    UNSURE_WEIGHTS,
    ZONES,
    Sure,
    coordinate_of,
    identity_of,
    is_known_column,
    key,
    language_of,
    names_day,
    names_no_person,
    names_time,
    words_in,
    words_of,
)
from explorer.checkins.parsing.crs import (
    beyond_the_poles,
    candidates,
    e7_columns,
    is_e7,
    looks_swapped,
    metric_columns,
    planar_columns,
    points_of,
)
from explorer.checkins.parsing.numbers import (
    LATITUDE_FIRST,
    LONGITUDE_FIRST,
    MAX_LENGTH,
    Rows,
    has_fraction,
    match_field,
    number,
    point_in,
)
from explorer.checkins.parsing.row_rules import UNKNOWN_POSITION, bad_cells
from explorer.checkins.parsing.times import (
    EPOCHS,
    SERIALS,
    UTC_NAMES,
    formats_of,
    is_iso,
    moment,
    only_digits,
    share,
    time_fault,
    time_format,
)
from explorer.user_rows import id_text

_OF_COORDINATES = (
    Reason.NOT_A_NUMBER,
    Reason.NOT_FINITE,
    Reason.OUT_OF_RANGE,
    Reason.BLANK_FIELD,
    Reason.THOUSANDS,
)
_REASONS_OF_ROLE = {
    "time": (Reason.BAD_TIME, Reason.BLANK_FIELD),
    "lat": (*_OF_COORDINATES, Reason.Y_OUTSIDE),
    "lon": (*_OF_COORDINATES, Reason.X_OUTSIDE),
    "weight": (Reason.BAD_WEIGHT, Reason.BLANK_FIELD, Reason.THOUSANDS),
    "user": (Reason.BLANK_FIELD,),
    "image": (Reason.BLANK_FIELD,),
}
"""Reasons to attribute to a column, by role."""

FEW, OF_ROWS = 10, 1000
"""A user column has more than `FEW` values per `OF_ROWS` rows; else a question is asked. In fewer
than `FEW` rows repetition is not informative."""

MAX_CANDIDATES = 6
_MANY = {2: "Two", 3: "Three", 4: "Four", 5: "Five", 6: "Six"}
_SHOWN = 40
_CLOCK = re.compile(r"\s*\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?\s*([AaPp][Mm])?\s*", re.ASCII)
_ZONED = re.compile(r"\s*\d{4}-\d{1,2}-\d{1,2}[T ][\d:.]+\s*(Z|[+-]\d{2}:?\d{2})\s*", re.ASCII)


def looks_like_header(rows: Rows) -> bool:
    """Return whether the first row is a header: known names, or text above numbers.

    A first row that is only broken (a single bad field) is not a header.
    """
    first = [cell.strip() for cell in rows[0]]
    familiar = sum(map(is_known_column, first))
    if any(is_number(cell) or is_iso(cell) for cell in first):
        return False
    if familiar >= 2:
        return True
    below = [row for row in rows[1:200] if len(row) == len(first)]
    if not below or len(first) < 2:
        return familiar >= 1 and len(first) >= 2
    values = [[row[i] for row in below] for i in range(len(first))]
    numeric = [i for i in range(len(first)) if share(values[i], is_number) > 0.5]
    points = (i for i in range(len(first)) if share(values[i], lambda v: bool(point_in(v))) > 0.5)
    if any(point_in(first[i]) is None and first[i][:1].isalpha() for i in points):
        return True
    return (
        len(numeric) >= 2
        and all(re.match(r"[^\W\d]", first[i]) for i in numeric)
        and not any(first[i].lower() in ("nan", "inf", "null", "none", "na") for i in numeric)
    )


def is_number(text: str) -> bool:
    """Return whether a text is a number with a point or comma."""
    return any(number(text, sign) is not None for sign in ".,")


@dataclass(frozen=True)
class Guess:
    """Guessed mapping and open questions.

    Attributes
    ----------
    mapping : Mapping
        Without the columns in question.
    questions : tuple of Question
        Of the columns: ``user``, ``position`` and ``time``.
    """

    mapping: Mapping
    questions: tuple[Question, ...]


@dataclass
class _Columns:
    """Names and values of the columns, and the roles assigned so far.

    Attributes
    ----------
    names : sequence of str
        As they are shown.
    named : bool
        Whether the file has names; else they are numbers.
    rows : sequence of sequence of str
        Those with all fields.
    decimal : str
    serials : str
        As in `Preview`.
    tick : callable
        Called for each inspected column; may raise to stop.
    """

    names: Sequence[str]
    named: bool
    rows: Rows
    decimal: str
    serials: str = ""
    tick: Callable[[], None] = lambda: None
    roles: dict[str, int] = field(default_factory=dict)

    @cached_property
    def values(self) -> list[list[str]]:
        """Values of each column."""
        return [[row[i] for row in self.rows] for i in range(len(self.names))]

    @cached_property
    def filled(self) -> list[list[str]]:
        """Non-blank values of each column, stripped."""
        return [[v for value in column if (v := value.strip())] for column in self.values]

    @cached_property
    def spellings(self) -> list[str | None]:
        """Time format of each column, or None."""
        return [self._spelling(column[:200]) for column in self.filled]

    def _spelling(self, values: Sequence[str]) -> str | None:
        self.tick()
        return time_format(values, self.decimal, self.serials)

    @cached_property
    def moments(self) -> list[str]:
        """Kind of time in each column: ``moment``, ``day``, ``clock``, or empty.

        Where there are names, numbers count only if one says that they are times. Moments that are
        all at midnight are days: a spreadsheet has no days without a time of day.
        """
        return [self._moment(i) for i in range(len(self.names))]

    def _moment(self, i: int) -> str:
        spelling, some = self.spellings[i], self.filled[i][:200]
        named = self.named and names_time(self.names[i]) is not Sure.NO
        if spelling is None:
            clock = bool(some) and share(some, lambda v: bool(match_field(_CLOCK, v))) > 0.8
            return "clock" if clock or (named and self._are_parts_of_a_day(some)) else ""
        if only_digits(spelling) and self.named and not named:
            return ""
        if spelling in EPOCHS:
            return "moment"
        moments = (moment(v, spelling, self.decimal) for v in some)
        return "day" if all(t.time() == time() for t in moments if t is not None) else "moment"

    def _are_parts_of_a_day(self, values: Sequence[str]) -> bool:
        """Return whether spreadsheet numbers may be times of day without a format."""
        numbers = [number(v, self.decimal) for v in values] if self.serials else []
        return any(numbers) and all(n is not None and 0 <= n < 1 for n in numbers)

    def may_be_no_time(self, i: int) -> bool:
        """Return whether numbers that look like times may be something else."""
        spelling = self.spellings[i]
        if not only_digits(spelling):
            return False
        if spelling not in SERIALS:
            return not self.named
        sure = self.named and names_time(self.names[i]) is Sure.YES
        # Whole numbers of this size may be seconds of a day as well.
        return not sure or (self.moments[i] == "day" and not names_day(self.names[i]))

    def is_free(self, i: int) -> bool:
        """Return whether a column has no role yet."""
        return i not in self.roles.values()

    def degrees(self, i: int, limit: float, fractions: bool = False) -> bool:
        """Return whether most values may be degrees, with fractions if required."""
        values = self.filled[i][:500]

        def fits(v: str) -> bool:
            n = number(v, self.decimal)
            return n is not None and math.isfinite(n) and abs(n) <= limit

        fractional = bool(values) and share(values, lambda v: self.decimal in v) > 0.5
        return bool(values) and share(values, fits) > 0.5 and (fractional or not fractions)

    def name(self, *columns: int) -> str:
        """Return the display names of columns."""
        return ", ".join(printable(self.names[i][:_SHOWN]) for i in dict.fromkeys(columns))

    def candidate(self, *more: tuple[str, Any], note: str = "", **roles: int) -> Candidate:
        """Return a candidate that assigns columns to roles."""
        columns = tuple(dict.fromkeys(roles.values()))
        row = next((r for r in self.rows if all(r[i].strip() for i in columns)), None)
        example = "" if row is None else printable(", ".join(row[i].strip() for i in columns))
        about = "; ".join(filter(None, (example[:_SHOWN], note)))
        return Candidate(self.name(*columns), (*roles.items(), *more), about)


def guess_mapping(
    names: Sequence[str],
    rows: Rows,
    width: int,
    decimal: str = ".",
    tick: Callable[[], None] = lambda: None,
    no_user: tuple[Candidate, ...] = (),
    tabbed: bool = False,
    serials: str = "",
) -> Guess:
    """Guess the roles of the columns, by name, then by contents.

    Parameters
    ----------
    names : sequence of str
        The header, or empty.
    rows : sequence of sequence of str
        The first rows, without the header.
    width : int
        How many columns there are.
    decimal : str
        Decimal sign.
    tick : callable
        Called now and then; may raise to stop.
    no_user : tuple of Candidate
        Answers for a file without a column of persons.
    tabbed : bool
        Whether tabs separate the fields, as in SNAP text.
    serials : str
        As in `Preview`.
    """
    shown = list(names) or [f"column {i + 1}" for i in range(width)]
    whole = [row for row in rows if len(row) == width]
    columns = _Columns(shown, bool(names), whole, decimal, serials, tick)
    tick()
    if tabbed and not names and _is_snap(whole, width, decimal):
        snap = Mapping(0, 1, 2, 3, 4, time_format=time_format(columns.values[1], decimal) or "iso")
        swapped = looks_swapped(whole, snap, decimal)
        turned = _pair_question(columns, [(3, 2, ()), (2, 3, ())], swapped)
        return Guess(snap, (turned,) if swapped else ())
    questions: list[Question | None] = []
    settings: dict[str, Any] = {}
    questions.append(_positions(columns, settings))
    tick()
    _places_and_weights(columns)
    questions.append(_weights(columns))
    questions.append(_times(columns))
    tick()
    questions.insert(0, _users(columns, no_user))
    roles: dict[str, Any] = columns.roles
    time = roles.get("time")
    spelling = time_format(columns.values[time], decimal, serials) if time is not None else None
    mapping = Mapping(**roles, time_format=spelling or "iso", **settings)
    return Guess(mapping, tuple(one for one in questions if one is not None))


def _is_snap(rows: Rows, width: int, decimal: str) -> bool:
    """Return whether rows have the SNAP layout: id, zoned time, degrees, integer id."""

    def fits(row: Sequence[str]) -> bool:
        lat, lon = number(row[2], decimal), number(row[3], decimal)
        return (
            bool(row[0].strip())
            and match_field(_ZONED, row[1]) is not None
            and lat is not None
            and lon is not None
            and abs(lat) <= 90
            and abs(lon) <= 180
            and bool(row[4].strip())
            and not any(has_fraction(row[4], sign) for sign in ".,")
        )

    return width == 5 and bool(rows) and share(rows, fits) > 0.5  # type: ignore[arg-type]


def roles_by_name(names: Sequence[str], rows: Rows, decimal: str) -> dict[str, int]:
    """Return roles of columns encoded in folder names, one row per file.

    The frequency of values is no evidence there, so that only names identify persons.
    """
    columns = _Columns(names, True, rows, decimal)
    persons = (i for i, name in enumerate(names) if identity_of(name).sure is Sure.YES)
    times = (i for i, kind in enumerate(columns.moments) if kind in ("moment", "day"))
    for role, there in (("user", persons), ("time", times)):
        if (first := next(there, None)) is not None:
            columns.roles[role] = first
    _places_and_weights(columns)
    return columns.roles


def _places_and_weights(columns: _Columns) -> None:
    """Assign location and weight columns by name."""
    if not columns.named:
        return
    places: dict[str, int] = {}
    for i, name in enumerate(columns.names):
        places.setdefault(key(name), i)
    for role, words in words_of(language_of(columns.names), ("location", "weight")).items():
        for word in words:
            if word in places and columns.is_free(places[word]):
                columns.roles[role] = places[word]
                break


def _weights(columns: _Columns) -> Question | None:
    """Return the question whether rows count more than once, if a name leaves it open."""
    i = columns.roles.get("weight")
    if i is None or (columns.filled[i] and key(columns.names[i]) not in UNSURE_WEIGHTS):
        return None
    del columns.roles["weight"]
    if not columns.filled[i]:
        return None
    title = "Does a row count more than once?"
    why = f"“{columns.name(i)}” may be a number of visits, or another one."
    once = Candidate("every row counts once", (("weight", None),))
    there = columns.candidate(weight=i)
    return Question("weight", title, why, ("weight",), (there, once), None)


# Positions


def _positions(columns: _Columns, settings: dict[str, Any]) -> Question | None:
    """Assign position columns; return the question that remains, if any."""
    roles, pairs = columns.roles, _pairs(columns, CLEAR_WORDS)
    strong = bool(pairs)
    places: dict[str, int] = {}
    for i, name in enumerate(columns.names if columns.named else ()):
        places.setdefault(key(name), i)
    read = _reader(columns)
    in_degrees = [pair for pair in pairs if _both_degrees(columns, pair)]
    e7 = e7_columns(columns.names) if columns.named and not in_degrees else {}
    if e7:
        roles.update(e7)
        settings["crs"] = E7
        return None
    pairs = in_degrees or pairs
    if not pairs:
        metric = metric_columns(places, columns.rows, read)
        planar = planar_columns(places, columns.rows, read)
        if planar and (metric is None or "image" in planar):
            roles.update(planar)
            settings["plane"] = ""
            return None
        if metric:
            roles.update(metric)
            settings["crs"] = ""
            return None
        pairs = [
            p for p in _pairs(columns, AMBIGUOUS_WORDS) if _both_degrees(columns, p, fractions=True)
        ]
    if len(pairs) == 1:
        lat, lon, rest = pairs[0]
        if not strong and rest:
            why = "Their names do not say that they are degrees."
            return _pair_question(columns, pairs, why)
        return _one_pair(columns, lat, lon, settings)
    if pairs:
        return _pair_question(
            columns, pairs, f"{_MANY.get(len(pairs), len(pairs))} pairs of columns hold positions."
        )
    return _unnamed_position(columns)


def _reader(columns: _Columns) -> Callable[[str], float | None]:
    return lambda text: number(text, columns.decimal)


_Pair = tuple[int, int, tuple[str, ...]]


def _pairs(columns: _Columns, words: dict[str, frozenset[str]]) -> list[_Pair]:
    """Return pairs of columns named latitude and longitude that otherwise agree."""
    if not columns.named:
        return []
    by_rest: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for i, name in enumerate(columns.names):
        coordinate = coordinate_of(name, words)
        if coordinate is not None and columns.filled[i]:
            by_rest.setdefault(coordinate[1], {"lat": [], "lon": []})[coordinate[0]].append(i)
    if words is CLEAR_WORDS:
        _add_joined_pairs(columns, by_rest)
    return [
        (lat, lon, rest)
        for rest, roles in by_rest.items()
        for lat in roles["lat"]
        for lon in roles["lon"]
    ]


def _add_joined_pairs(
    columns: _Columns, by_rest: dict[tuple[str, ...], dict[str, list[int]]]
) -> None:
    """Add pairs such as ``siteLat`` and ``siteLng`` written as one word."""
    for i, name in enumerate(columns.names):
        letters, words = key(name), set(words_in(name))
        if (
            words & (CLEAR_WORDS["lat"] | CLEAR_WORDS["lon"] | NO_COORDINATE)
            or not columns.filled[i]
        ):
            continue
        for role, ends in (("lat", ("latitude", "lat")), ("lon", ("longitude", "lng", "lon"))):
            end = next((e for e in ends if letters.endswith(e) or letters.startswith(e)), None)
            if end is not None:
                rest = letters.removesuffix(end) if letters.endswith(end) else letters[len(end) :]
                by_rest.setdefault(("", rest), {"lat": [], "lon": []})[role].append(i)
                break


def _both_degrees(columns: _Columns, pair: _Pair, fractions: bool = False) -> bool:
    return columns.degrees(pair[0], 90, fractions) and columns.degrees(pair[1], 180, fractions)


def _one_pair(columns: _Columns, lat: int, lon: int, settings: dict[str, Any]) -> Question | None:
    """Assign the only pair, unless its values require a question."""
    columns.roles.update(lat=lat, lon=lon)
    pair = Mapping(lat=lat, lon=lon)
    if candidates(points_of(columns.rows, lat, lon, _reader(columns))):
        settings["crs"] = ""
        return None
    if reason := beyond_the_poles(columns.rows, pair, columns.decimal):
        return _pair_question(columns, [(lon, lat, ()), (lat, lon, ())], reason)
    beside = _hemispheres(columns, lat, lon)
    if beside:
        del columns.roles["lat"], columns.roles["lon"]
        why = (
            f"They have no sign, and the columns {columns.name(*beside)} say which hemisphere is "
            "meant, which is not read: write southern latitudes and western longitudes with a "
            "minus, or go on if there are none."
        )
        return _pair_question(columns, [(lat, lon, ())], why, preselected=None)
    return None


def _hemispheres(columns: _Columns, lat: int, lon: int) -> tuple[int, ...]:
    """Return columns of hemispheres that belong to unsigned coordinates."""
    if any(v.startswith("-") for i in (lat, lon) for v in columns.filled[i]):
        return ()
    letters = [{v.upper() for v in filled[:500]} for filled in columns.filled]
    kinds: tuple[Collection[str], ...] = (
        {"N", "S", "NORTH", "SOUTH"},
        {"E", "W", "EAST", "WEST", "O"},
    )
    return tuple(
        i for kind in kinds for i, seen in enumerate(letters) if seen and seen <= set(kind)
    )


def _unnamed_position(columns: _Columns) -> Question | None:
    """Return the question for positions without recognised names, with candidates."""
    there: list[Candidate] = []
    for i in range(len(columns.names)):
        there += _point_candidates(columns, i)
    one = bool(there)
    if not there:
        there = _degree_candidates(columns)
    why = (
        "Both coordinates stand in one column, and it must be said which comes first."
        if one
        else "No names of columns say it. "
        + (
            "These may be meant by their values."
            if there
            else "Codes, addresses, and degrees with minutes are not read: write a column with "
            "decimal degrees for each, called lat and lon."
        )
    )
    return _position_question(why, there, 0 if there else None)


def _point_candidates(columns: _Columns, i: int) -> list[Candidate]:
    """Return candidates for a column with both coordinates, the likelier order first."""
    some = columns.filled[i][:200]
    points = [pair for v in some if (pair := point_in(v)) is not None]
    if not points or len(points) <= 0.8 * len(some):
        return []
    first, second = zip(*points, strict=True)
    orders = [
        order
        for order, lat, lon in ((LATITUDE_FIRST, first, second), (LONGITUDE_FIRST, second, first))
        if share(lat, lambda n: abs(n) <= 90) > 0.5 and share(lon, lambda n: abs(n) <= 180) > 0.5  # type: ignore[arg-type]
    ]
    words = words_in(columns.names[i])
    if some[0].upper().lstrip("SRID=0123456789; ").startswith("POINT") or (
        set(words) & CLEAR_WORDS["lon"] and words[0] in CLEAR_WORDS["lon"]
    ):
        orders.reverse()
    which = {LATITUDE_FIRST: "latitude first", LONGITUDE_FIRST: "longitude first"}
    return [
        replace(
            columns.candidate(("order", order), lat=i, lon=i),
            text=f"{columns.name(i)}, {which[order]}",
        )
        for order in orders
    ]


_MAX_PAIRS = 30
"""Maximum number of neighbouring columns compared with towns, which is slow."""


def _degree_candidates(columns: _Columns) -> list[Candidate]:
    """Return candidate pairs of neighbouring degree columns, ordered by towns."""
    candidates: list[Candidate] = []
    tried = 0
    for i in range(len(columns.names) - 1):
        columns.tick()
        first, second = i, i + 1
        if not (columns.degrees(first, 180, True) and columns.degrees(second, 180, True)):
            continue
        tried += 1
        if tried > _MAX_PAIRS or len(candidates) >= MAX_CANDIDATES:
            break
        for lat, lon in ((first, second), (second, first)):
            swapped = looks_swapped(columns.rows, Mapping(lat=lat, lon=lon), columns.decimal)
            if columns.degrees(lat, 90) and not swapped:
                candidates.append(columns.candidate(lat=lat, lon=lon))
    return candidates


def _pair_question(
    columns: _Columns, pairs: Sequence[_Pair], why: str, preselected: int | None = 0
) -> Question:
    there = [columns.candidate(lat=lat, lon=lon) for lat, lon, _ in pairs]
    there += [one for i in range(len(columns.names)) for one in _point_candidates(columns, i)]
    return _position_question(why, there, preselected)


def _position_question(why: str, there: list[Candidate], preselected: int | None) -> Question:
    title = "Which columns hold the position?"
    likely = tuple(there[:MAX_CANDIDATES])
    return Question("position", title, why, ("lat", "lon"), likely, preselected)


# Times


def _times(columns: _Columns) -> Question | None:
    """Assign the time column; return the question that remains, if any."""
    kinds = {i: kind for i, kind in enumerate(columns.moments) if kind and columns.is_free(i)}
    moments = [i for i, kind in kinds.items() if kind == "moment"]
    days = [i for i, kind in kinds.items() if kind == "day"]
    clocks = [i for i, kind in kinds.items() if kind == "clock"]
    first = [i for i in moments if not _of_another_moment(columns, i)]
    plain = [i for i in days if not _of_another_moment(columns, i)]
    unsure = any(map(columns.may_be_no_time, first or plain))
    zones = _zones_of(columns, first[0]) if len(first) == 1 else []
    differ = any(_differs(columns, i, first[0]) for i in days if first)
    if len(first) == 1 and not (unsure or zones or differ):
        columns.roles["time"] = first[0]
        return None
    if len(plain) == 1 and not (moments or clocks or unsure):
        columns.roles["time"] = plain[0]
        return None
    there = [*first, *plain, *(i for i in (*moments, *days) if i not in (*first, *plain))]
    if there:
        why = "Several columns hold times."
        if len(there) == 1 and unsure:
            why = "No name says for sure that its numbers are times."
        elif zones:
            why = (
                f"Its times have no offset from UTC, and the column “{columns.name(*zones)}” is "
                "not read: write offsets behind the times, or go on with one time zone for all."
            )
        elif len(there) == 1 and clocks:
            why = (
                f"Times of day stand in a column of their own, “{columns.name(clocks[0])}”, which "
                "is not read beside the dates: put both into one column, or go on with days only."
            )
        elif len(there) == 1:
            why = "Its name says that it may be another time than that of the row."
    elif clocks:
        why = f"The column “{columns.name(clocks[0])}” holds times of day without dates."
    elif parts := _calendar(columns):
        why = f"Dates stand in several columns ({columns.name(*parts)}), which are not read."
    elif unread := [i for i in range(len(columns.names)) if _unread_time(columns, i)]:
        values = columns.filled[unread[0]]
        example = next((v for v in values if not (is_iso(v) or formats_of(v))), values[0])
        why = (
            f"The column “{columns.name(unread[0])}” holds no times that can be read, such as "
            f"“{printable(example[:_SHOWN])}”: {time_fault(example, 'iso')[1]}, or choose another "
            "one, or none."
        )
    elif there := [i for i in range(len(columns.names)) if _may_be_serial(columns, i)]:
        why = "Its numbers may be dates of a spreadsheet, but no name says so."
    else:
        return None
    none = Candidate("there is no time column", (("time", None),))
    candidates = [columns.candidate(time=i) for i in there[: MAX_CANDIDATES - 1]]
    title = "Which column holds the time?"
    return Question("time", title, why, ("time",), (*candidates, none))


def _zones_of(columns: _Columns, time: int) -> list[int]:
    """Return the columns with offsets from UTC or zones that the times themselves lack."""
    spelling, names = columns.spellings[time] or "iso", columns.names
    seen = moment(columns.filled[time][0], spelling, columns.decimal)
    if not (columns.named and seen) or seen.tzinfo or "utc" in words_in(names[time]):
        return []
    zoned = (i for i, name in enumerate(names) if ZONES & set(words_in(name)))
    return [i for i in zoned if set(columns.filled[i]) - {*UTC_NAMES, "utc", "0", "+00:00"}]


def _may_be_serial(columns: _Columns, i: int) -> bool:
    """Return whether fractional numbers may be spreadsheet dates."""
    filled = columns.filled[i][:200]
    return (
        columns.is_free(i)
        and columns.spellings[i] in SERIALS
        and share(filled, lambda v: has_fraction(v, columns.decimal)) > 0.5
    )


def _of_another_moment(columns: _Columns, i: int) -> bool:
    return columns.named and bool(OTHER_TIME_WORDS & set(words_in(columns.names[i])))


def _differs(columns: _Columns, day: int, moment: int) -> bool:
    """Return whether a column of days disagrees with a column of moments."""
    if columns.spellings[day] != "iso" or columns.spellings[moment] != "iso":
        return False
    rows = [(row[day].strip()[:10], row[moment].strip()[:10]) for row in columns.rows[:200]]
    both = [(a, b) for a, b in rows if a and b]
    return bool(both) and sum(a != b for a, b in both) > 0.3 * len(both)


def _calendar(columns: _Columns) -> list[int]:
    """Return columns of years, months, days and hours, if there are at least two."""
    matches = [
        i
        for i, name in enumerate(columns.names)
        if columns.named and len(words_in(name)) == 1 and words_in(name)[0] in CALENDAR
    ]
    return matches if len(matches) > 1 else []


def _unread_time(columns: _Columns, i: int) -> bool:
    """Return whether a column named as time holds nothing readable as time."""
    free = columns.named and columns.is_free(i) and bool(columns.filled[i])
    return free and not columns.moments[i] and names_time(columns.names[i]) is Sure.YES


# Persons


def _users(columns: _Columns, no_user: tuple[Candidate, ...]) -> Question | None:
    """Assign the user column; return the question that remains, if any."""
    title = "Which column names the person?"
    free = [i for i in range(len(columns.names)) if columns.is_free(i) and columns.filled[i]]
    identities = {i: identity_of(columns.names[i]) for i in free if columns.named}
    sure = [i for i in free if columns.named and identities[i].sure is Sure.YES]
    sure.sort(key=lambda i: identities[i].rank)
    maybe = [i for i in free if columns.named and identities[i].sure is Sure.MAYBE]
    # Another person or device, such as the owner of a device, could be meant as well.
    rivals = [i for i in maybe if sure and identities[i].kind not in ("", identities[sure[0]].kind)]
    if rivals:
        why = f"Several columns could: {columns.name(*sure, *rivals)}."
    elif sure and all(
        identities[i].kind == identities[sure[0]].kind and _one_to_one(columns, sure[0], i)
        for i in sure
    ):
        why = _unlikely(columns, sure[0])
        if not why:
            columns.roles["user"] = sure[0]
            return None
    elif sure:
        why = f"Several columns could: {columns.name(*sure)}."
    else:
        why = "No column name indicates it."
    others = (i for i in free if not (columns.named and names_no_person(columns.names[i])))
    ranked = [*sure, *maybe] or [i for i in others if _repeats(columns, i)]
    room = MAX_CANDIDATES - len(no_user)
    there = [columns.candidate(user=i, note=_counted(columns, i)) for i in ranked[:room]]
    known_ones = bool(sure or maybe or (ranked and not columns.named))
    return Question("user", title, why, ("user",), (*there, *no_user), 0 if known_ones else None)


def _one_to_one(columns: _Columns, first: int, second: int) -> bool:
    """Return whether two columns correspond one to one."""
    pairs = {(row[first].strip(), row[second].strip()) for row in columns.rows}
    whole = {pair for pair in pairs if all(pair)}
    return len({a for a, _ in whole}) == len(whole) == len({b for _, b in whole})


_ROUNDED = re.compile(r"\d[.,]\d+[eE]\+\d+", re.ASCII)


def _names_nobody(text: str) -> bool:
    """Return whether an id is none: a mark of missing values, or a long one of zeros only."""
    return text.casefold() in NOBODY or (len(text) > 15 and not text.strip("0-"))


def _alike(text: str) -> str:
    """Return what is left of an id without capitals, leading zeros, and marks of format."""
    if len(text) > MAX_LENGTH:  # normal forms take long
        return text
    shown = (c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c) != "Cf")
    return "".join(shown).casefold().removesuffix(".0").strip().lstrip("0")


def _several_or_none(values: Sequence[str]) -> str:
    """Return why one id may stand for several persons, or two ids for one; else an empty text."""
    nobody = [v for v in values if _names_nobody(v)]
    if len(nobody) > 1:
        return (
            f"“{printable(nobody[0][:_SHOWN])}” names nobody, and would be one user with "
            f"{len(nobody):,} of {len(values):,} rows: leave these fields blank to reject the rows."
        )
    seen: dict[str, str] = {}
    for one in dict.fromkeys(values):
        if match_field(_ROUNDED, one):
            return (
                f"“{one}” is a rounded number, as spreadsheets write long ones: several users may "
                "have become one. Export the ids as text."
            )
        other = seen.setdefault(_alike(one), one)
        if other != one and id_text(other) != id_text(one):
            pair = " and ".join(f"“{printable(text[:_SHOWN])}”" for text in (other, one))
            return f"{pair} would be two users: write them alike if they are one."
    return ""


def _unlikely(columns: _Columns, i: int) -> str:
    """Return why a column named as user may not identify users; else an empty text."""
    values = columns.filled[i]
    some = values[:OF_ROWS]
    name = columns.name(i)
    if len(values) >= FEW and len(set(values)) == len(values):
        return f"“{name}” has one value per row."
    kinds = set(some)
    few = len(kinds) * OF_ROWS <= FEW * len(some)
    words = (
        len(kinds) <= FEW
        and len(kinds) * 15 <= len(some)
        and not any(map(str.isdigit, "".join(kinds)))
    )
    if few or words or (len(kinds) <= 2 and kinds <= _FLAGS):
        return f"“{name}” has only {len(set(some))} values in {len(some):,} rows."
    for other, text in enumerate(columns.names):
        if other != i and HOUSEHOLDS & set(words_in(text)):
            pairs = {(row[i].strip(), row[other].strip()) for row in columns.rows}
            if len({person for person, _ in pairs}) < len(pairs):
                return f"“{name}” may count the persons within “{columns.name(other)}”."
    return _several_or_none(values)


_FLAGS = {"0", "1", "true", "false", "True", "False", "yes", "no", "Yes", "No", "t", "f", "y", "n"}


def _counted(columns: _Columns, i: int) -> str:
    distinct, rows = len(set(columns.filled[i][:OF_ROWS])), len(columns.filled[i][:OF_ROWS])
    return f"{distinct:,} value{'s' * (distinct != 1)} in {rows:,} rows"


def _repeats(columns: _Columns, i: int) -> bool:
    """Return whether values look like identifiers: integers or text, repeated, not few."""
    values = columns.filled[i][:OF_ROWS]
    distinct = len(set(values))
    whole = share(values, lambda v: not re.fullmatch(r"[+-]?\d*[.,]\d+", v[:MAX_LENGTH])) > 0.5
    return whole and not columns.moments[i] and max(2, len(values) // 100) < distinct < len(values)


def fitting_share(rows: Rows, mapping: Mapping, width: int, decimal: str = ".") -> float:
    """Return the share of rows that the mapping can read, unknown positions included."""
    if mapping.missing or not rows:
        return 0.0

    def fits(row: Sequence[str]) -> bool:
        bad = bad_cells(row, mapping, decimal) if len(row) == width else {0: "fields"}
        return all(why == UNKNOWN_POSITION for why in bad.values())

    return sum(map(fits, rows)) / len(rows)


def mapping_problem(preview: Preview, mapping: Mapping, failing: dict[Reason, int]) -> str:
    """Return a clause naming the column that causes most failures, with an example and a remedy.

    Returns
    -------
    str
        To be put behind a sentence: beginning with a colon; empty if no column is to blame.
    """
    worst = max(failing, key=lambda reason: failing[reason], default=None)
    blamed = [role for role, reasons in _REASONS_OF_ROLE.items() if worst in reasons]
    columns = [column for role in blamed if (column := getattr(mapping, role)) is not None]
    if worst is None or not columns:
        return ""
    for column in columns:
        for row in preview.rows:
            fault = bad_cells(row, mapping, preview.dialect.decimal).get(column)
            if fault is not None:
                text = printable(row[column][:40]) if column < len(row) else ""
                why = fault.what if worst is Reason.BAD_TIME else worst.describe(mapping)
                if worst in (Reason.NOT_A_NUMBER, Reason.OUT_OF_RANGE) and not mapping.planar:
                    why += (
                        " (read are decimal degrees as 40.7185, or in the system E7 10⁷ times them)"
                    )
                where = f"the column “{_shown_name(preview, column)}” holds “{text}”, where {why}"
                return f": {where}; say which column holds what"
    names = " or ".join(f"“{_shown_name(preview, column)}”" for column in columns)
    return f": in the column {names} {worst.describe(mapping)}; say which column holds what"


def _shown_name(preview: Preview, column: int) -> str:
    named = column < len(preview.columns)
    return printable(preview.columns[column][:40]) if named else f"column {column + 1}"


def with_columns(preview: Preview, columns: dict[str, int | None]) -> Mapping:
    """Return a preview's mapping with changed columns and matching time format.

    Parameters
    ----------
    chosen : dict
        Role to column; None leaves the role out.
    """
    mapping = replace(preview.mapping, **columns)  # type: ignore[arg-type]
    if is_e7(preview.columns, mapping.lat, mapping.lon):
        mapping = replace(mapping, crs=E7)
    elif mapping.crs == E7:
        mapping = replace(mapping, crs=None)
    if mapping.time in (None, preview.mapping.time):
        return mapping
    values = [row[mapping.time] for row in preview.sample if mapping.time < len(row)]
    spelling = time_format(values, preview.dialect.decimal, preview.serials)
    return replace(mapping, time_format=spelling or "iso")
