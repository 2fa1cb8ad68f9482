"""View settings of plots and maps, shared by window and export."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from explorer.figures.colour_maps import COLOUR_MAPS
from explorer.figures.formats import PARTS
from explorer.figures.style import THEMES
from explorer.geography.region import Box
from explorer.studies.base.study import Quantity, Result, Scale, Study
from explorer.studies.registry import get_study

MAX_BACKGROUNDS = 6


@dataclass(frozen=True, slots=True)
class ViewState:
    """Settings of a plot or map.

    Attributes
    ----------
    title : str
        Above the picture; empty writes the study's name.
    theme : str
        ``light`` or ``dark``.
    x_range, y_range : tuple of (low, high) or None
        In data units, low < high; None shows everything.
    x_log, y_log : bool
    hidden : tuple of str
        Keys of series that are not drawn.
    claim : str
        Key of the series that is claimed; empty for the tightest valid bound.
    surfaces : tuple of str
        Keys of the surfaces shown, in the order of their panes.
    colour_map : str
        One of `explorer.figures.colour_maps.COLOUR_MAPS`.
    linked_scale : bool
        Whether all panes share one colour scale.
    map_box : tuple of float or None
        South, west, north, east that the map shows; None is the region with a margin.
    show_basemap, show_cities : bool
    show_contributions : bool
        Whether the histogram of users' contributions is below the maps, for the curator only.
    picture : str
        Picture behind the map of a plane that is not the Earth: name and sha256 of a file added to
        the runtime (`add_file`); empty for none.
    backgrounds : tuple of str
        Files behind the map of the Earth, the lowest first, at most `MAX_BACKGROUNDS`: name and
        sha256 of each.
    heatmap_opacity : float
        Of heatmaps in front of them, 0 to 1.
    left_out : tuple of str
        Omitted `PARTS` of the page; stamps are never omitted.
    pinned : tuple of mappings
        Reference curves: their ``recipe`` as JSON values, and the keys of those that were
        ``hidden``.
    own : tuple of mappings
        Curves from users' files, as JSON values.

    Raises
    ------
    ValueError
        Naming the field, its value and the allowed values.
    """

    title: str = ""
    theme: str = "light"
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    x_log: bool = False
    y_log: bool = False
    hidden: tuple[str, ...] = ()
    claim: str = ""
    surfaces: tuple[str, ...] = ()
    colour_map: str = "viridis"
    linked_scale: bool = True
    map_box: Box | None = None
    show_basemap: bool = True
    show_cities: bool = True
    show_contributions: bool = False
    picture: str = ""
    backgrounds: tuple[str, ...] = ()
    heatmap_opacity: float = 0.75
    left_out: tuple[str, ...] = ()
    pinned: tuple[Mapping[str, Any], ...] = ()
    own: tuple[Mapping[str, Any], ...] = ()

    def __post_init__(self) -> None:
        if self.theme not in THEMES:
            raise ValueError(f"theme: {self.theme!r} is not one of {', '.join(THEMES)}")
        if self.colour_map not in COLOUR_MAPS:
            raise ValueError(
                f"colour_map: {self.colour_map!r} is not one of {', '.join(COLOUR_MAPS)}"
            )
        for part in self.left_out:
            if part not in PARTS:
                raise ValueError(f"left_out: {part!r} is not one of {', '.join(PARTS)}")
        if len(self.backgrounds) > MAX_BACKGROUNDS:
            raise ValueError(f"backgrounds: {len(self.backgrounds)}, at most {MAX_BACKGROUNDS}")
        if not 0 <= self.heatmap_opacity <= 1:
            raise ValueError(f"heatmap_opacity: {self.heatmap_opacity:g} is outside [0, 1]")
        for name in ("x_range", "y_range"):
            ends = getattr(self, name)
            if ends is not None and not (all(map(math.isfinite, ends)) and ends[0] < ends[1]):
                raise ValueError(f"{name}: {ends[0]:g}…{ends[1]:g} must be finite and ascending")
        if self.map_box is not None:
            south, west, north, east = self.map_box
            if not (all(map(math.isfinite, self.map_box)) and south < north and west < east):
                raise ValueError(
                    f"map_box: {self.map_box} must be finite: south, west, north, east"
                )

    @classmethod
    def for_result(cls, result: Result, **changes: Any) -> ViewState:
        """Return the default view of a result with the given changes.

        Axes have the scales declared by their parameter and quantity; surfaces for the curator
        only are hidden unless given.
        """
        start: dict[str, Any] = {
            "surfaces": tuple(s.key for s in result.surfaces if not s.curator_only)
        }
        request = result.request
        if request.sweep is not None:
            start["x_log"] = request.sweep.scale is Scale.LOG
        shown = quantity_of(result)
        if shown is not None:
            start["y_log"] = shown.scale is Scale.LOG
        return cls(**(start | changes))

    def to_dict(self) -> dict[str, Any]:
        """Return the state as JSON values; those of backgrounds only if there are any."""
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in asdict(self).items()
            if self.backgrounds or key not in ("backgrounds", "heatmap_opacity")
        }

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> ViewState:
        """Return a view from JSON values whose names and types have been checked.

        Missing values take their default; unknown ones, of newer versions, are ignored.

        Raises
        ------
        ValueError
            Naming the field that is out of range.
        """
        known: dict[str, Any] = {
            f.name: tuple(raw[f.name]) if isinstance(raw[f.name], list) else raw[f.name]
            for f in fields(cls)
            if f.name in raw
        }
        return cls(**known)


def study_of(result: Result) -> Study | None:
    """Return the study of a result; None if it is unknown."""
    try:
        return get_study(result.request.study)
    except ValueError:
        return None


def quantity_of(result: Result) -> Quantity | None:
    """Return the quantity on the y axis of a result, or None."""
    study = study_of(result)
    for item in study.quantities if study else ():
        if item.key == result.request.quantity:
            return item
    return None
