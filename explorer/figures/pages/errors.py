"""*Which ε?* on paper: error curves, what one can live with, and what a grey map errs."""

from collections.abc import Mapping

from explorer.figures.pages.curves import draw_curves
from explorer.figures.pages.page_layout import Page
from explorer.figures.view_state import ViewState
from explorer.studies.base.numbers import format_number
from explorer.studies.base.study import Result
from explorer.studies.heatmap.experiments.error_curves import MEASURES
from explorer.studies.heatmap.experiments.which_result import GREY, TARGET, axis_texts


def draw_errors(page: Page, result: Result, view: ViewState, recipe: Mapping[str, object]) -> None:
    """Draw curves as `draw_curves`, with a line at the target and a wash from the grey map's on.

    Raises
    ------
    ValueError
        If the view hides every curve.
    """
    axes = draw_curves(page, result, view, recipe, axis_texts(result.request))
    measure = MEASURES[result.request.quantity.split()[0]]
    (left, _), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    for line in result.readouts:
        if line.key not in (TARGET, GREY) or line.value is None or not bottom < line.value < top:
            continue
        colour = page.theme.map_region if line.key == TARGET else page.theme.stamp_text
        if line.key == GREY:
            worse = top if measure.low_is_good else bottom
            axes.axhspan(line.value, worse, facecolor=colour, alpha=0.1, zorder=1, gid=line.key)
        else:
            axes.axhline(line.value, color=colour, linewidth=1.2, linestyle="--", gid=line.key)
        axes.annotate(
            f"{line.label}: {measure.written(format_number(line.value))}",
            (left, line.value),
            (4, 2),
            textcoords="offset points",
            color=colour,
            fontsize=page.small,
            zorder=7,
            parse_math=False,
        )
