"""Options of the window, as the command line sets them. Imports no Qt."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from explorer.geography.region import Region

TOUR_STEPS = ("open", "drag", "guarantee", "find", "compare", "export")
"""Ids of the steps of the tour, in order."""
SCREENSHOT_TIMEOUT_S = 600.0
"""Time limit of a screenshot; generous, because a map may take minutes on a busy machine."""


@dataclass(frozen=True)
class WindowOptions:
    """Options of the window.

    Attributes
    ----------
    study : str or None
        Id of the study to show; default: that of the last session.
    data : Path or None
        Check-ins to open; default: those of the last session, else the sample.
    values : tuple of (key, text)
        Parameter values to set.
    preset : str or None
        Key of a preset of the study.
    quantity : str or None
        Key of the quantity on the y axis.
    region : Region or None
    users : int or None
    seed : int or None
        Seed of the demonstration noise.
    recipe : Path or None
        Exported file whose recipe is restored.
    link : str or None
        Link from *Copy link* to restore.
    tour : str or None
        Id of the step of the tour to begin with.
    screenshot : Path or None
        Render off screen, save the picture and exit; the session is not saved.
    size : (int, int)
        Window size in device-independent pixels.
    scale : int
        Device pixels per pixel, in a screenshot.
    theme : str
        ``system``, ``light`` or ``dark``.
    start_page : bool or None
        Whether to show the start page; None: unless another option or the user's setting says
        otherwise.
    compute_process : bool
        Whether results are computed in a separate process.
    """

    study: str | None = None
    data: Path | None = None
    values: tuple[tuple[str, str], ...] = ()
    preset: str | None = None
    quantity: str | None = None
    region: Region | None = None
    users: int | None = None
    seed: int | None = None
    recipe: Path | None = None
    link: str | None = None
    tour: str | None = None
    screenshot: Path | None = None
    size: tuple[int, int] = (1280, 800)
    scale: int = 1
    theme: str = "system"
    start_page: bool | None = None
    compute_process: bool = True

    @property
    def selects_nothing(self) -> bool:
        """Whether no option selects a view."""
        named = (
            self.study,
            self.data,
            self.preset,
            self.quantity,
            self.region,
            self.users,
            self.seed,
            self.recipe,
            self.link,
            self.tour,
        )
        return not self.values and all(option is None for option in named)
