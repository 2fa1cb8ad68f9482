"""Shared camera of all map panes, and the cells, boxes and positions that it looks at."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from explorer.geography.coordinates import aspect_at, coordinate_decimals, format_place, turn_offset
from explorer.geography.plane import Plane
from explorer.geography.region import Box, PlaneRegion, Region
from explorer.studies.base.study import Surface
from explorer.user_rows import steps

FINEST = 1e-6
"""Finest scale in degrees of latitude per pixel (about 0.1 m)."""
COARSEST = 1.0
"""Coarsest scale in degrees of latitude per pixel."""
GLOBE: Box = (-88.0, -270.0, 88.0, 270.0)
"""Limits of the centre; a region across the antimeridian has its own up to 270."""
WORLD_BOX: Box = (-58.0, -178.0, 78.0, 178.0)
"""View without any data."""


class MapCamera(QObject):
    """Centre, scale and aspect of the flat map, in degrees and logical pixels.

    The aspect is the region's (1/cos of its middle latitude), so that zooming and panning do not
    change the shape of the heatmap's cells.

    Signals
    -------
    changed()
        Emitted after each change.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.longitude = 0.0
        self.latitude = 20.0
        self.scale = 0.5
        self.aspect = 1.0
        self._plane: Plane | None = None

    @property
    def place(self) -> tuple[float, float, float]:
        """Centre and scale."""
        return self.longitude, self.latitude, self.scale

    def box(self, width: float, height: float) -> Box:
        """Return south, west, north, east shown by a pane of a size in pixels."""
        half_x = width / 2 * self.scale * self.aspect
        half_y = height / 2 * self.scale
        return (
            self.latitude - half_y,
            self.longitude - half_x,
            self.latitude + half_y,
            self.longitude + half_x,
        )

    def set_plane(self, plane: Plane | None) -> None:
        """Set the plane; None for the Earth."""
        self._plane = plane

    @property
    def _limits(self) -> tuple[Box, float, float]:
        """Limits of the centre, and the finest and coarsest scale."""
        if self._plane is None:
            return GLOBE, FINEST, COARSEST
        south, west, north, east = PlaneRegion.whole(self._plane).box
        longest = max(north - south, east - west)
        around = south - longest, west - longest, north + longest, east + longest
        return around, longest * 1e-6, longest * 0.02

    def pan(self, right: float, down: float) -> None:
        """Pan the picture by an offset in pixels."""
        self._move(
            self.longitude - right * self.scale * self.aspect,
            self.latitude + down * self.scale,
            self.scale,
        )

    def zoom(self, factor: float, right: float = 0.0, down: float = 0.0) -> None:
        """Zoom by a factor about a point given in pixels from the centre."""
        _, finest, coarsest = self._limits
        scale = min(max(self.scale / factor, finest), coarsest)
        shift = self.scale - scale
        self._move(
            self.longitude + right * shift * self.aspect, self.latitude - down * shift, scale
        )

    def look_at(self, longitude: float, latitude: float, scale: float) -> None:
        """Set centre and scale (degrees of latitude per pixel)."""
        _, finest, coarsest = self._limits
        self._move(longitude, latitude, min(max(scale, finest), coarsest))

    def fit(self, box: Box, width: float, height: float, margin: float = 0.06) -> None:
        """Fit a box with a margin (share of its size) into a pane of a size in pixels.

        The aspect becomes that of the box's middle latitude.
        """
        south, west, north, east = box
        middle = min(max((south + north) / 2, -85.0), 85.0)
        self.aspect = aspect_at(middle) if self._plane is None else 1.0
        grow = 1 + 2 * margin
        scale = max(
            (east - west) * grow / max(width, 1) / self.aspect,
            (north - south) * grow / max(height, 1),
        )
        self.longitude = float("nan")  # emitted also if only the aspect changed
        self.look_at((west + east) / 2, (south + north) / 2, scale)

    def set_aspect(self, aspect: float) -> None:
        """Set the latitude at which the map is true to scale."""
        if aspect != self.aspect:
            self.aspect = aspect
            self.changed.emit()

    def _move(self, longitude: float, latitude: float, scale: float) -> None:
        (south, west, north, east), _, _ = self._limits
        place = (min(max(longitude, west), east), min(max(latitude, south), north), scale)
        if place != (self.longitude, self.latitude, self.scale):
            self.longitude, self.latitude, self.scale = place
            self.changed.emit()


def cell_of(surface: Surface, longitude: float, latitude: float) -> tuple[int, int, Box] | None:
    """Return row, column and box of the cell of a surface at a position.

    None outside, also of a polygon.
    """
    assert surface.region is not None
    south, west, north, east = surface.region.box
    if surface.region.plane is None:
        longitude += turn_offset(longitude, (west + east) / 2)
    if not (south <= latitude <= north and west <= longitude <= east):
        return None
    polygon = surface.region.polygon
    if polygon is not None and not polygon.holds(steps([latitude]), steps([longitude]))[0]:
        return None
    rows, columns = surface.values.shape
    row = min(int((latitude - south) / (north - south) * rows), rows - 1)
    column = min(int((longitude - west) / (east - west) * columns), columns - 1)
    high, wide = (north - south) / rows, (east - west) / columns
    box = (
        south + row * high,
        west + column * wide,
        south + (row + 1) * high,
        west + (column + 1) * wide,
    )
    return row, column, box


def on_earth(region: Region | None) -> bool:
    """Whether the map of a region is of the Earth; true without a region."""
    return plane_of(region) is None


def plane_of(region: Region | None) -> Plane | None:
    """Return the plane of a region; None for the Earth."""
    return None if region is None else region.plane


def place_words(position: tuple[float, float], scale: float, region: Region | None) -> str:
    """Return a position (x, y) as text, with decimals according to the scale per pixel."""
    decimals = coordinate_decimals(scale)
    return format_place(position[1], position[0], decimals, plane_of(region))


def cell_words(row: int, column: int, region: Region | None) -> str:
    """Return the position of a cell in the grid as text."""
    corner = "south-west" if on_earth(region) else "lower left"
    return f"cell {column + 1}, {row + 1} from the {corner}"


def beside(box: Box, region: Region, longitude: float) -> Box:
    """Return a box of the region, shifted to where it is drawn in a view around a longitude.

    On the Earth the map is drawn once, nearest to the centre of the view.
    """
    if region.plane is not None:
        return box
    south, west, north, east = box
    turn = turn_offset((region.west + region.east) / 2, longitude)
    return south, west + turn, north, east + turn


def overlap(a: Box, b: Box) -> bool:
    """Return whether two boxes share more than an edge."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
