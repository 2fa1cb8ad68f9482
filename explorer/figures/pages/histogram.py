"""Histogram of users' contributions as a strip below the maps of a page."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from explorer.figures import captions
from explorer.figures.pages.page_layout import Page
from explorer.figures.view_state import ViewState
from explorer.studies.base.study import Result, Table
from explorer.studies.heatmap.contributions import ALL, HISTOGRAM

SHARE = 0.12
"""Share of the page's height."""
KINDS = ("check-ins", "cells visited")
"""Labels of the two bars of a size."""
HEADROOM = 1.7
"""Upper end of the axis relative to the highest bar, leaving space for the legend."""
SIZES = "a user, up to"


class Strip:
    """The histogram of a result, shown on pages for the curator if the view includes it.

    Attributes
    ----------
    height : float
        Its height in inches; 0 if there is none, or no space for it.
    """

    def __init__(self, page: Page, result: Result, view: ViewState, around: float) -> None:
        shown = captions.shown_surfaces(result, view)
        secret = [surface for surface in shown if surface.curator_only]
        table = next((t for t in result.tables if t.key == HISTOGRAM), None)
        height = SHARE * page.height
        fits = page.room(around) >= height + 2 * page.inches(page.small)
        self._page, self._table = page, table if secret and view.show_contributions else None
        self.height = height if self._table is not None and fits else 0.0
        self._cap = int(dict(result.request.values).get("cap", ALL))

    def draw(self) -> None:
        """Draw the histogram at the page's bottom and raise the bottom."""
        if self._table is None or not self.height:
            return
        page = self._page
        left, line = 6 * page.margin, page.inches(page.small)
        width, tall = page.across - left + page.margin, self.height - 2 * line
        axes = page.axes(left, page.bottom + 1.6 * line, width, tall)
        _bars(axes, page, self._table, self._cap)
        page.bottom += self.height + page.margin / 2


def _bars(axes: Any, page: Page, table: Table, cap: int) -> None:
    rows = np.array(table.rows, float)
    at = np.arange(len(rows))
    for part, kind in enumerate(KINDS):
        colour = page.theme.curves[part]
        axes.bar(at + 0.4 * part - 0.2, rows[:, 2 + part], 0.4, color=colour, label=kind)
    axes.set_ylim(0, HEADROOM * rows[:, 2:].max())
    axes.set_xticks(at, [f"{high:,.0f}" for high in rows[:, 1]])
    axes.yaxis.get_major_locator().set_params(integer=True, nbins=3)
    axes.tick_params(labelsize=page.small)
    axes.set_ylabel("users", fontsize=page.small, color=page.theme.text)
    if cap < rows[-1, 1]:
        axes.axvline(math.log2(cap) + 0.5, color=page.theme.text, linestyle="--", linewidth=0.8)
    axes.legend(
        title=f"{SIZES} …" if cap >= rows[-1, 1] else f"{SIZES} …; k = {cap:,}",
        loc="upper right",
        ncols=2,
        frameon=False,
        fontsize=page.small,
        borderpad=0,
        labelcolor=page.theme.text,
    )
    axes.get_legend().get_title().set(fontsize=page.small, color=page.theme.text)
