"""Options of the window, as the command line sets them. Imports no Qt."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from explorer.geography.region import Region

SCREENSHOT_TIMEOUT_S = 600.0
"""Time limit of a screenshot; generous, because a map may take minutes on a busy machine."""


@dataclass(frozen=True)
class WindowOptions:
    """How the window opens.

    Attributes
    ----------
    study : str or None
        Id of the study in front; else that of the last session.
    data : Path or None
        Check-ins to open; else those of the last session, else the sample.
    values : tuple of (key, text)
        Parameters of the study to set.
    preset : str or None
        Key of one of the study's presets.
    quantity : str or None
        Key of what is on the y axis.
    region : Region or None
    users : int or None
    seed : int or None
        Of demonstration noise.
    recipe : Path or None
        An exported file to go back to.
    link : str or None
        What *Copy link* copied, to ask again.
    screenshot : Path or None
        Draw off screen, save the picture there and end; remembers and changes no session.
    size : (int, int)
        Of the window in device-independent pixels.
    scale : int
        Device pixels to one of them, in a screenshot.
    theme : str
        ``system``, ``light`` or ``dark``.
    start_page : bool or None
        Whether the page with all questions is in front; None where nothing else is asked for, as
        its tick says.
    compute_process : bool
        Whether what is shown is computed in a process of its own.
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
    screenshot: Path | None = None
    size: tuple[int, int] = (1280, 800)
    scale: int = 1
    theme: str = "system"
    start_page: bool | None = None
    compute_process: bool = True

    @property
    def names_nothing(self) -> bool:
        """Whether nothing says what to show."""
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
        )
        return not self.values and all(option is None for option in named)
