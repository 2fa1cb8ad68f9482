"""The metric space of a request, and its layout in the plane."""

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
from explorer.studies.base.csv_dialect import DecimalSign
from explorer.studies.base.study import Context, Request, SpacePicture
from explorer.studies.metric_space import parameters as named, pictures
from explorer.studies.metric_space.files import ReadSpace, read_matrix, read_points

_HEAVY_BYTES = 8_000
"""Files beyond this are read in the worker process: the triangle inequality of some hundred items
already takes long enough to be felt."""
_NO_FILE = {
    named.MATRIX: "no file of distances is chosen: open a CSV file under “file of distances”",
    named.POINTS: "no file of points is chosen: open a CSV file under “file of points”",
}


@dataclass(frozen=True)
class ChosenSpace:
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


def chosen_space(request: Request, context: Context) -> ChosenSpace:
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
    made: ChosenSpace = context.memo(("metric-space", values), lambda: _made(dict(values), context))
    return made


def _made(values: dict[str, Any], context: Context) -> ChosenSpace:
    kind = str(values["space"])
    unit = "" if kind in named.UNITLESS else str(values["space_unit"])
    shown_unit = "" if unit == "none" else unit
    if kind == named.LINE:
        side = values["space_side"]
        return _chosen(kind, "line", Line(0.0, side, shown_unit), pictures.line_layout(side))
    if kind in (named.SQUARE_L1, named.SQUARE_L2):
        side, norm = values["space_side"], 1 if kind == named.SQUARE_L1 else 2
        metric = Square(norm, side, shown_unit)
        return _chosen(kind, f"square, ℓ{norm}", metric, pictures.square_layout(side, norm))
    if kind == named.GRID:
        cells, side = values["space_cells"], values["space_side"]
        grid = Grid(cells, cells, side / cells, shown_unit)
        name = f"grid {cells} × {cells}, ℓ1"
        near = 1 / (2 * cells - 2)
        return _chosen(kind, name, grid, pictures.grid_layout(grid, side), near)
    if kind == named.SPHERE:
        half = named.half_circumference(values["space_earth"], unit)
        name = "Earth's surface, great-circle distance"
        return _chosen(kind, name, Sphere(half, shown_unit), pictures.sphere_layout())
    if kind == named.CLUSTERED:
        clusters, each, r = (values[f"space_{key}"] for key in ("clusters", "each", "near"))
        space = Clustered(clusters, each, r)
        near = r if each > 1 and r > 0 else 1.0
        name = f"{clusters} clusters of {each}, r = {r:g}"
        return _chosen(kind, name, space, pictures.clustered_layout(space), near)
    if kind == named.DISCRETE:
        items = values["space_items"]
        return _chosen(
            kind, f"0/1 on {items:,} items", Discrete(items), pictures.discrete_layout(items), 1.0
        )
    return _from_file(kind, values, unit, shown_unit, context)


def _from_file(
    kind: str, values: dict[str, Any], unit: str, shown_unit: str, context: Context
) -> ChosenSpace:
    value = str(values["space_matrix" if kind == named.MATRIX else "space_points"])
    if not value:
        name = dict(named.KINDS)[kind]
        return ChosenSpace(
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
    if read.coordinates is None:
        layout = pictures.matrix_layout(read.metric)
    else:
        layout = pictures.points_layout(read.coordinates, norm == named.GREAT_CIRCLE)
    what = "distances" if kind == named.MATRIX else "points"
    chosen = _chosen(
        kind,
        f"{what} of {name} ({read.metric.size} items)",
        read.metric,
        layout,
        _nearest(read.metric),
        (read.note,) if read.note else (),
    )
    return replace(chosen, labels=read.labels, coordinates=read.coordinates, named=read.named)


def _nearest(metric: MatrixSpace) -> float:
    d = metric.matrix()
    return float(d[d > 0].min())


def _chosen(
    kind: str,
    name: str,
    metric: MetricSpace,
    layout: pictures.Layout,
    near: float = 0.0,
    notes: tuple[str, ...] = (),
) -> ChosenSpace:
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
    return ChosenSpace(
        kind, name, metric, metric.length, metric.unit, near, size, picture, notes=notes
    )
