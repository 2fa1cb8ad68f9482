"""Which column is which: guesses by name and by content, and whether rows fit a guess."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from explorer.checkins.errors import printable
from explorer.checkins.model import Mapping, Preview, Reason
from explorer.checkins.readers.cells.column_names import key, known, language_of, words_of
from explorer.checkins.readers.cells.faults import UNKNOWN_POSITION, bad_cells
from explorer.checkins.readers.cells.numbers import Rows, number
from explorer.checkins.readers.cells.times import (
    is_iso,
    only_digits,
    reads_time,
    share,
    time_format,
)
from explorer.checkins.readers.places.guess_plane import planar_columns
from explorer.checkins.readers.places.guess_reference import metric_columns

_BLAMED = {
    "time": (Reason.BAD_TIME, Reason.BLANK_FIELD),
    "lat": (Reason.NOT_A_NUMBER, Reason.NOT_FINITE, Reason.OUT_OF_RANGE, Reason.BLANK_FIELD,
            Reason.Y_OUTSIDE, Reason.THOUSANDS),
    "lon": (Reason.NOT_A_NUMBER, Reason.NOT_FINITE, Reason.OUT_OF_RANGE, Reason.BLANK_FIELD,
            Reason.X_OUTSIDE, Reason.THOUSANDS),
    "weight": (Reason.BAD_WEIGHT, Reason.BLANK_FIELD, Reason.THOUSANDS),
    "user": (Reason.BLANK_FIELD,),
    "image": (Reason.BLANK_FIELD,),
}  # fmt: skip
"""Reasons for which a column may be to blame."""


def looks_like_header(rows: Rows) -> bool:
    """Tell whether the first row holds names: known ones, or no number where the others have some.

    A first row that is only broken (a single bad field) is not a header.
    """
    first = [cell.strip() for cell in rows[0]]
    familiar = sum(map(known, first))
    if any(is_number(cell) or is_iso(cell) for cell in first):
        return False
    if familiar >= 2:
        return True
    below = [row for row in rows[1:200] if len(row) == len(first)]
    if not below or len(first) < 2:
        return familiar >= 1 and len(first) >= 2
    numeric = [i for i in range(len(first)) if share([r[i] for r in below], is_number) > 0.5]
    return (
        len(numeric) >= 2
        and all(re.match(r"[^\W\d]", first[i]) for i in numeric)
        and not any(first[i].lower() in ("nan", "inf", "null", "none", "na") for i in numeric)
    )


def is_number(text: str) -> bool:
    """Return whether a text is a number with a point or a comma."""
    return any(number(text, sign) is not None for sign in ".,")


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
        places.setdefault(key(name), i)
    whole = [row for row in rows if len(row) == width]
    planar = planar_columns(places, whole, lambda text: number(text, decimal))
    metric = metric_columns(places, whole, lambda text: number(text, decimal))
    if metric is not None and "image" not in (planar or {}):
        planar = None
    else:
        metric = None
    found: dict[str, int] = dict(planar or metric or {})
    for role, words in words_of(language_of(names)).items():
        for word in words if role not in found else ():
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
    spelling = time_format(values[found["time"]], decimal) if "time" in found else None
    columns: dict[str, Any] = dict(found)
    return Mapping(
        **columns,
        time_format=spelling or "iso",
        plane="" if planar else None,
        crs="" if metric else None,
    )


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
            if spellings[i] is not None and not (named and only_digits(spellings[i])):
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

    fractional = share(values, lambda v: decimal in v)
    return share(values, fits) > 0.5 and (fractional > 0.5 or not fractions)


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
    blamed = [role for role, reasons in _BLAMED.items() if worst in reasons]
    columns = [column for role in blamed if (column := getattr(mapping, role)) is not None]
    if worst is None or not columns:
        return ""
    for column in columns:
        for row in preview.rows:
            fault = bad_cells(row, mapping, preview.dialect.decimal).get(column)
            if fault is not None:
                text = printable(row[column][:40]) if column < len(row) else ""
                why = fault.what if worst is Reason.BAD_TIME else worst.said(mapping)
                return f": the column “{_shown_name(preview, column)}” holds “{text}”, where {why}"
    names = " or ".join(f"“{_shown_name(preview, column)}”" for column in columns)
    return f": in the column {names} {worst.said(mapping)}"


def _shown_name(preview: Preview, column: int) -> str:
    named = column < len(preview.columns)
    return printable(preview.columns[column][:40]) if named else f"column {column + 1}"


def mapping_problems(
    columns: Sequence[str], rows: Rows, mapping: Mapping, decimal: str = "."
) -> list[str]:
    """Return what is doubtful about a guessed mapping, in sentences."""
    found = []
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
    values = [row[mapping.time] for row in preview.sample if mapping.time < len(row)]
    spelling = time_format(values, preview.dialect.decimal)
    return replace(mapping, time_format=spelling or "iso")
