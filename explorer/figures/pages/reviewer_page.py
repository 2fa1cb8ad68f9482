"""What a reviewer asks of a guarantee on one page: the plot above, the words below."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace

from explorer.figures.export import METADATA, draw_page, own_settings
from explorer.figures.export_job import ExportJob, recipe_text
from explorer.figures.pages.page_layout import LINE, POINTS_PER_INCH, drawable, wrap
from explorer.figures.pages.reviewer import reviewer_lines

A4 = (8.27, 11.69)
_PLOT = 4.2
_MARGIN = 0.6
_SIZES = (9.0, 8.5, 8.0, 7.5, 7.0, 6.5, 6.0, 5.5, 5.0)
"""Of letters, in points: the largest at which all words have room."""
_WITHOUT = ("caption", "conditions", "footer")
"""Of the plot: the words below say it."""


_MORE = "… more stands in the text that belongs to this"


def page_bytes(job: ExportJob) -> bytes:
    """Return a job that passed the gate as one page A4, its recipe inside.

    Raises
    ------
    ValueError
        If nothing is promised, or there is nothing to draw.
    """
    from pypdf import PdfReader, PdfWriter, Transformation

    said = reviewer_lines(job.result, job.view.claim, job.recipe)
    view = replace(job.view, theme="light", left_out=(*job.view.left_out, *_WITHOUT))
    with own_settings():
        plot = draw_page(
            job.result, view, job.recipe, (A4[0], _PLOT), 150.0, backdrop=job.backdrop
        ).figure
        drawn = [pdf_of(plot), pdf_of(words_figure(said, _PLOT))]
    above, below = (PdfReader(io.BytesIO(data)).pages[0] for data in drawn)
    writer = PdfWriter()
    page = writer.add_page(below)
    page.merge_transformed_page(
        above, Transformation().translate(0, (A4[1] - _PLOT) * POINTS_PER_INCH)
    )
    info = METADATA["pdf"](recipe_text(job.recipe), job.result.stamp)
    writer.add_metadata({f"/{key}": value for key, value in info.items() if value})
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def pdf_of(figure: object) -> bytes:
    """Return a figure as a page, without a date."""
    stream = io.BytesIO()
    figure.savefig(stream, format="pdf", metadata={"CreationDate": None})  # type: ignore[attr-defined]
    return stream.getvalue()


def words_figure(said: Sequence[tuple[str, list[str]]], above: float = _MARGIN) -> object:
    """Return a sheet with headings and statements, below so many inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=A4)
    height = A4[1] - above - _MARGIN
    for size in _SIZES:
        lines = _broken(said, (A4[0] - 2 * _MARGIN) * POINTS_PER_INCH / size)
        room = int(height * POINTS_PER_INCH / (size * LINE))
        if len(lines) <= room:
            break
    if len(lines) > room:
        lines = [*lines[: room - 1], (_MORE, False)]
    y = A4[1] - above
    for text, bold in lines:
        y -= size * LINE / POINTS_PER_INCH
        figure.text(
            _MARGIN / A4[0],
            y / A4[1],
            drawable(text).replace("$", r"\$"),
            fontsize=size,
            fontweight="bold" if bold else "normal",
            color="#1c2024",
        )
    return figure


def _broken(said: Sequence[tuple[str, list[str]]], ems: float) -> list[tuple[str, bool]]:
    """Return lines not longer than so many font sizes, and whether each is a heading."""
    lines: list[tuple[str, bool]] = []
    for heading, statements in said:
        lines.append((heading, True))
        lines += [(line, False) for statement in statements for line in wrap(statement, ems)]
    return lines
