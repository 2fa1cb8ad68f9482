"""A sheet of a given size: text is measured and wrapped, and what is left is for the picture.

matplotlib is imported inside functions only: a program that never exports never pays for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from explorer.figures.style import FONT, Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS_PER_INCH = 72
LINE = 1.32
"""Line height in font sizes."""
LEAST_PICTURE = 0.58
"""Share of the height that is kept for the picture, whatever there is to be written around it."""


@cache
def _font(weight: str = "normal") -> Any:
    from matplotlib.font_manager import FontProperties, findfont
    from matplotlib.ft2font import FT2Font

    # A font object of our own: the drawing code keeps changing the size of those it shares.
    font = FT2Font(findfont(FontProperties(family=FONT, weight=weight)))
    # A size at which advances are fine-grained; only ratios are used.
    font.set_size(100, POINTS_PER_INCH)
    return font


@cache
def _advance(character: str, weight: str) -> float:
    from matplotlib.ft2font import LoadFlags

    glyph = _font(weight).load_char(ord(character), flags=LoadFlags.NO_HINTING)
    return float(glyph.linearHoriAdvance) / 65536 / 100


def width_in_ems(text: str, weight: str = "normal") -> float:
    """Return how long a line of text is, in font sizes."""
    return sum(_advance(character, weight) for character in text)


@cache
def _has_glyph(character: str) -> bool:
    return bool(_font().get_char_index(ord(character)))


def drawable(text: str) -> str:
    """Replace what the font has no sign for, and control characters, by the replacement mark.

    Otherwise matplotlib draws a box and warns at every one.
    """
    return "".join(c if c == "\n" or (c.isprintable() and _has_glyph(c)) else "�" for c in text)


def wrap(text: str, ems: float, weight: str = "normal") -> list[str]:
    """Break text into lines not longer than so many font sizes; words longer than that are cut."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            longer = f"{line} {word}" if line else word
            if width_in_ems(longer, weight) <= ems:
                line = longer
                continue
            if line:
                lines.append(line)
            while width_in_ems(word, weight) > ems and len(word) > 1:
                fitting = (
                    i for i in range(len(word), 1, -1) if width_in_ems(word[:i], weight) <= ems
                )
                cut = next(fitting, 1)
                lines.append(word[:cut])
                word = word[cut:]
            line = word
        lines.append(line)
    return lines


class Page:
    """A figure under construction; distances in inches from its lower left corner.

    Parameters
    ----------
    width, height : float
        Inches.
    theme : Theme
    """

    def __init__(self, width: float, height: float, theme: Theme) -> None:
        from matplotlib.figure import Figure

        self.width, self.height, self.theme = width, height, theme
        self.figure: Figure = Figure(figsize=(width, height), facecolor=theme.background)
        # Letters grow with the sheet, but less than it and within what can be read.
        size = min(1.5, max(0.62, math.sqrt(min(width / 7.2, height / 4.6))))
        self.title_size, self.label_size, self.small = 11 * size, 9 * size, 7 * size
        self.margin = 0.12 * size
        self.bottom = self.margin
        self.top = height - self.margin

    def inches(self, points: float) -> float:
        """Return the height of one line of text of a font size."""
        return points * LINE / POINTS_PER_INCH

    def ems(self, inches: float, points: float) -> float:
        """Return a length in font sizes."""
        # A little less than there is: measured widths leave out kerning.
        return 0.99 * inches * POINTS_PER_INCH / points

    def write_title(self, text: str) -> None:
        """Write at the top, at most two lines, and lower the top."""
        ems = self.ems(self.width - 2 * self.margin, self.title_size)
        lines = wrap(drawable(text), ems, "bold")
        if len(lines) > 2:
            lines = [lines[0], lines[1][:-1] + "…"]
        for line in lines:
            self.top -= self.inches(self.title_size)
            self._text(line, self.top, self.title_size, self.theme.text, weight="bold")
        self.top -= self.margin / 2

    def write_notes(
        self, main: Sequence[str], more: Sequence[str], last: str, legend: float = 0.0
    ) -> None:
        """Write footnotes at the bottom and raise the bottom; the main ones come first.

        What does not fit beside the picture's share and a legend of so many inches is left out,
        and said so; the last note (credits) always stays.
        """
        ems = self.ems(self.width - 2 * self.margin, self.small)
        free = self.top - self.bottom - legend - LEAST_PICTURE * self.height
        room = int(free / self.inches(self.small))
        lines: list[tuple[str, str]] = []
        for texts, colour in ((main, self.theme.text), (more, self.theme.muted)):
            for text in filter(None, texts):
                lines += [(line, colour) for line in wrap(drawable(text), ems)]
        credits = [(line, self.theme.muted) for line in wrap(drawable(last), ems)]
        room -= len(credits)
        if len(lines) > room:
            ending = "… (the rest is in the JSON export)"
            lines = [*lines[: max(0, room - 1)], (ending, self.theme.muted)][: max(0, room)]
        lines += credits
        for line, colour in reversed(lines):
            self._text(line, self.bottom, self.small, colour)
            self.bottom += self.inches(self.small)
        self.bottom += self.margin / 2

    def _text(self, text: str, y: float, points: float, colour: str, **style: Any) -> None:
        self.figure.text(
            self.margin / self.width,
            (y + 0.25 * points / POINTS_PER_INCH) / self.height,
            text,
            fontsize=points,
            color=colour,
            va="baseline",
            ha="left",
            parse_math=False,
            **style,
        )

    def axes(self, left: float, bottom: float, width: float, height: float) -> Any:
        """Return new axes in the theme's colours at a place in inches."""
        axes = self.figure.add_axes(
            (
                left / self.width,
                bottom / self.height,
                max(width, 0.05) / self.width,
                max(height, 0.05) / self.height,
            ),
            facecolor=self.theme.axes,
        )
        axes.tick_params(
            which="both",
            colors=self.theme.frame,
            labelcolor=self.theme.text,
            labelsize=0.9 * self.label_size,
            width=0.7,
        )
        for spine in axes.spines.values():
            spine.set_color(self.theme.frame)
            spine.set_linewidth(0.7)
        return axes

    def stamp(self, axes: Any, text: str, width: float, height: float) -> None:
        """Write a note inside axes of so many inches, at their upper left corner.

        Letters shrink where the note would hide more than a third of what it stands on.
        """
        if not text:
            return
        pad = 0.4
        for shrink in (1.0, 0.85, 0.7, 0.6):
            size = shrink * self.small
            lines = wrap(drawable(text), max(self.ems(width, size) - 2 * pad - 1.8, 3.0))
            if len(lines) * self.inches(size) < height / 3:
                break
        axes.annotate(
            "\n".join(lines),
            xy=(0, 1),
            xycoords="axes fraction",
            xytext=(0.9 * size, -0.9 * size),
            textcoords="offset points",
            ha="left",
            va="top",
            fontsize=size,
            linespacing=1.15,
            color=self.theme.stamp_text,
            zorder=50,
            parse_math=False,
            bbox={
                "boxstyle": f"square,pad={pad}",
                "facecolor": self.theme.stamp_back,
                "edgecolor": self.theme.stamp_text,
                "linewidth": 0.6,
                "alpha": 0.92,
            },
        )
