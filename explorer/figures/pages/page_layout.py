"""Layout of a page: text is measured and wrapped, and the rest is for the picture.

matplotlib is imported inside functions only, as most runs of the program never export.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from explorer.figures.style import FONT, Theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS_PER_INCH = 72
LINE = 1.32
"""Line height in font sizes."""
PLOT_SHARE = 0.6
"""Share of the height reserved for the plot inside its frame."""
_MIN_SCALE = 0.62
"""Minimum font scale relative to a page of 7.2 × 4.6 inches."""
_MAX_SCALE = 0.31
"""Maximum font scale per inch of the shorter side, so that the plot keeps its share."""
_AROUND_LINES = 6
"""Assumed number of lines of labels, titles and credits before they are laid out."""
_TITLE_SHARE = 0.11
"""Maximum share of the height for a title with a second line."""


@cache
def _font(weight: str = "normal") -> Any:
    from matplotlib.font_manager import FontProperties, findfont
    from matplotlib.ft2font import FT2Font

    # A separate font object, as the drawing code changes the size of shared ones.
    font = FT2Font(findfont(FontProperties(family=FONT, weight=weight)))
    # A size with fine-grained advances; only ratios are used.
    font.set_size(100, POINTS_PER_INCH)
    return font


@cache
def _advance(character: str, weight: str) -> float:
    from matplotlib.ft2font import LoadFlags

    glyph = _font(weight).load_char(ord(character), flags=LoadFlags.NO_HINTING)
    return float(glyph.linearHoriAdvance) / 65536 / 100


def width_in_ems(text: str, weight: str = "normal") -> float:
    """Return the width of a line of text in font sizes."""
    return sum(_advance(character, weight) for character in text)


@cache
def _has_glyph(character: str) -> bool:
    return bool(_font().get_char_index(ord(character)))


def drawable(text: str) -> str:
    """Replace control characters and characters without a glyph by the replacement character.

    Otherwise matplotlib draws a box and warns for each.
    """
    return "".join(c if c == "\n" or (c.isprintable() and _has_glyph(c)) else "�" for c in text)


def wrap(text: str, ems: float, weight: str = "normal") -> list[str]:
    """Break text into lines of a maximum width in font sizes; longer words are split."""
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


_LABEL_WORDS = re.compile(r"(?:\$(?:[^$\\]|\\.)*\$|\\.|[^\s$])+")
"""Words of an axis label; a formula between dollar signs is (part of) one word."""


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
        # Fonts grow with the page, but more slowly, within readable limits.
        size = max(_MIN_SCALE, math.sqrt(min(width / 7.2, height / 4.6)))
        size = min(1.5, _MAX_SCALE * min(width, height), size)
        self.title_size, self.label_size, self.small = 11 * size, 9 * size, 7 * size
        # Curves are as thick as on the screen, unless fonts are smaller than there.
        self.stroke = min(1.0, size)
        self.margin = 0.12 * size
        self.bottom = self.margin
        self.top = height - self.margin
        self.aside = 0.0
        """Inches used at the right edge."""

    @property
    def across(self) -> float:
        """Free inches between the margins."""
        return self.width - 2 * self.margin - self.aside

    def inches(self, points: float) -> float:
        """Return the height of a line of text in inches."""
        return points * LINE / POINTS_PER_INCH

    def ems(self, inches: float, points: float) -> float:
        """Return a length in font sizes."""
        # Slightly less, as measured widths ignore kerning.
        return 0.99 * inches * POINTS_PER_INCH / points

    def write_title(self, text: str) -> None:
        """Write the title in at most two lines (one on a small page), and lower the top."""
        ems = self.ems(self.across, self.title_size)
        most = 2 if 2 * self.inches(self.title_size) <= _TITLE_SHARE * self.height else 1
        lines = wrap(drawable(text), ems, "bold")
        if len(lines) > most:
            lines = [*lines[: most - 1], lines[most - 1][:-1] + "…"]
        for line in lines:
            self.top -= self.inches(self.title_size)
            self._text(line, self.top, self.title_size, self.theme.text, weight="bold")
        self.top -= self.margin / 2

    def write_stamp(self, text: str, among: Sequence[str] = ()) -> None:
        """Write a stamp in a separate strip and reduce the free space.

        It is below the title or, on a wide page without space there, along the right edge; never
        over data. `among` are the stamps of all pages of a sequence, for the longest of which
        space is reserved, so that the data keep their position.
        """
        if not text:
            return
        pad = 0.25
        edge = pad * self.small / POINTS_PER_INCH
        lines, most = self._stamp_lines(text, among, self.across - 2 * edge, self.small)
        tall = most * self.inches(self.small) + 2 * edge
        room = self.room(_AROUND_LINES * self.inches(self.label_size))
        if tall <= room or self.width <= self.height:
            self._write_strip(lines, self.small, pad, (self.margin + edge, self.top - edge))
            self.top -= tall + self.margin / 2
            return
        along = self.top - self.bottom
        for shrink in (1.0, 0.85, 0.7, 0.6):
            size = shrink * self.small
            lines, most = self._stamp_lines(text, among, along - 2 * edge, size)
            thick = most * self.inches(size) + 2 * edge
            if thick <= self.width / 16:
                break
        right = self.width - self.margin - edge
        self._write_strip(lines, size, pad, (right, self.top - edge), ha="right", rotation=270)
        self.aside = thick + self.margin / 2

    def _stamp_lines(
        self, text: str, among: Sequence[str], inches: float, size: float
    ) -> tuple[list[str], int]:
        """Return the lines of a stamp, and the number of lines of the longest one."""
        ems = max(self.ems(inches, size), 3.0)
        lines = wrap(drawable(text), ems)
        return lines, max(len(lines), *(len(wrap(drawable(other), ems)) for other in among), 0)

    def _write_strip(
        self,
        lines: Sequence[str],
        size: float,
        pad: float,
        at: tuple[float, float],
        **style: Any,
    ) -> None:
        self.figure.text(
            at[0] / self.width,
            at[1] / self.height,
            "\n".join(lines),
            va="top",
            multialignment="left",
            fontsize=size,
            linespacing=1.15,
            color=self.theme.stamp_text,
            parse_math=False,
            gid="stamp",
            bbox={
                "boxstyle": f"square,pad={pad}",
                "facecolor": self.theme.stamp_back,
                "edgecolor": self.theme.stamp_text,
                "linewidth": 0.6,
            },
            **{"ha": "left", **style},
        )

    def room(self, around: float = 0.0) -> float:
        """Return the height in inches left for text outside the plot's share.

        `around` is the height of axes, legend and titles between plot and text.
        """
        return self.top - self.bottom - around - PLOT_SHARE * self.height

    def notes_height(self, text: str) -> float:
        """Return the height of a footnote with the space above it, in inches."""
        ems = self.ems(self.across, self.small)
        return len(wrap(drawable(text), ems)) * self.inches(self.small) + self.margin / 2

    def write_notes(
        self, main: Sequence[str], more: Sequence[str], last: str, around: float = 0.0
    ) -> None:
        """Write footnotes at the bottom, the most important first, and raise the bottom.

        Notes that do not fit outside the plot's share and `around` inches are omitted with a
        remark; the last note (credits) is always kept.
        """
        ems = self.ems(self.across, self.small)
        free = self.room(around) - self.margin / 2
        room = int(free / self.inches(self.small) + 1e-6)
        lines: list[tuple[str, str]] = []
        for texts, colour in ((main, self.theme.text), (more, self.theme.muted)):
            for text in filter(None, texts):
                lines += [(line, colour) for line in wrap(drawable(text), ems)]
        left_out = "… (the rest is in the JSON export)"
        room -= len(wrap(drawable(last), ems))
        if len(lines) > room and room < 2:
            # A remark about omitted lines must not replace the only omitted line.
            credit, lines = last, []
            last = f"{credit} {left_out}"
            if len(wrap(drawable(last), ems)) > len(wrap(drawable(credit), ems)):
                last = f"{credit} …"
        elif len(lines) > room:
            lines = [*lines[: room - 1], (left_out, self.theme.muted)]
        credits = [(line, self.theme.muted) for line in wrap(drawable(last), ems) if line]
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

    def fit_label(self, text: str, inches: float, lines: int = 2) -> tuple[str, float, int]:
        """Fit an axis label into a length: return text, font size and number of lines.

        The font is reduced first, then the text is broken into two lines, then truncated.
        """
        words = _LABEL_WORDS.findall(drawable(text))
        whole = " ".join(words)
        for shrink in (1.0, 0.88):
            size = shrink * self.label_size
            if self._label_width(whole, size) <= inches:
                return whole, size, 1
        for shrink in (0.88, 0.75) if lines > 1 else ():
            size = shrink * self.label_size
            for count in range(len(words) - 1, 0, -1):
                parts = " ".join(words[:count]), " ".join(words[count:])
                wide = [self._label_width(part, size) for part in parts]
                if wide[0] <= inches:
                    if wide[1] <= inches:
                        return "\n".join(parts), size, 2
                    break
        while len(words) > 1 and self._label_width(" ".join(words) + "…", size) > inches:
            words.pop()
        return " ".join(words) + "…", size, 1

    def _label_width(self, text: str, points: float) -> float:
        """Return the width in inches of a text with formulas between dollar signs."""
        from matplotlib.font_manager import FontProperties
        from matplotlib.textpath import TextPath

        font = FontProperties(family=FONT)
        path = TextPath((0, 0), text, size=100, prop=font)
        return float(path.get_extents().width) * points / 100 / POINTS_PER_INCH

    def axes(self, left: float, bottom: float, width: float, height: float) -> Any:
        """Return new axes in the theme's colours at a position in inches."""
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
        axes.tick_params(which="major", length=0.38 * self.label_size, pad=0.38 * self.label_size)
        axes.tick_params(which="minor", length=0.22 * self.label_size)
        for spine in axes.spines.values():
            spine.set_color(self.theme.frame)
            spine.set_linewidth(0.7)
        return axes
