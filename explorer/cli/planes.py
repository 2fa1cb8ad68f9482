"""What the commands need for planes that are not the Earth: range, picture, images."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from explorer.files import read_bounded

if TYPE_CHECKING:
    from explorer.checkins import CheckinData
    from explorer.geography.plane import Plane
    from explorer.geography.region import Region

ALL = "all"
PADDED = "padded"
"""In place of a region: the square of the next power of two around a plane."""


@dataclass(frozen=True)
class Backdrop:
    """The picture behind a map: its place, its bytes, and the plane that it spans in pixels."""

    path: Path
    data: bytes
    plane: Plane


def parse_plane(_ctx: click.Context, _option: click.Parameter, raw: str | None) -> Plane | None:
    """Return the plane that is declared (an option's callback)."""
    from explorer.geography.plane import Plane

    if raw is None:
        return None
    try:
        return Plane.parse(raw)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def read_picture(
    _ctx: click.Context, _option: click.Parameter, path: Path | None
) -> Backdrop | None:
    """Return the picture that lies behind the map (an option's callback)."""
    from explorer.figures.pages.backdrop import MOST_BYTES, size_of
    from explorer.geography.plane import Plane

    if path is None:
        return None
    try:
        data = read_bounded(path, MOST_BYTES)
        width, height = size_of(data, path.name)
    except OSError as fault:
        raise click.BadParameter(f"{path.name} can't be read ({fault.strerror})") from fault
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    return Backdrop(path, data, Plane(0.0, 0.0, float(width), float(height)))


plane_option = click.option(
    "--plane",
    is_eager=True,
    callback=parse_plane,
    metavar="WxH[:UNIT[:down|up]]",
    help="x and y of the file are no degrees, but lie in this range: 320x240 is x 0…320, y 0…240 "
    "pixels, y downwards; or XMIN,YMIN,XMAX,YMAX:mm:up. Default with --picture: its size.",
)
picture_option = click.option(
    "--picture",
    is_eager=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    callback=read_picture,
    metavar="PNG|JPEG",
    help="Picture behind the map of a plane that is not the Earth; it spans the whole range.",
)
image_option = click.option(
    "--image",
    metavar=f"NAME|{ALL}",
    help="Which picture's points, in a file with a column of them; all: every one in turn, and "
    "the mean of their metrics.",
)


def declared(ctx: click.Context) -> Plane | None:
    """Return the plane that the options read so far declare."""
    picture = ctx.params.get("picture")
    plane: Plane | None = ctx.params.get("plane") or (picture.plane if picture else None)
    return plane


def region_in(plane: Plane, raw: str, sides: list[float]) -> Region:
    """Return the box XMIN, YMIN, XMAX, YMAX of a plane, or its padded square.

    Raises
    ------
    ValueError
        If there is none.
    """
    from explorer.geography.region import PlaneRegion

    if raw.strip() == PADDED:
        return PlaneRegion.padded(plane)
    if len(sides) != 4:
        raise ValueError(f"{raw!r} is not XMIN,YMIN,XMAX,YMAX or {PADDED}")
    left, low, right, high = sides
    return PlaneRegion.whole(plane).at(plane.turned((low, left, high, right)))


def images_of(data: CheckinData, name: str | None) -> tuple[str | None, ...]:
    """Return the images that are asked for; one None for a file without any.

    Raises
    ------
    ValueError
        If one must be chosen, or there is no such image.
    """
    some = ", ".join(data.images[:8]) + " …" * (len(data.images) > 8)
    if not data.images:
        if name is not None:
            raise ValueError(f"{data.basename} has no column with images; leave out --image")
        return (None,)
    if name is None:
        raise ValueError(
            f"{data.basename} has points in several images: name one with --image, or {ALL}; "
            f"there are {some}"
        )
    if name == ALL:
        return data.images
    if name not in data.images:
        raise ValueError(f"{data.basename} has no image {name!r}; there are {some}")
    return (name,)


def batch_summary(summaries: dict[str, dict[str, Any]], schema: str) -> dict[str, Any]:
    """Return the summaries of several images as one, with the mean of their metrics."""
    first = next(iter(summaries.values()))
    shared = (
        "stamp",
        "unit",
        "columns",
        "rows",
        "metrics_on",
        "epsilon_per_level",
        "guarantee",
        "conditions",
    )
    names = [key for key, value in first["metrics"].items() if not isinstance(value, str)]
    means: dict[str, float | str | None] = {}
    for key in names:
        found = [one["metrics"][key] for one in summaries.values()]
        numbers = [value for value in found if isinstance(value, int | float)]
        means[key] = sum(numbers) / len(numbers) if numbers else None
    together = (
        f"Each map keeps its guarantee alone. Somebody who is in all {len(summaries)} images is "
        f"in {len(summaries)} maps: together they spend up to {len(summaries)} times ε."
    )
    notes = dict.fromkeys(note for one in summaries.values() for note in one["notes"])
    images = [
        {"image": name, **{key: one[key] for key in ("users", "metrics", "recipe")}}
        for name, one in summaries.items()
    ]
    return {
        "schema": schema,
        **{key: first[key] for key in shared},
        "metrics": means | {"unit": first["metrics"].get("unit")},
        "notes": [together, *notes],
        "images": images,
    }
