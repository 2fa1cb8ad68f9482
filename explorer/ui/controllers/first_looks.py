"""Pictures of a file that is still being opened, made of a part of its rows."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from explorer.checkins.map_preview import FirstLook, first_looks
from explorer.checkins.model import Dialect, Mapping, Preview
from explorer.checkins.readers.base import Sample
from explorer.geography.region import PlaneRegion, Region
from explorer.studies.base.numbers import format_number
from explorer.ui.controllers.first_region import first_region

GRACE_S = 0.3
"""How long a load waits for the first picture, which would take longer beside it."""

_SAID = {
    Sample.USERS: "{share} read, estimate",
    Sample.ROWS: "{share} read: rows, not yet users",
    Sample.BEGINNING: "beginning of the file, {share} read",
}


@dataclass(frozen=True)
class EarlyPicture:
    """An estimate of a true map; for its curator's eyes, and for nothing else.

    Attributes
    ----------
    region : Region
    values : ndarray of float64, shape (n, n)
        Shares of the users' weight, row 0 south.
    label : str
        What it is made of.
    """

    region: Region
    values: np.ndarray
    label: str


@contextmanager
def looking(
    path: Path,
    head: Preview,
    mapping: Mapping | None,
    dialect: Dialect | None,
    region: Region | None,
    report: Callable[[EarlyPicture], None],
    cancelled: Callable[[], bool],
) -> Iterator[None]:
    """Report ever better pictures of a file from a thread of its own, until the block is left.

    Parameters
    ----------
    path, head, mapping, dialect
        As in `first_looks`.
    region : Region or None
        What to draw; None chooses as after the load.
    report : callable
        Called in the thread.
    cancelled : callable
        Asked every few milliseconds; true stops.
    """
    ended, shown = threading.Event(), threading.Event()

    def unwanted() -> bool:
        return ended.is_set() or cancelled()

    def work() -> None:
        try:
            for look in first_looks(path, head, mapping, dialect, unwanted):
                picture = _picture(look, mapping or head.mapping, region)
                if picture is not None and not unwanted():
                    report(picture)
                    shown.set()
        except Exception:  # no estimate then; what is wrong, the load will say
            pass
        finally:
            shown.set()

    thread = threading.Thread(target=work, name="looking into check-ins")
    thread.start()
    try:
        shown.wait(GRACE_S)
        yield
    finally:
        ended.set()
        thread.join()


def _picture(look: FirstLook, mapping: Mapping, region: Region | None) -> EarlyPicture | None:
    plane = mapping.plane_there
    if region is None:
        region = first_region(look)[0] if plane is None else PlaneRegion.whole(plane)
    values = look.picture(region.box)
    if values is None:
        return None
    share = f"{format_number(100 * look.share, digits=1)} %"
    return EarlyPicture(region, values, _SAID[look.sample].format(share=share))
