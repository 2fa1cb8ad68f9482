"""Check of a data file before a release: readable rows, problems of others, ids known elsewhere.

The results are for the curator only. They do not influence a release and are in no ledger, plan,
certificate or log.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from explorer.privacy.releases.means import read_decimal
from explorer.release.errors import LedgerError, ReleaseError
from explorer.release.ledger.known_data import (
    ids_seen_elsewhere,
    spending_elsewhere,
    views_elsewhere,
)
from explorer.release.ledger.ledger import Ledger
from explorer.release.ledger.settings import FileSettings
from explorer.release.mechanisms.base import Reads
from explorer.release.pipeline import LedgerLocation, find_or_plan_release, same_people
from explorer.release.plan import Plan
from explorer.release.rows.format import (
    DELIMITERS,
    HEADERS,
    LAT,
    LON,
    QUOTES,
    TIME,
    TRAILING,
    USER,
    FileFormat,
)
from explorer.release.rows.reading import MAX_ROW_BYTES, Cut, hash_file, quoted_fields, read_file
from explorer.release.rows.values import (
    coordinate_reader,
    number_reader,
    text_reader,
    time_reader,
)
from explorer.release.rows.vectors import Mask

SHOWN = 5
"""Number of unreadable rows that messages name, the first ones."""
MAX_EXPLAINED = 1000
"""Maximum number of unreadable rows that are explained, the first ones."""
MAX_SHOWN = 40
"""Maximum length of a displayed field."""
_BLANK = 16
"""Maximum length of a blank row in bytes."""


@dataclass(frozen=True)
class Unreadable:
    """Explanation of an unreadable row.

    Attributes
    ----------
    line : int
        From 1.
    column : str
        "" if the row does not have the declared fields.
    value : str
        Of that column, at most `MAX_SHOWN` characters.
    reason : str
    hint : str
        A question about the format; "" if there is none.
    """

    line: int
    column: str
    value: str
    reason: str
    hint: str

    @property
    def sentence(self) -> str:
        """Message for the curator."""
        field = f", column {self.column}, '{self.value}'" if self.column else ""
        return f"line {self.line:,}{field} {self.reason}" + (f"; {self.hint}" if self.hint else "")


@dataclass(frozen=True)
class RowCheck:
    """Number of readable rows of a file, and explanations of the first unreadable ones.

    Attributes
    ----------
    rows : int
        Rows except blank ones, and except a first header row if one is declared.
    readable : int
        Rows with an id and all values that the release reads.
    first : tuple of Unreadable
    """

    rows: int
    readable: int
    first: tuple[Unreadable, ...]

    @property
    def under_half(self) -> bool:
        """Whether fewer than half of the rows are readable, or there are none."""
        return 2 * self.readable < self.rows or not self.rows

    @property
    def count(self) -> str:
        """Number of readable rows as text."""
        return f"{self.readable:,} of {self.rows:,} rows"

    def lines(self) -> list[str]:
        """Return the messages for the curator, a line for each explained row."""
        if not self.rows:
            return ["the file has no rows"]
        first, *others = [one.sentence for one in self.first[:SHOWN]] or [""]
        return [f"{self.count} can be read" + (f": {first}" if first else ""), *others]


class RowCounter:
    """Counts rows while `read_file` reads them.

    Parameters
    ----------
    form : FileFormat
    reads : Reads
    """

    def __init__(self, form: FileFormat, reads: Reads) -> None:
        self._form, self._reads = form, reads
        self._lines = self._rows = self._readable = 0
        self._header = HEADERS[form.header]
        self._first: list[Unreadable] = []

    def __call__(self, cut: Cut, readable: Mask) -> None:
        """Count the rows of a block."""
        raw = cut.block.raw
        left_out = np.flatnonzero(~readable)
        short = cut.ends[left_out] - cut.starts[left_out] <= _BLANK
        blank = [
            k for k in left_out[short].tolist() if not raw[cut.starts[k] : cut.ends[k]].strip()
        ]
        self._rows += len(readable) - len(blank)
        self._readable += len(readable) - len(left_out)
        if self._header and len(blank) < len(readable):
            self._header = False
            first = int(np.setdiff1d(np.arange(len(readable)), blank)[0])
            row = raw[cut.starts[first] : cut.ends[first]].removesuffix(b"\r")
            # a row that contains another kind of row end is several rows
            if not readable[first] and not re.search(b"[\r\n]", row):
                self._rows -= 1
                blank.append(first)
        room = MAX_EXPLAINED - len(self._first)
        if room:
            for k in left_out[~np.isin(left_out, blank)][:room].tolist():
                row = raw[cut.starts[k] : cut.ends[k]]
                why = explain_row(row, self._form, self._reads)
                self._first.append(Unreadable(self._lines + k + 1, *why))
        self._lines += len(readable)

    def result(self) -> RowCheck:
        """Return the result."""
        return RowCheck(self._rows, self._readable, tuple(self._first))


Why = tuple[str, str, str, str]
"""Column, value, reason and hint."""


def explain_row(row: bytes, form: FileFormat, reads: Reads) -> Why:
    """Return why a row, without its end, can't be read."""
    if len(row) > MAX_ROW_BYTES:
        return "", "", "is longer than 1 MB", _first(_row_hints(row, form, 0))
    row = row.removesuffix(b"\r")
    delimiter = bytes([DELIMITERS[form.delimiter]])
    fields = quoted_fields(form)(row) if QUOTES[form.quotes] else row.split(delimiter)
    if fields is None:
        return "", "", "has a quote that is not closed before the row or the field ends", ""
    wanted = len(form.columns) + TRAILING[form.trailing_delimiter]
    if len(fields) != wanted:
        and_one = ", an empty one at the end included," if TRAILING[form.trailing_delimiter] else ""
        reason = f"has {len(fields)} fields, and {wanted}{and_one} are declared"
        return "", "", reason, _first(_row_hints(row, form, len(fields)))
    text = text_reader(form)
    if wanted > len(form.columns) and text(fields[-1]) != "":
        return "", "", "has no delimiter at its end", ""
    for name in _required_columns(form, reads):
        raw = fields[form.columns.index(name)]
        result = text(raw)
        reason, hint = _judge_field(name, raw, result, form, reads)
        if reason:
            shown = raw.decode("utf-8", "replace") if result is None else result
            shown = "".join(c if c.isprintable() else "�" for c in shown)
            shown = shown if len(shown) <= MAX_SHOWN else shown[: MAX_SHOWN - 1] + "…"
            return name, shown, reason, hint
    return "", "", "has the declared names of the columns", ""


def _required_columns(form: FileFormat, reads: Reads) -> list[str]:
    """Return the columns that must be readable, the id first."""
    result = [USER, *(LAT, LON) * reads.places, *(TIME,) * reads.times, *reads.texts]
    # with a declared header, a row without place and time counts as a header row
    placed = [name for name in (LAT, LON, TIME) if name in form.columns]
    return list(dict.fromkeys([*result, *placed * HEADERS[form.header]]))


def _judge_field(
    name: str, raw: bytes, text: str | None, form: FileFormat, reads: Reads
) -> tuple[str, str]:
    """Return the problem with a field and a hint, or "" for both."""
    if text is None:
        return f"is not {form.encoding}", "is the encoding another?"
    if name == USER:
        return ("" if text else "is empty"), ""
    if name == TIME:
        wrong = time_reader(form)(raw) is None
        return ("is not a time as declared", _first(_time_hints(text, form))) if wrong else ("", "")
    most = {LAT: 90, LON: 180}.get(name)
    if most is None and not reads.numbers:
        return "", ""
    if read_decimal(number_reader(form)(raw) or "") is None:
        return "is not a number", _first(_number_hints(name, text, form))
    if most is not None and coordinate_reader(form, most)(raw) is None:
        return f"is not within ±{most}", "are lat and lon exchanged?" if name == LAT else ""
    return "", ""


Hints = Iterator[tuple[bool, str]]


def _first(hints: Hints) -> str:
    return next((hint for holds, hint in hints if holds), "")


def _row_hints(row: bytes, form: FileFormat, fields: int) -> Hints:
    yield b"\0" in row, "is the encoding UTF-16?"
    yield form.row_end == "lf" and b"\r" in row, "do rows end with CR?"
    yield form.row_end == "cr" and b"\n" in row, "do rows end with LF?"
    columns = len(form.columns)
    for name, code in DELIMITERS.items():
        other = name != form.delimiter and row.count(code) in (columns - 1, columns)
        yield other and columns > 1, f"is the delimiter {name}?"
    at_end = row.endswith(bytes([DELIMITERS[form.delimiter]]))
    ends_so = bool(TRAILING[form.trailing_delimiter])
    yield not ends_so and at_end and fields == columns + 1, "does a delimiter end each row?"
    yield ends_so and fields == columns, "do rows end without a delimiter?"
    yield not QUOTES[form.quotes] and row.count(b'"') > 1, "do fields stand in double quotes?"


def _field_hints(name: str, text: str, form: FileFormat) -> Hints:
    names = text.strip('"').casefold() == name
    yield names and not HEADERS[form.header], "is the first row one of names?"
    yield "\0" in text, "is the encoding UTF-16?"
    quoted = len(text) > 1 and text[0] == text[-1] == '"'
    yield quoted and not QUOTES[form.quotes], "do fields stand in double quotes?"


def _number_hints(name: str, text: str, form: FileFormat) -> Hints:
    yield from _field_hints(name, text, form)
    comma = re.fullmatch(r"[+-]?[0-9]{1,40},[0-9]{1,40}", text[:90]) is not None
    yield form.decimal == "point" and comma, "is the decimal mark a comma?"
    point = read_decimal(text) is not None
    yield form.decimal == "comma" and point, "is the decimal mark a point?"


_TIME_LIKE: tuple[tuple[str, str, str], ...] = (
    ("unix", r"[0-9]{9,10}(\.[0-9]+)?", "is the time format unix?"),
    ("unix-ms", r"[0-9]{12,13}", "is the time format unix-ms?"),
    ("iso", r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ].*)?", "is the time format iso?"),
)


def _time_hints(text: str, form: FileFormat) -> Hints:
    yield from _field_hints(TIME, text, form)
    for name, pattern, hint in _TIME_LIKE:
        like = re.fullmatch(pattern, text[:MAX_SHOWN]) is not None
        yield form.time_format != name and like, hint
    yield bool(text), "is the time format another, such as %d.%m.%Y %H:%M?"


@dataclass(frozen=True)
class FileCheck:
    """Result of a file check, for the curator only. It causes no refusal and is not stored.

    Attributes
    ----------
    rows : RowCheck
    known : mapping of str to int
        Number of the file's ids that are known in other populations, by population.
    spent : mapping of str to Fraction
        ε spent on the same content in other ledgers of this machine, by path of the ledger.
    seen : int
        Number of the file's ids that were in other files opened before.
    seen_partly : bool
        Whether `seen` may be too low, as not all marks of earlier files are stored.
    """

    rows: RowCheck
    known: Mapping[str, int]
    spent: Mapping[str, Fraction]
    seen: int
    seen_partly: bool


NEVER_OPENED = "check the file on page 5, after all choices are made"
"""Why a file that was never opened is not read before its plan is complete."""


def check(
    location: LedgerLocation, plan: Plan, release: str = "", *, enter: bool = True
) -> FileCheck:
    """Read a file in the declared format, count its readable rows and compare its ids.

    If the file was never opened, the plan is entered first: a plan that is then released unchanged
    still counts as fixed before the data were opened. A check is no view of the map.

    Parameters
    ----------
    location : LedgerLocation
    plan : Plan
    release : str
        Its id if the plan was entered already.
    enter : bool
        Whether a plan for a file that was never opened is entered; otherwise the check is refused.

    Raises
    ------
    ReleaseError
        If the plan can't be entered, or the file can't be read.
    """
    with location.open() as ledger:
        if ledger.problem:
            raise LedgerError(ledger.problem)
        sha256, content = hash_file(plan.data)
        known = ledger.known.file(sha256, content)
        opened = (known is not None and known.opened_after is not None) or (
            views_elsewhere(FileSettings(location.settings), ledger.id, sha256, content) is not None
        )
        if not (opened or release):
            if not enter:
                raise ReleaseError(NEVER_OPENED)
            find_or_plan_release(ledger, plan)
        ledger.known.record_content(sha256, content)
        ledger.known.record_opened(sha256)
        counter = RowCounter(plan.form, plan.reads)
        read = read_file(plan.data, plan.form, plan.reads, counter)
        if read.sha256 != sha256:
            raise ReleaseError(
                "data: the file changed while it was read. Check it again. Nothing was spent."
            )
        known_ids = _known_in_other_ledgers(ledger, plan.population, read.ids)
        settings = FileSettings(location.settings)
        spent = spending_elsewhere(settings, ledger.id, sha256, content)
        seen = ledger.known.seen(read.ids, sha256, content)
        elsewhere = ids_seen_elsewhere(settings, ledger.id, sha256, content, read.ids)
        return FileCheck(
            counter.result(),
            known_ids,
            spent,
            int((seen.each | elsewhere.each).sum()),
            seen.partial or elsewhere.partial,
        )


def compare(location: LedgerLocation, plan: Plan) -> dict[str, int]:
    """Return the number of a file's ids that are known in other populations, by population."""
    with location.open() as ledger:
        read = read_file(plan.data, plan.form, Reads())
        ledger.known.record_content(read.sha256, read.content)
        ledger.known.record_opened(read.sha256)
        return _known_in_other_ledgers(ledger, plan.population, read.ids)


def _known_in_other_ledgers(ledger: Ledger, population: str, ids: Iterable[str]) -> dict[str, int]:
    return {
        other: number
        for other, number in ledger.known.shared(ids).items()
        if not same_people(ledger, other, population)
    }
