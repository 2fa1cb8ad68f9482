"""Metric spaces laid out in the plane."""

import math
from typing import Any

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.spaces import Clustered, Grid, MatrixSpace
from explorer.studies.base.numbers import nearest
from explorer.studies.base.sweeping import evenly_spread

Groups = np.ndarray[Any, np.dtype[np.intp]]
Layout = tuple[FloatArray, Groups, str]
"""Points, their groups, and a note on what the layout preserves."""

_SHOWN = 300
"""Most points drawn of a space of items."""
_SIDE = 24
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
    x, y = np.meshgrid(np.linspace(0, side, _SIDE), np.linspace(0, side, _SIDE))
    farthest = "along the sides" if norm == 1 else "the diagonal"
    return _one_group(
        np.column_stack([x.ravel(), y.ravel()]),
        "A lattice of the square's points, to scale. Farthest apart are opposite corners: "
        f"{farthest}.",
    )


def grid_layout(grid: Grid, side: float) -> Layout:
    """Return the grid's cells, or every so many-th of them."""
    stride = -(-grid.width // (2 * _SIDE))
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
    each = min(space.each, max(_SHOWN // clusters, 1))
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
    chosen = evenly_spread(space.size, _SHOWN)
    d = space.cross(chosen, chosen)
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
    shown = "" if len(chosen) == space.size else f" Drawn are {len(chosen)} of {space.size} items."
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
    if len(coordinates) > _SHOWN:
        chosen = evenly_spread(len(coordinates), _SHOWN)
        note += f" Drawn are {len(chosen)} of {len(coordinates)}."
        coordinates = coordinates[chosen]
    return _one_group(np.asarray(coordinates, dtype=float), note)
