"""SQL that reads tables with geometry columns as text."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from explorer.checkins.database import identifier
from explorer.checkins.model import Mapping, Reason

_POINT = r"^(?:MULTI)?POINT(?: Z| M| ZM)? \(+([^ ,()]+) ([^ ,()]+)[^,]*\)+$"
"""A point with any further coordinates, or a collection of one point, as WKT."""

_DEGREES = ("EPSG:4326", "EPSG:4979", "OGC:CRS84", "OGC:CRS84H")
"""Names of WGS 84, from which nothing is converted."""


@dataclass(frozen=True)
class TextColumns:
    """Columns of a table, each as SQL of its text.

    Attributes
    ----------
    names : tuple of str
    texts : tuple of str
        If there are geometries, the first two are y (latitude, northing) and x of their points.
    fault : str
        SQL of a code of `Reason` for rows that are no points, else NULL; empty without geometries.
    shape : str
        SQL of the geometry of such rows, for messages.
    crs : str or None
        Reference system of the geometries as described by the database; None without geometries.
    """

    names: tuple[str, ...]
    texts: tuple[str, ...]
    fault: str = ""
    shape: str = "NULL"
    crs: str | None = None

    @property
    def select(self) -> str:
        """Text columns ``c0…``; with geometries also ``fault`` and ``shape``."""
        columns = [f"{text} AS c{i}" for i, text in enumerate(self.texts)]
        if self.fault:
            columns += [f"{self.fault} AS fault", f"{self.shape} AS shape"]
        return ", ".join(columns)

    @property
    def cells(self) -> str:
        """The text columns of `select` only."""
        return ", ".join(f"c{i}" for i in range(len(self.texts)))

    def fault_of(self, mapping: Mapping) -> str:
        """Return the fault column; empty if positions are not geometries."""
        return "fault" if self.fault and {mapping.lat, mapping.lon} & {0, 1} else ""

    @property
    def line(self) -> str:
        """Comma-separated cells of a row of `select`."""
        cells = ", ".join(f"coalesce(c{i}, '')" for i in range(len(self.texts)))
        return f"concat_ws(',', {cells}{', shape' if self.fault else ''})"


def text_columns(described: Iterable[tuple[str, str]], degrees: bool | None = None) -> TextColumns:
    """Return the columns of a table as text.

    Parameters
    ----------
    described : iterable of (name, type)
        As the database describes it; ``POINT('…')``, with a reference system as in its own
        ``GEOMETRY('…')``, is a structure of x and y.
    degrees : bool or None
        Whether geometries are in degrees, which decides the names of their columns; None derives it
        from their type.
    """
    columns = list(described)
    there = next(((n, t) for n, t in columns if t.startswith(("GEOMETRY", "POINT"))), None)
    plain = [name for name, _ in columns if there is None or name != there[0]]
    texts = [f"CAST({identifier(name)} AS VARCHAR)" for name in plain]
    if there is None:
        return TextColumns(tuple(plain), tuple(texts))
    kind, _, type_argument = there[1].partition("(")
    crs = type_argument.removeprefix("'").removesuffix("')").replace("''", "'")
    if degrees is None:
        degrees = known_system(crs) is None
    text = f"ST_AsText({identifier(there[0])})"
    if kind == "POINT":
        x, y = (f"struct_extract({identifier(there[0])}, '{side}')" for side in "xy")
        text = f"('POINT (' || {x} || ' ' || {y} || ')')"
    usual, words = f"starts_with({text}, 'POINT (')", f"substr({text}, 8, len({text}) - 8)"

    def coordinate(place: int) -> str:
        """Most are plain points, for which there is no need of a regular expression."""
        return (
            f"CASE WHEN {usual} THEN split_part({words}, ' ', {place}) "
            f"ELSE nullif(regexp_extract({text}, '{_POINT}', {place}), '') END"
        )

    point = f"({usual} OR regexp_matches({text}, '{_POINT}'))"
    fault = (
        f"CASE WHEN {point} THEN NULL WHEN {text} IS NULL OR ends_with({text}, 'EMPTY') "
        f"THEN {Reason.NO_GEOMETRY.code} ELSE {Reason.NOT_A_POINT.code} END::UTINYINT"
    )
    names = ("latitude", "longitude") if degrees else ("y", "x")
    shape = f"CASE WHEN NOT {point} THEN {text} END"
    return TextColumns((*names, *plain), (coordinate(2), coordinate(1), *texts), fault, shape, crs)


def known_system(text: str | None) -> str | None:
    """Return the `Mapping.crs` name of a reference system as described by a file.

    Parameters
    ----------
    text : str or None
        A name such as ``EPSG:25832``, PROJJSON or well-known text.

    Returns
    -------
    str or None
        None for WGS 84; empty if unknown.
    """
    name = (text or "").strip()
    if name.startswith("{"):
        try:
            known = json.loads(name).get("id") or {}
        except ValueError:
            known = {}
        if known:
            name = f"{known.get('authority')}:{known.get('code')}"
    if name.upper() in _DEGREES:
        return None
    if not name:
        return ""
    from explorer.checkins.parsing.crs import MissingLibrary, canonical_crs

    try:
        return canonical_crs(name)
    except MissingLibrary:
        return name if len(name) < 40 else ""
    except ValueError:
        return ""
