"""Readers of JSON (arrays, JSON Lines, Google Takeout), GPX and KML.

Files are parsed incrementally with one record in memory. JSON numbers keep their text. XML entities
and external references are not resolved.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import re
from collections import deque
from collections.abc import Callable, Iterator
from decimal import Decimal, InvalidOperation
from itertools import islice
from pathlib import Path
from typing import IO, Any
from xml.parsers import expat

from explorer.checkins.database import check
from explorer.checkins.errors import CheckinError, shown_name
from explorer.checkins.model import Dialect, IsCancelled, Preview, Reason
from explorer.checkins.parsing.encodings import mark_of
from explorer.checkins.parsing.numbers import point_in
from explorer.checkins.parsing.streams import CHUNK
from explorer.checkins.progress import LoadProgress
from explorer.checkins.readers.base import (
    CheckHead,
    CopiedRows,
    FileStart,
    OneOfSeveral,
    Plan,
    ReaderOutput,
    check_width,
    copied_table,
    join_cells,
    select_rows,
    table_preview,
    write_table,
)

Record = tuple[int, dict[str, str | None], Reason | None]
"""Number (from 1; the line for JSON Lines), values by name, and fault."""

Tick = Callable[[int], None]
"""Callback with the bytes read so far; may raise to stop."""

HEAD_RECORDS = 2000
"""Number of records that determine the columns."""

MAX_RECORD = 16 << 20
"""Maximum length of a JSON record in characters."""

MAX_TEXT = 10_000
"""Maximum length of an XML element in characters; the rest is dropped."""

_BATCH_ROWS = 5_000
_DEPTH = 4


class RecordReader(OneOfSeveral):
    """Base of readers of files of records, each a set of named values."""

    def records(self, path: Path, name: str, tick: Tick) -> Iterator[Record]:
        """Yield the records in file order.

        Raises
        ------
        CheckinError
            If the file is damaged or something else; the message uses `name`.
        """
        raise NotImplementedError

    def preview(self, start: FileStart) -> Preview:
        """Guess the columns from the names in the first records."""
        records = self._head(start.path, start.name, lambda _: start.check())
        columns = _names(records)
        check_width(start.name, len(columns))
        if not columns:
            raise CheckinError(f"{start.name} ({self.name}) holds no rows; choose another file.")
        rows = [[values.get(name) for name in columns] for _, values, fault in records if not fault]
        return table_preview(start, Dialect(self.key, "", has_header=True), columns, rows)

    def _head(self, path: Path, name: str, tick: Tick) -> list[Record]:
        return list(islice(self.records(path, name, tick), HEAD_RECORDS))

    def write_rows(
        self, con: Any, plan: Plan, folder: Path, work: LoadProgress, check_head: CheckHead
    ) -> ReaderOutput:
        """Write all records."""
        preparing, size = work.stage("Preparing"), max(plan.path.stat().st_size, 1)
        names = _names(self._head(plan.path, plan.name, lambda _: work.check()))[: plan.width]
        rows = CopiedRows(con, plan.width)
        done = lines = 0

        def tick(at: int) -> None:
            nonlocal done
            done = at
            work.note(done, lines)
            preparing(done / size)

        blanks: list[int] = []
        records = self.records(plan.path, plan.name, tick)
        while some := list(islice(records, _BATCH_ROWS)):
            for number, _, _ in some:
                blanks += range(lines + 1, number)
                lines = number
            tick(done)
            cells = [[values.get(name) for _, values, _ in some] for name in names]
            cells += [[None] * len(some)] * (plan.width - len(names))
            rows.add([number for number, _, _ in some], [fault for _, _, fault in some], cells)
        scan = write_table(con, plan, folder, work, check_head, copied_table, "fault")
        scan.lines = lines
        for number in blanks:
            scan.blank.add(number)
        return ReaderOutput(scan, rows.texts)

    def row_texts(
        self,
        con: Any,
        path: Path,
        dialect: Dialect,
        batches: Iterator[list[int]],
        cancelled: IsCancelled | None,
    ) -> Iterator[str]:
        """Yield the comma-separated values of requested records."""
        records = self.records(path, shown_name(path), lambda _: check(cancelled))
        for _, values, _ in select_rows(records, lambda record: record[0], batches, cancelled):
            yield join_cells(values.values())


def _names(records: list[Record]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for _, values, _ in records for name in values))


class JsonReader(RecordReader):
    """Reader of JSON arrays, JSON Lines and the locations of Google Takeout."""

    def can_read(self, head: bytes) -> float:
        """Return 0.5 if it begins like JSON."""
        return 0.5 * bool(_JSON.match(head.replace(b"\0", b"")[:4096]))

    def records(self, path: Path, name: str, tick: Tick) -> Iterator[Record]:
        """Yield the objects."""
        with path.open("rb") as file:
            text = _Text(file, name, tick)
            text.more()
            beginning = text.buffer.lstrip("\x1e \t\r\n")
            if match := _UNREAD.match(beginning):
                raise CheckinError(
                    f"{name} is a Google timeline export ({match[1]}), which can't be read: "
                    "convert it to CSV with the columns time, lat and lon, or export Records.json."
                )
            if match := _LOCATIONS.match(text.buffer):
                text.at = match.end()
                for number, value in enumerate(_array(text), 1):
                    yield number, _location(value), None
            elif beginning.startswith("["):
                text.at = len(text.buffer) - len(beginning) + 1
                for number, value in enumerate(_array(text), 1):
                    yield number, _flat(value), None
            else:
                yield from _lines(text)


_JSON = re.compile(rb'(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?[\s\x1e]*(?:\[\s*[\[{\]]|\{\s*["}])')
_LOCATIONS = re.compile(r'\s*\{\s*"locations"\s*:\s*\[')
_UNREAD = re.compile(r'\{\s*"(semanticSegments|timelineObjects|rawSignals)"')
_SPACE = re.compile(r"[\s,\x1e]*")
_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)


class _Text:
    """Incrementally decoded text of a file."""

    def __init__(self, file: IO[bytes], name: str, tick: Tick) -> None:
        self._file, self.name, self._tick = file, name, tick
        first = file.read(4)
        file.seek(0)
        marked = mark_of(first)
        encoding = marked or json.detect_encoding(first)
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._done = 0
        self.buffer, self.at = "", 0

    def more(self) -> bool:
        """Read more; return whether there was more."""
        chunk = self._file.read(CHUNK)
        self._done += len(chunk)
        self._tick(self._done)
        try:
            text = self._decoder.decode(chunk, not chunk)
        except UnicodeDecodeError:
            raise CheckinError(
                f"{self.name} is JSON with bytes that are not valid in its encoding, before byte "
                f"{self._done:,}: save it as UTF-8."
            ) from None
        self.buffer, self.at = self.buffer[self.at :] + text, 0
        if len(self.buffer) > MAX_RECORD:
            raise CheckinError(
                f"{self.name} is JSON, but not an array of rows or a row on each line: convert it "
                "to one of these, or to CSV."
            )
        return bool(chunk)


def _array(text: _Text) -> Iterator[dict[str, Any]]:
    """Yield the objects of JSON Lines."""
    while True:
        match = _SPACE.match(text.buffer, text.at)
        text.at = match.end() if match else text.at
        if text.at == len(text.buffer):
            if not text.more():
                raise _damaged_json(text)
            continue
        if text.buffer[text.at] == "]":
            return
        if text.buffer[text.at] != "{":
            raise CheckinError(
                f"{text.name} is a JSON array, but its entries are no objects with named values: "
                "convert it to CSV with a header."
            )
        try:
            value, text.at = _DECODER.raw_decode(text.buffer, text.at)
        except (json.JSONDecodeError, RecursionError):
            if not text.more():
                raise _damaged_json(text) from None
            continue
        yield value


def _lines(text: _Text) -> Iterator[Record]:
    """Yield the objects of JSON Lines."""
    number = 0
    while True:
        end = text.buffer.find("\n", text.at)
        if end < 0 and text.more():
            continue
        line = text.buffer[text.at : end if end >= 0 else None].strip("\x1e \t\r\n")
        number += 1
        if line:
            try:
                value = _DECODER.decode(line)
            except (json.JSONDecodeError, RecursionError):
                value = None
            alone = number == 1 and (end < 0 or not (text.buffer[end:].strip() or text.more()))
            if isinstance(value, dict) and not (alone and any(map(_is_table, value.values()))):
                yield number, _flat(value), None
            elif number == 1:
                raise CheckinError(
                    f"{text.name} is JSON, but not an array of rows or a row on each line: "
                    "convert it to one of these, or to CSV."
                )
            else:
                yield number, {}, Reason.NOT_A_RECORD
        if end < 0:
            return
        text.at = end + 1


def _is_table(value: Any, depth: int = 1) -> bool:
    """Return whether a value holds rows, or columns by the numbers of rows, perhaps further in."""
    if isinstance(value, dict) and depth < _DEPTH:
        return "0" in value or any(_is_table(inner, depth + 1) for inner in value.values())
    return isinstance(value, list) and bool(value) and isinstance(value[0], (dict, list))


def _damaged_json(text: _Text) -> CheckinError:
    return CheckinError(
        f"{text.name} is damaged: its JSON breaks off or has a fault. Fetch or write it again; no "
        "row of it was used."
    )


def _flat(value: dict[str, Any], before: str = "", depth: int = 1) -> dict[str, str | None]:
    """Flatten an object into text values; nested names are ``name.name``."""
    values: dict[str, str | None] = {}
    for key, inner in value.items():
        name = before + key
        if isinstance(inner, dict) and inner and depth < _DEPTH:
            values |= _flat(inner, name + ".", depth + 1)
        elif isinstance(inner, str) or inner is None:
            values[name] = inner
        else:
            text = json.dumps(inner, ensure_ascii=False)
            bare = text.replace('"', "")  # of numbers, which are kept as text
            values[name] = bare if point_in(bare) else text
    return values


def _location(value: dict[str, Any]) -> dict[str, str | None]:
    """Return the values of a Google Takeout location, with positions in degrees."""
    location: dict[str, str | None] = {}
    for key, inner in value.items():
        if not isinstance(inner, str):
            continue  # guesses of activities, lists of access points
        if key in ("latitudeE7", "longitudeE7"):
            with contextlib.suppress(InvalidOperation):
                inner = f"{Decimal(inner[:20]).scaleb(-7):f}"
            key = key.removesuffix("E7")
        location[key] = inner
    return location


class TrackReader(RecordReader):
    """Reader of GPX (tracks, routes, waypoints) and KML (placemarks, tracks)."""

    def can_read(self, head: bytes) -> float:
        """Return 0.9 if the root element is that of the format."""
        text = head[:8192].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")
        root = re.search(rb"<(?:\w+:)?%s[\s>]" % self.key.encode(), text)
        return 0.9 * (text.startswith(b"<") and root is not None)

    def records(self, path: Path, name: str, tick: Tick) -> Iterator[Record]:
        """Yield the points."""
        points: deque[tuple[dict[str, str | None], Reason | None]] = deque()
        handler = (_Gpx if self.key == "gpx" else _Kml)(points)
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = handler.start
        parser.EndElementHandler = handler.end
        parser.CharacterDataHandler = handler.text

        def entity(*_: object) -> None:
            raise CheckinError(
                f"{name} declares XML entities, which are not read: write it again without them."
            )

        parser.EntityDeclHandler = entity
        number = done = 0
        with path.open("rb") as file:
            while True:
                chunk = file.read(CHUNK)
                done += len(chunk)
                tick(done)
                try:
                    parser.Parse(chunk, not chunk)
                except expat.ExpatError as fault:
                    raise CheckinError(
                        f"{name} is damaged in line {fault.lineno} ({expat.ErrorString(fault.code)}"
                        "). Fetch or write it again; no row of it was used."
                    ) from None
                while points:
                    number += 1
                    yield number, *points.popleft()
                if not chunk:
                    return


class _Elements:
    """Handler of XML elements that appends to `points`."""

    def __init__(self, points: deque[tuple[dict[str, str | None], Reason | None]]) -> None:
        self.points = points
        self.path: list[str] = []
        self._text: list[str] = []
        self._length = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element."""
        self.path.append(name.rpartition(":")[2])
        self._text, self._length = [], 0
        self.begin(self.path[-1], attributes)

    def text(self, text: str) -> None:
        """Handle text of an element."""
        if self._length < self.limit:
            self._text.append(text)
            self._length += len(text)

    def end(self, _name: str) -> None:
        """Handle the end of an element."""
        self.close(self.path[-1], "".join(self._text).strip())
        self.path.pop()
        self._text, self._length = [], 0

    @property
    def limit(self) -> int:
        """Maximum text length of the open element."""
        return MAX_TEXT

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element by name."""
        raise NotImplementedError

    def close(self, name: str, text: str) -> None:
        """Handle the end of an element with its text."""
        raise NotImplementedError


class _Gpx(_Elements):
    """Handler of GPX tracks, routes and waypoints."""

    point: dict[str, str | None] | None = None
    track: str | None = None
    tracks = segments = 0

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of a point, track or segment."""
        if name in ("trkpt", "rtept", "wpt"):
            self.point = {
                "time": None,
                "latitude": attributes.get("lat"),
                "longitude": attributes.get("lon"),
            }
        elif name in ("trk", "rte"):
            self.tracks += 1
            self.track, self.segments = str(self.tracks), 0
        elif name == "trkseg":
            self.segments += 1

    def close(self, name: str, text: str) -> None:
        """Handle the end of a point or of one of its values."""
        if name in ("trkpt", "rtept", "wpt") and self.point is not None:
            on_track = {} if name == "wpt" else {"track": self.track, "segment": str(self.segments)}
            self.points.append(({**self.point, **on_track}, None))
            self.point = None
        elif self.point is not None:
            if text:
                self.point["elevation" if name == "ele" else name] = text
        elif name == "name" and self.path[-2:-1] in (["trk"], ["rte"]) and text:
            self.track = text


class _Kml(_Elements):
    """Handler of KML points, lines and tracks."""

    def __init__(self, points: deque[tuple[dict[str, str | None], Reason | None]]) -> None:
        super().__init__(points)
        self._placemark: dict[str, str | None] | None = None
        self._data = ""
        self._times: list[str] = []
        self._places: list[list[str]] = []
        self._area = False

    @property
    def limit(self) -> int:
        """Maximum text length of the open element; coordinates of lines are longer."""
        return MAX_RECORD if self.path and self.path[-1] == "coordinates" else MAX_TEXT

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of a placemark or named value."""
        if name == "Placemark":
            self._placemark, self._times, self._places, self._area = {}, [], [], False
        elif name in ("Data", "SimpleData"):
            self._data = attributes.get("name", "")

    def close(self, name: str, text: str) -> None:
        """Handle the end of a placemark or of one of its elements."""
        values = self._placemark
        if values is None:
            return
        if name == "Placemark":
            self._emit(values)
            self._placemark = None
        elif name in ("when", "begin"):
            self._times.append(text)
        elif name == "coordinates":
            self._area |= "LinearRing" in self.path
            places = re.sub(r"\s*,\s*", ",", text).split()
            self._places += [place.split(",") for place in places]
        elif name == "coord":
            self._places.append(text.split())
        elif name in ("value", "SimpleData") and self._data:
            values[self._data] = text
        elif name == "name" and self.path[-2] == "Placemark":
            values["name"] = text

    def _emit(self, values: dict[str, str | None]) -> None:
        if self._area or not self._places:
            reason = Reason.NOT_A_POINT if self._area else Reason.NO_GEOMETRY
            self.points.append((values, reason))
            return
        paired = len(self._times) == len(self._places)
        for i, place in enumerate(self._places):
            lon, lat, up = [*place, "", "", ""][:3]
            time = self._times[i] if paired else self._times[0] if self._times else None
            self.points.append(
                (
                    {"time": time, "latitude": lat, "longitude": lon, "altitude": up or None}
                    | values,
                    None,
                )
            )


JSON = JsonReader("json", "JSON rows, JSON Lines, Google Takeout", (".json", ".jsonl", ".ndjson"))
GPX = TrackReader("gpx", "GPX", (".gpx",))
KML = TrackReader("kml", "KML", (".kml",))
