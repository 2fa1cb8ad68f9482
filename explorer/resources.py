"""Locates the files shipped with the program: map data, samples, schemas.

In a wheel (unpacked or imported from the zip) they lie under ``explorer/_resources``; in a
checkout, editable installs included, under ``resources/`` and ``datasets/`` beside the package.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

_CHECKOUT_FOLDERS = ("resources", "datasets")


@dataclass(frozen=True, slots=True)
class Sample:
    """A check-in file that ships with the program.

    Attributes
    ----------
    file : str
        Resource name, to be given to `resource_path`.
    sha256 : str
        Of the file as it lies on disk (compressed).
    synthetic : bool
        Whether it contains only synthetic data.
    title : str
        What to call it on screen.
    suggested_region : tuple of float
        South, west, north, east in degrees: a box worth looking at first.
    """

    file: str
    sha256: str
    synthetic: bool
    title: str
    suggested_region: tuple[float, float, float, float]


def resource_bytes(name: str) -> bytes:
    """Return the content of a shipped file.

    Parameters
    ----------
    name : str
        Relative path with forward slashes, e.g. ``basemap.bin``.

    Raises
    ------
    FileNotFoundError
        If the installation has no such file.
    ValueError
        If the name is absolute, empty or climbs out with ``..``.
    """
    return _find(name).read_bytes()


@contextmanager
def resource_path(name: str) -> Iterator[Path]:
    """Yield the path of a shipped file, valid inside the ``with`` block.

    If the program runs from a zip the file is unpacked into a temporary one and removed after.
    Raises as `resource_bytes` does.
    """
    with as_file(_find(name)) as path:
        yield path


@cache
def samples() -> tuple[Sample, ...]:
    """Return the shipped check-in files; the first is the default."""
    listed = json.loads(resource_bytes("samples.json"))["samples"]
    return tuple(
        Sample(
            file=item["file"],
            sha256=item["sha256"],
            synthetic=item["synthetic"],
            title=item["title"],
            suggested_region=tuple(item["suggested_region"]),
        )
        for item in listed
    )


def _find(name: str) -> Traversable:
    path = PurePosixPath(name)
    if not name or path.is_absolute() or ".." in path.parts:
        raise ValueError(f"name: {name!r} must be a relative path without '..'")
    package = files("explorer")
    places = [package / "_resources"]
    # From a zip the package is no Path and there is no checkout around it.
    if isinstance(package, Path):
        places += [package.parent / folder for folder in _CHECKOUT_FOLDERS]
    for place in places:
        result = place.joinpath(*path.parts)
        if result.is_file():
            return result
    raise FileNotFoundError(
        f"{name} is missing from this installation of Privacy Explorer; install it again"
    )
