"""The metric space of a request, and its layout in the plane."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.spaces import (
    Clustered,
    Discrete,
    FiniteSpace,
    Grid,
    Line,
    MatrixSpace,
    MetricSpace,
    Sphere,
    Square,
)
from explorer.studies.base.csv_table import DecimalSign
from explorer.studies.base.numbers import nearest
from explorer.studies.base.study import Context, Request, SpacePicture
from explorer.studies.base.sweeping import evenly_spread
from explorer.studies.metric_space import parameters as named
from explorer.studies.metric_space.files import ReadSpace, read_matrix, read_points, typed_matrix

Groups = np.ndarray[Any, np.dtype[np.intp]]
Layout = tuple[FloatArray, Groups, str]
"""Points, their groups, and a note on what the layout preserves."""

_MAX_POINTS = 300
"""Most points drawn of a space of items."""
_MAX_SIDE_POINTS = 24
"""Most points drawn along a side."""


def _one_group(points: FloatArray, note: str) -> Layout:
    return points, np.zeros(len(points), dtype=np.intp), note


def line_layout(length: float) -> Layout:
    """Return points along the line."""
    x = np.linspace(0.0, length, 41)
    return _one_group(
        np.column_stack([x, np.zeros_like(x)]), "A sample of the line's points, to scale."
    )


def square_layout(side: float, norm: int) -> Layout:
    """Return a lattice of the square's points."""
    x, y = np.meshgrid(
        np.linspace(0, side, _MAX_SIDE_POINTS), np.linspace(0, side, _MAX_SIDE_POINTS)
    )
    farthest = "along the sides" if norm == 1 else "the diagonal"
    return _one_group(
        np.column_stack([x.ravel(), y.ravel()]),
        "A lattice of the square's points, to scale. Farthest apart are opposite corners: "
        f"{farthest}.",
    )


def grid_layout(grid: Grid, side: float) -> Layout:
    """Return the grid's cells, or every so many-th of them."""
    stride = -(-grid.width // (2 * _MAX_SIDE_POINTS))
    centres = (np.arange(0, grid.width, stride) + 0.5) * side / grid.width
    x, y = np.meshgrid(centres, centres)
    which = "All cells" if stride == 1 else f"Every {stride}th cell along both sides"
    return _one_group(
        np.column_stack([x.ravel(), y.ravel()]),
        f"{which}, at their centres, to scale; distance is counted along the sides.",
    )


def sphere_layout() -> Layout:
    """Return a globe: parallels and meridians of the near side, and its outline."""
    tilt = math.radians(25)
    lines = []
    fine = np.radians(np.arange(-180.0, 180.0, 4.0))
    for latitude in np.radians(np.arange(-60.0, 61.0, 30.0)):
        lines.append(np.column_stack([np.full(fine.size, latitude), fine]))
    rise = np.radians(np.arange(-88.0, 89.0, 4.0))
    for longitude in np.radians(np.arange(-180.0, 180.0, 30.0)):
        lines.append(np.column_stack([rise, np.full(rise.size, longitude)]))
    latitude, longitude = np.concatenate(lines).T
    x = np.cos(latitude) * np.sin(longitude)
    depth = np.cos(latitude) * np.cos(longitude)
    y = np.sin(latitude) * math.cos(tilt) - depth * math.sin(tilt)
    near = np.sin(latitude) * math.sin(tilt) + depth * math.cos(tilt) > 0
    turn = np.radians(np.arange(0.0, 360.0, 3.0))
    outline = np.column_stack([np.cos(turn), np.sin(turn)])
    points = np.concatenate([np.column_stack([x, y])[near], outline])
    groups = np.concatenate([np.zeros(near.sum()), np.ones(len(outline))]).astype(np.intp)
    return (
        points,
        groups,
        "A globe seen from afar: every 30th parallel and meridian of the near side. Only lengths "
        "across the line of sight are kept; distance runs over the surface, and farthest apart "
        "are antipodes.",
    )


def clustered_layout(space: Clustered) -> Layout:
    """Return clusters around a circle, their items around small ones of diameter about r."""
    clusters = min(space.clusters, 40)
    each = min(space.each, max(_MAX_POINTS // clusters, 1))
    turn = 2 * math.pi * np.arange(clusters) / clusters
    # Centres of neighbouring clusters are at most 1 apart, with their items within r/2.
    far = 0.5 / math.sin(math.pi / clusters) if clusters > 1 else 0.0
    inner = 2 * math.pi * np.arange(each) / each
    radius = 0.0 if each == 1 else 0.5 * min(space.r, 0.8)
    centre = far * np.column_stack([np.cos(turn), np.sin(turn)])
    ring = radius * np.column_stack([np.cos(inner), np.sin(inner)])
    points = (centre[:, None, :] + ring).reshape(-1, 2)
    shown = ""
    if clusters < space.clusters or each < space.each:
        shown = f" Drawn are {clusters} of {space.clusters} clusters with {each} items each."
    return (
        points,
        np.repeat(np.arange(clusters, dtype=np.intp), each),
        "Clusters around a circle. The plane has no room for so many equal distances: only which "
        f"items are near and which far is kept.{shown}",
    )


def discrete_layout(items: int) -> Layout:
    """Return items around a circle."""
    shown = min(items, 200)
    turn = 2 * math.pi * np.arange(shown) / shown
    more = "" if shown == items else f" Drawn are {shown} of {items:,}."
    return _one_group(
        np.column_stack([np.cos(turn), np.sin(turn)]),
        f"Items around a circle; in truth every two are equally far apart.{more}",
    )


def matrix_layout(space: MatrixSpace) -> Layout:
    """Return items in the plane by classical multidimensional scaling of their distances.

    The two leading eigenvectors of −½·J·D²·J (Torgerson 1952), times the roots of their
    eigenvalues; of at most 300 items.
    """
    selected = evenly_spread(space.size, _MAX_POINTS)
    d = space.cross(selected, selected)
    squared = d**2
    centred = -0.5 * (
        squared - squared.mean(axis=0) - squared.mean(axis=1, keepdims=True) + squared.mean()
    )
    values, vectors = np.linalg.eigh((centred + centred.T) / 2)
    leading = np.maximum(values[::-1][:2], 0.0)
    points = vectors[:, ::-1][:, :2] * np.sqrt(leading)
    if points.shape[1] < 2:
        points = np.column_stack([points, np.zeros(len(points))])
    # Eigenvectors come with either sign: the first item goes to the left and below.
    points = points * np.where(points[0] > 0, -1.0, 1.0)
    drawn = np.hypot(*(points[:, None, :] - points).transpose(2, 0, 1))
    kept = float(leading.sum() / max(np.abs(values).sum(), 1e-300))
    off = float(np.abs(drawn - d).max())
    shown = (
        "" if len(selected) == space.size else f" Drawn are {len(selected)} of {space.size} items."
    )
    return _one_group(
        np.asarray(points * space.length),
        "Laid out by classical multidimensional scaling: the plane keeps "
        f"{100 * kept:.0f} % of the distances' spread, and no two items drawn are more than "
        f"{nearest(100 * off)} % of the diameter farther or nearer than they are.{shown}",
    )


def points_layout(coordinates: FloatArray, great_circle: bool) -> Layout:
    """Return the points of a user's file at their coordinates."""
    note = (
        "Longitude to the right, latitude upwards, in degrees; distances are great circles'."
        if great_circle
        else "Your points at their own coordinates."
    )
    if len(coordinates) > _MAX_POINTS:
        selected = evenly_spread(len(coordinates), _MAX_POINTS)
        note += f" Drawn are {len(selected)} of {len(coordinates)}."
        coordinates = coordinates[selected]
    return _one_group(np.asarray(coordinates, dtype=float), note)


_HEAVY_BYTES = 8_000
"""Files beyond this are read in the worker process: the triangle inequality of some hundred items
already takes long enough to be felt."""
_NO_FILE = {
    named.MATRIX: "no file of distances is chosen: open a CSV file under “file of distances”",
    named.POINTS: "no file of points is chosen: open a CSV file under “file of points”",
}


@dataclass(frozen=True)
class RequestSpace:
    """The metric space of a request.

    Attributes
    ----------
    kind : str
        One of `parameters.KINDS`.
    name : str
        ``sphere, great-circle distance``.
    metric : MetricSpace or None
        Distances in [0, 1]; None where a file is still to be chosen.
    diameter : float
        Largest distance in `unit`: what a normalised 1 measures. NaN without a metric.
    unit : str
        ``km``, ``mi``, ``m`` or empty.
    min_distance : float
        Smallest normalised distance above 0 of two items; 0 for spaces of infinitely many.
    size : int or None
        Number of items; None for infinitely many.
    picture : SpacePicture or None
    missing : str
        Why there is no metric; empty if there is.
    notes : tuple of str
        Rows of a file that were rejected.
    labels : tuple of str
        Names of a file's items; empty without a file.
    coordinates : ndarray of float, shape (items, 2), or None
        Where a file of points says they are, (longitude, latitude) on a sphere.
    named : bool
        Whether `labels` are the file's own names, and not numbers of its rows.
    """

    kind: str
    name: str
    metric: MetricSpace | None
    diameter: float
    unit: str
    min_distance: float
    size: int | None
    picture: SpacePicture | None
    missing: str = ""
    notes: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    coordinates: FloatArray | None = None
    named: bool = False


def space_of(request: Request, context: Context) -> RequestSpace:
    """Return the space of a request's ``space…`` parameters; cached.

    Raises
    ------
    TableFileError
        If the file chosen can't be used.
    LookupError
        If the file chosen is not open.
    """
    values = tuple(
        (key, value) for key, value in request.values if key == "space" or key.startswith("space_")
    )
    built: RequestSpace = context.cached(
        ("metric-space", values), lambda: _build_space(dict(values), context)
    )
    return built


def _build_space(values: dict[str, Any], context: Context) -> RequestSpace:
    kind = str(values["space"])
    unit = "" if kind in named.UNITLESS else str(values["space_unit"])
    shown_unit = "" if unit == "none" else unit
    if kind == named.LINE:
        side = values["space_side"]
        return _with_picture(kind, "line", Line(0.0, side, shown_unit), line_layout(side))
    if kind in (named.SQUARE_L1, named.SQUARE_L2):
        side, norm = values["space_side"], 1 if kind == named.SQUARE_L1 else 2
        metric = Square(norm, side, shown_unit)
        return _with_picture(kind, f"square, ℓ{norm}", metric, square_layout(side, norm))
    if kind == named.GRID:
        cells, side = values["space_cells"], values["space_side"]
        grid = Grid(cells, cells, side / cells, shown_unit)
        name = f"grid {cells} × {cells}, ℓ1"
        near = 1 / (2 * cells - 2)
        return _with_picture(kind, name, grid, grid_layout(grid, side), near)
    if kind == named.SPHERE:
        half = named.half_circumference(values["space_earth"], unit)
        name = "Earth's surface, great-circle distance"
        return _with_picture(kind, name, Sphere(half, shown_unit), sphere_layout())
    if kind == named.CLUSTERED:
        clusters, each, r = (values[f"space_{key}"] for key in ("clusters", "each", "near"))
        space = Clustered(clusters, each, r)
        near = r if each > 1 and r > 0 else 1.0
        name = f"{clusters} clusters of {each}, r = {r:g}"
        return _with_picture(kind, name, space, clustered_layout(space), near)
    if kind == named.DISCRETE:
        items = values["space_items"]
        return _with_picture(
            kind, f"0/1 on {items:,} items", Discrete(items), discrete_layout(items), 1.0
        )
    return _from_file(kind, values, unit, shown_unit, context)


def _from_file(
    kind: str, values: dict[str, Any], unit: str, shown_unit: str, context: Context
) -> RequestSpace:
    if kind == named.TYPED:
        return _of_reading(kind, "typed distances", typed_matrix(values["space_typed"], shown_unit))
    value = str(values["space_matrix" if kind == named.MATRIX else "space_points"])
    if not value:
        name = dict(named.KINDS)[kind]
        return RequestSpace(
            kind, name, None, float("nan"), shown_unit, 0.0, None, None, _NO_FILE[kind]
        )
    path = context.file(value)
    name = value.partition("#")[0]
    norm = str(values.get("space_norm", "2"))
    decimal = str(values.get("space_decimal", DecimalSign.AUTO))
    arguments: tuple[Any, ...] = (str(path), name, shown_unit)
    reader: Any = read_matrix
    if kind == named.POINTS:
        reader = read_points
        arguments += (norm, named.half_circumference(values.get("space_earth", "equator"), unit))
    arguments += (decimal,)
    large = path.stat().st_size > _HEAVY_BYTES
    read: ReadSpace = context.run_in_worker(reader, *arguments) if large else reader(*arguments)
    what = "distances" if kind == named.MATRIX else "points"
    return _of_reading(kind, f"{what} of {name}", read, norm == named.GREAT_CIRCLE)


def _of_reading(kind: str, name: str, read: ReadSpace, great_circle: bool = False) -> RequestSpace:
    """Return the space that a user's own distances or points make."""
    if read.coordinates is None:
        layout = matrix_layout(read.metric)
    else:
        layout = points_layout(read.coordinates, great_circle)
    selected = _with_picture(
        kind,
        f"{name} ({read.metric.size} items)",
        read.metric,
        layout,
        _nearest(read.metric),
        (read.note,) if read.note else (),
    )
    return replace(selected, labels=read.labels, coordinates=read.coordinates, named=read.named)


def _nearest(metric: MatrixSpace) -> float:
    d = metric.matrix()
    return float(d[d > 0].min())


def _with_picture(
    kind: str,
    name: str,
    metric: MetricSpace,
    layout: Layout,
    near: float = 0.0,
    notes: tuple[str, ...] = (),
) -> RequestSpace:
    points, groups, note = layout
    picture = SpacePicture(
        name=name,
        points=np.asarray(points, dtype=float),
        groups=groups,
        diameter=metric.length,
        unit=metric.unit,
        note=note,
    )
    size = metric.size if isinstance(metric, FiniteSpace) else None
    return RequestSpace(
        kind, name, metric, metric.length, metric.unit, near, size, picture, notes=notes
    )
