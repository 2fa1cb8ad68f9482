"""Queries on a metric space: their values on its items, the pairs compared, files of values."""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.spaces import (
    Clustered,
    Discrete,
    FiniteSpace,
    Grid,
    Line,
    MetricSpace,
    Sphere,
    Square,
)
from explorer.studies.base.csv_table import CsvTable, DecimalSign, Dialect, TableFileError, read_csv
from explorer.studies.base.numbers import nearest
from explorer.studies.base.parameters import table_rows
from explorer.studies.base.study import Context, Request
from explorer.studies.metric_space.space import RequestSpace

POSITION, COORDINATE, LANDMARKS = "position", "coordinate", "landmarks"
CELLS, GIVEN, FILE = "cells", "given", "file"
SPREAD, TYPED_CENTRES = "spread", "typed"
IN_LENGTHS = (POSITION, COORDINATE, LANDMARKS)
"""Queries whose answers are distances."""
MAX_CENTRES = 64
"""Most landmarks, and most cells."""
MAX_COLUMNS = 64
"""Most numbers of an answer that a file gives."""
MAX_FILE_ITEMS = 1000
"""Most items of a space that a file may give values for; grids may have more."""
_MAX_GRID_ITEMS = 16_384
_HEAVY_BYTES = 8_000
_NO_FILE = "no file of values is chosen: open a CSV file under “file of values”"
Items = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Query:
    """A function of items, with its values on items of a space.

    Attributes
    ----------
    kind : str
        One of the choices of the parameter `query`.
    name : str
    missing : str
        Why there is no query; empty if there is.
    dim : int
        Numbers of the answer.
    in_lengths : bool
        Whether answers are distances, as shares of the diameter.
    values : ndarray of float, shape (items, dim)
        Values of the function on the items.
    first, second, distance : ndarray, shape (pairs,)
        Pairs of items, and how far apart they are.
    complete : bool
        Whether the pairs hold one that is steepest of all.
    all_pairs : bool
        Whether they also hold one whose answers differ most.
    overlaps : ndarray of int, shape (dim,)
        How many of the first 1, 2, … cells the change of one item can affect at once.
    names : tuple of str
        Names of the items.
    centres : ndarray of float, shape (dim, 2), or None
        Where landmarks are in the space's picture.
    cell : float
        Width of a cell.
    key : tuple
        Identifies it in caches: space, kind and numbers.
    note : str
        Remark on its file; empty without one.
    """

    kind: str
    name: str
    missing: str = ""
    dim: int = 1
    in_lengths: bool = False
    values: FloatArray | None = None
    first: Items | None = None
    second: Items | None = None
    distance: FloatArray | None = None
    complete: bool = False
    all_pairs: bool = False
    overlaps: Items | None = None
    names: tuple[str, ...] = ()
    centres: FloatArray | None = None
    cell: float = 1.0
    key: tuple[Any, ...] = ()
    note: str = ""

    @property
    def entries(self) -> int:
        """Return how many numbers it takes to go through all pairs."""
        return 0 if self.first is None else self.first.size * self.dim


def query_of(
    request: Request, space: RequestSpace, context: Context, count: int, width: float
) -> Query:
    """Return the query of a request; cached.

    Parameters
    ----------
    request, space, context
    count : int
        Landmarks or cells.
    width : float
        Of a cell, as a share of the diameter.

    Raises
    ------
    TableFileError
        If the file of values is no good.
    LookupError
        If it is not open.
    """
    kind = str(request["query"])
    if kind == GIVEN:
        return Query(kind, "a query of given dimension and Lipschitz constant")
    if space.metric is None:
        return Query(kind, "", space.missing)
    selected = tuple((k, v) for k, v in request.values if k.startswith("space"))
    if kind == FILE:
        key: tuple[Any, ...] = (kind, request["values"], request["values_decimal"])
    elif kind in (LANDMARKS, CELLS):
        own = str(request["centres_typed"]) if request["centres"] == TYPED_CENTRES else ""
        key = (kind, count, width if kind == CELLS else None, own)
    else:
        key = (kind,)

    def make() -> Query:
        if kind == FILE:
            query = _from_file(
                str(request["values"]), str(request["values_decimal"]), space, context
            )
        elif kind in (LANDMARKS, CELLS):
            query = _centred(kind, space, count, width, own)
        else:
            query = _positions(kind, space)
        return replace(query, key=(selected, *key), cell=width)

    result: Query = context.cached(("linear-query", selected, key), make)
    return result


def _sample(metric: MetricSpace) -> Items:
    """Return some items of a space of infinitely many, the middle one first."""
    if isinstance(metric, Line):
        return np.append(metric.length / 2, np.linspace(0, metric.length, 129)) + metric.low
    if isinstance(metric, Square):
        x, y = np.meshgrid(np.linspace(0, metric.side, 13), np.linspace(0, metric.side, 13))
        lattice = np.column_stack([x.ravel(), y.ravel()])
        return np.concatenate([[[metric.side / 2, metric.side / 2]], lattice])
    # A Fibonacci lattice: nearly even on the sphere.
    i = np.arange(160)
    latitude = np.degrees(np.arcsin(1 - (2 * i + 1) / 160))
    longitude = (i * 360 / ((1 + 5**0.5) / 2)) % 360 - 180
    poles = [[90.0, 0.0], [-90.0, 0.0]]
    return np.concatenate(
        [
            np.column_stack([latitude, longitude])[80:81],
            poles,
            np.column_stack([latitude, longitude]),
        ]
    )


def _items(metric: MetricSpace) -> tuple[Items, bool]:
    """Return items of a space and whether these are all."""
    if isinstance(metric, Grid):
        if metric.size <= _MAX_GRID_ITEMS:
            return np.arange(metric.size), True
        across = np.unique(np.rint(np.linspace(0, metric.width - 1, 17)).astype(int))
        return (across[:, None] * metric.width + across).ravel(), False
    if isinstance(metric, FiniteSpace):
        return np.arange(metric.size), True
    return _sample(metric), False


def _pairs(metric: MetricSpace, items: Items, all_items: bool) -> tuple[Items, Items, FloatArray]:
    """Return pairs of indices in `items` and their distances: neighbours on a grid, else all."""
    if isinstance(metric, Grid) and all_items:
        i = items.reshape(metric.height, metric.width)
        first = np.concatenate([i[:, :-1].ravel(), i[:-1].ravel()])
        second = np.concatenate([i[:, 1:].ravel(), i[1:].ravel()])
        return first, second, np.full(first.size, 1 / (metric.width + metric.height - 2))
    first, second = np.triu_indices(len(items), 1)
    d = metric.cross(items, items)
    return first, second, d[first, second]


def _farthest_first(metric: MetricSpace, items: Items, count: int) -> Items:
    """Return indices in `items` of centres, each as far as possible from those before it."""
    start = 0
    if isinstance(metric, Grid):
        side = round(len(items) ** 0.5)
        start = (side // 2) * side + side // 2
    selected = [start]
    near = metric.cross(items, items[[start]])[:, 0]
    while len(selected) < min(count, len(items)) and near.max() > 0:
        selected.append(int(near.argmax()))
        near = np.minimum(near, metric.cross(items, items[[selected[-1]]])[:, 0])
    return np.array(selected)


_ON_ITEMS = (
    "typed centres are for a line, a square, a grid, the Earth and spaces of your own: choose one "
    "of these, or centres spread over the space"
)


def _typed_centres(text: str, metric: MetricSpace, count: int) -> Items:
    """Return the first typed centres, at most `count`, as items of a space.

    Raises
    ------
    ValueError
        If they are none; names the row and what to do.
    """
    name = "typed centres"
    rows = table_rows(text, name)
    form, low, high = "the number of the item, from 1", [1.0], [math.inf]
    if isinstance(metric, Line):
        form, low, high = "one number on the line", [metric.low], [metric.low + metric.length]
    elif isinstance(metric, Square | Grid):
        if isinstance(metric, Square):
            side = metric.side
        else:
            side = metric.length / (metric.width + metric.height - 2) * metric.width
        form, low, high = "x and y inside the box", [0.0, 0.0], [side, side]
    elif isinstance(metric, Sphere):
        form, low, high = "latitude and longitude in degrees", [-90.0, -180.0], [90.0, 180.0]
    elif isinstance(metric, FiniteSpace):
        high = [float(metric.size)]
    if not rows or len(rows[0]) != len(low):
        raise ValueError(f"{name}: give a row for each, {form}")
    at = np.array(rows[:count], dtype=float)
    for i, row in enumerate(at, 1):
        whole = not isinstance(metric, FiniteSpace) or isinstance(metric, Grid) or row[0] % 1 == 0
        if (row < low).any() or (row > high).any() or not whole:
            raise ValueError(f"{name}, row {i}: not {form}")
    if isinstance(metric, Grid):
        x, y = np.minimum(at / high * metric.width, metric.width - 1).astype(int).T
        return np.asarray(y * metric.width + x)
    if isinstance(metric, FiniteSpace):
        return np.asarray(at[:, 0].astype(int) - 1)
    return at[:, 0] if isinstance(metric, Line) else at


def _centred(kind: str, space: RequestSpace, count: int, width: float, own: str) -> Query:
    """Return distances to landmarks, or tents around them; `own` are typed ones, or empty."""
    metric = space.metric
    assert metric is not None
    count = min(count, MAX_CENTRES)
    if own:
        if isinstance(metric, Clustered | Discrete):
            return Query(kind, "", _ON_ITEMS)
        places = _typed_centres(own, metric, count)
        items, all_items = _items(metric)
        if isinstance(metric, Grid) and not all_items:
            return Query(kind, "", "typed centres are for grids of up to 128 × 128 cells")
        centres = places
        if not all_items:
            items = np.concatenate([places, items])
            centres = np.arange(len(places))
    elif isinstance(metric, Clustered):
        items, all_items, centres = _of_clusters(metric, count)
    else:
        items, all_items = _items(metric)
        centres = _farthest_first(metric, items, count)
    between = metric.cross(items, items[centres])
    step = 1 / (2 * metric.width - 2) if isinstance(metric, Grid) else 0.0
    values, overlaps = between, None
    if kind == CELLS:
        values = np.maximum(1 - between / width, 0.0)
        # Both ends of a short way are within h of a cell that sees it.
        near = between[centres] <= 2 * (width + step) * (1 + 1e-12)
        overlaps = np.array([near[: j + 1, : j + 1].sum(axis=1).max() for j in range(len(centres))])
    first, second, distance = _pairs(metric, items, all_items)
    edges = isinstance(metric, Grid) and all_items
    what = "mean distance to" if kind == LANDMARKS else "soft histogram over"
    names = {LANDMARKS: "landmark", CELLS: "cell"}[kind]
    return Query(
        kind,
        f"{what} {len(centres)} {names}{'s' * (len(centres) > 1)}",
        dim=len(centres),
        in_lengths=kind in IN_LENGTHS,
        values=values,
        first=first,
        second=second,
        distance=distance,
        complete=all_items,
        all_pairs=all_items and not edges,
        overlaps=overlaps,
        names=_names(space, items),
        centres=_layout(space, items[centres]),
    )


def _of_clusters(metric: Clustered, count: int) -> tuple[Items, bool, Items]:
    """Return centres spread over clusters and one item of every other kind.

    All items of a cluster that are no centres have the same distances to every centre, and so have
    those of all clusters without one: one of each represents all.
    """
    j = np.arange(min(count, metric.size))
    centres = (j % metric.clusters) * metric.each + j // metric.clusters
    used = set(centres.tolist())
    others = []
    clusters = sorted({c // metric.each for c in used})
    free = next((c for c in range(metric.clusters) if c not in clusters), None)
    for cluster in clusters if free is None else [*clusters, free]:
        own = range(cluster * metric.each, (cluster + 1) * metric.each)
        spare = next((item for item in own if item not in used), None)
        others += [] if spare is None else [spare]
    items = np.array([*centres.tolist(), *others], dtype=np.int64)
    return items, True, np.arange(len(centres))


def _positions(kind: str, space: RequestSpace) -> Query:
    """Return the query of positions, as shares of the diameter: all coordinates or one."""
    metric = space.metric
    assert metric is not None
    items, all_items = _items(metric)
    if isinstance(metric, Line):
        values = (items - metric.low)[:, None] / metric.length
    elif isinstance(metric, Square):
        values = items / metric.length
    elif isinstance(metric, Sphere):
        latitude, longitude = np.radians(items).T
        if kind == COORDINATE:
            values = latitude[:, None] / np.pi
        else:
            # The radius is half the circumference over π.
            level = np.cos(latitude)
            values = (
                np.column_stack(
                    [level * np.cos(longitude), level * np.sin(longitude), np.sin(latitude)]
                )
                / np.pi
            )
    elif isinstance(metric, Grid):
        at = np.column_stack([items % metric.width, items // metric.width])
        values = at / (metric.width + metric.height - 2)
    elif space.coordinates is not None:
        values = np.asarray(space.coordinates, dtype=float) / metric.length
    else:
        return Query(
            kind, "", "items of this space have no coordinates: choose another query or space"
        )
    if kind == COORDINATE:
        values = values[:, :1]
    first, second, distance = _pairs(metric, items, all_items)
    name = "mean position" if kind == POSITION else "mean of one coordinate"
    if kind == COORDINATE and isinstance(metric, Sphere):
        name = "mean latitude"
    known = not isinstance(metric, FiniteSpace)
    edges = isinstance(metric, Grid) and all_items
    return Query(
        kind,
        name,
        dim=values.shape[1],
        in_lengths=kind in IN_LENGTHS,
        values=values,
        first=first,
        second=second,
        distance=distance,
        complete=all_items and not known,
        all_pairs=all_items and not edges,
        names=_names(space, items),
    )


def _from_file(value: str, decimal: str, space: RequestSpace, context: Context) -> Query:
    """Return the query whose values on every item a file gives."""
    metric = space.metric
    if not isinstance(metric, FiniteSpace):
        return Query(FILE, "", "values of every item need finitely many: choose such a space")
    most = _MAX_GRID_ITEMS if isinstance(metric, Grid) else MAX_FILE_ITEMS
    if metric.size > most:
        return Query(FILE, "", f"the space has {metric.size:,} items; files are for {most:,}")
    if not value:
        return Query(FILE, "", _NO_FILE)
    path, name = context.file(value), value.partition("#")[0]
    large = path.stat().st_size > _HEAVY_BYTES
    items = np.arange(metric.size)
    names = _names(space, items)
    arguments = (str(path), name, names, space.named, decimal)
    read = context.run_in_worker(read_values, *arguments) if large else read_values(*arguments)
    values, note = read
    first, second, distance = _pairs(metric, items, True)
    return Query(
        FILE,
        f"the query of {name}",
        dim=values.shape[1],
        values=values,
        first=first,
        second=second,
        distance=distance,
        complete=True,
        all_pairs=not isinstance(metric, Grid),
        names=names,
        note=note,
    )


def _names(space: RequestSpace, items: Items) -> tuple[str, ...]:
    metric = space.metric
    if isinstance(metric, Grid):
        return tuple(f"cell ({i % metric.width}, {i // metric.width})" for i in items.tolist())
    if isinstance(metric, FiniteSpace):
        return space.labels or tuple(f"item {i}" for i in items.tolist())
    if isinstance(metric, Line):
        return tuple(f"{nearest(x)} {space.unit}".strip() for x in items.tolist())
    mark = "°" if isinstance(metric, Sphere) else ""
    return tuple(f"({nearest(a)}{mark}, {nearest(b)}{mark})" for a, b in items.tolist())


def _layout(space: RequestSpace, centres: Items) -> FloatArray | None:
    """Return positions of centres in the space's picture; None where that is not to scale."""
    metric = space.metric
    if isinstance(metric, Line):
        return np.column_stack([centres - metric.low, np.zeros(len(centres))])
    if isinstance(metric, Square):
        return np.asarray(centres, dtype=float)
    if isinstance(metric, Grid):
        step = metric.length / (metric.width + metric.height - 2)
        at = np.column_stack([centres % metric.width, centres // metric.width])
        return np.asarray((at + 0.5) * step)
    return None if space.coordinates is None else np.asarray(space.coordinates)[centres]


def read_values(
    path: str,
    name: str,
    labels: tuple[str, ...],
    named: bool,
    decimal: str = DecimalSign.AUTO,
) -> tuple[FloatArray, str]:
    """Return the values of a query on every item of a finite space, in the order of the space.

    Where both files have names, rows belong to items by name, whatever their order: by place they
    would make other slopes, and too little noise.

    Parameters
    ----------
    path : str
        The file.
    name : str
        Name of the file in messages.
    labels : tuple of str
        The items of the space.
    named : bool
        Whether these are names from the space's own file.
    decimal : str
        A `DecimalSign`.

    Returns
    -------
    values : ndarray of float, shape (items, dim)
    note : str
        Which names were not used; empty if all were.

    Raises
    ------
    TableFileError
        If there are not as many rows as items, names are others than those of the space, or a
        field is no number: naming the file, the line, the field and what to do.
    """
    table = read_csv(Path(path), name, decimal, comments=True, keep="fewer columns")
    size = len(labels)
    # Names may be numbers; then those of the space tell them from values.
    known = {fields[0] for fields in table.rows if len(fields) > 1} & set(labels)
    by_name = named and 2 * len(known) > size
    if len(table.rows) == size + 1 and _is_header_row(table.rows[0], by_name, table.dialect):
        table = table.without_header()
    if len(table.rows) != size:
        raise TableFileError(
            f"{name}: {len(table.rows)} rows of values where the space has {size:,} items; give "
            "one row an item, in the order of the space or with its names"
        )
    numbers_first = any(table.dialect.number_like(fields[0]) for fields in table.rows)
    first = 1 if by_name or not numbers_first else 0
    count = len(table.rows[0]) - first
    if not 1 <= count <= MAX_COLUMNS:
        raise table.error(
            table.lines[0], None, f"{count} values; give 1 to {MAX_COLUMNS} numbers an item"
        )
    values = table.numbers(
        first,
        count,
        f"values where the first row has {count}; give every item as many",
        "is not a number of the answer",
        advice="; give a number up to 1e100",
    )
    if not first:
        return values, ""
    if not named:
        return values, (
            f"{name} names its rows, the space does not name its items: rows are taken in the "
            "order of the space"
        )
    return values[_row_order(table, labels)], ""


def _is_header_row(fields: list[str], by_name: bool, dialect: Dialect) -> bool:
    """Whether the one line too many holds no values."""
    if by_name and len(fields) > 1 and fields[0] == "":
        return True
    return not any(dialect.number_like(field) for field in (fields[1:] or fields))


def _row_order(table: CsvTable, labels: tuple[str, ...]) -> list[int]:
    """Return which row each item of the space has, by name."""
    own = [fields[0] for fields in table.rows]
    if tuple(own) == labels:
        return list(range(len(own)))
    places: dict[str, int] = {}
    for place, (line, label) in enumerate(zip(table.lines, own, strict=True)):
        if label not in labels:
            raise table.error(
                line,
                1,
                f"no item of the space is named {label!r}; use the "
                "names of the space's file, or leave names out and keep its order",
            )
        if label in places or labels.count(label) > 1:
            raise table.error(
                line,
                1,
                f"more than one item is named {label!r}; give every "
                "item a name of its own in both files, or keep the order of the space's file",
            )
        places[label] = place
    return [places[label] for label in labels]
