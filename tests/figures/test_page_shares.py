"""The plot keeps its share of every page, and what is written around it does not run into it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from explorer.engine.runtime import StudyRuntime
from explorer.figures.pages.page_layout import PLOT_SHARE
from explorer.figures.picture import draw_page, own_settings
from explorer.studies.base.study import Result, default_request, default_sweep
from explorer.studies.registry import get_study, study_infos
from tests.figures.reading import view_of
from tests.figures.samples import RECIPE, curves

MM = 1 / 25.4
PAGES = {
    "paper column": (88 * MM, 62 * MM),
    "paper width": (180 * MM, 110 * MM),
    "slide": (1920 / 180, 1080 / 180),
}
PLOTS = [info.id for info in study_infos() if info.workspace == "bounds"]


@pytest.fixture(scope="module")
def host() -> Iterator[StudyRuntime]:
    made = StudyRuntime()
    yield made
    made.close()


def answers(host: StudyRuntime, study_id: str) -> Iterator[Result]:
    """The first answer to each of two quantities of a study, over the first axis it has."""
    study = get_study(study_id)
    for quantity in study.quantities[:2]:
        sweep = replace(default_sweep(study, quantity.sweeps[0]), points=25)
        request = replace(default_request(study), quantity=quantity.key, sweep=sweep)
        result = next(iter(host.answer(request, lambda: None)))
        if result.series:
            yield result


def check(result: Result, inches: tuple[float, float], **view: object) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    with own_settings():
        page = draw_page(result, view_of(result, **view), RECIPE, inches, 100)
        renderer = FigureCanvasAgg(page.figure).get_renderer()
        page.figure.draw_without_rendering()
        (axes,) = page.figure.axes
        (legend,) = page.figure.legends
        frame, below = axes.bbox, legend.get_window_extent(renderer)
        sheet = page.figure.bbox
        x_label, y_label = (
            axis.label.get_window_extent(renderer) for axis in (axes.xaxis, axes.yaxis)
        )
        numbers = [t.label1.get_window_extent(renderer) for t in axes.xaxis.get_major_ticks()]
        notes = [text.get_window_extent(renderer) for text in page.figure.texts]
        named = len(legend.get_texts())
        last = legend.get_texts()[-1].get_text()

    assert frame.height >= PLOT_SHARE * sheet.height - 1e-6
    assert frame.width >= 0.5 * sheet.width
    assert x_label.y0 >= below.y1 - 1
    assert all(number.y0 >= x_label.y1 - 1.5 for number in numbers if number.height > 0)
    assert frame.x0 - 1 <= x_label.x0 <= x_label.x1 <= frame.x1 + 1
    assert frame.y0 - 1 <= y_label.y0 <= y_label.y1 <= frame.y1 + 1
    assert min(y_label.x0, below.x0) >= 0
    assert below.x1 <= sheet.x1
    # Title above, notes below, at most a stamp to the right, and nothing on the plot.
    stamps = [note for note in notes if note.x0 >= max(frame.x1, below.x1)]
    assert len(stamps) <= bool(result.stamp)
    assert all(
        note.y0 >= frame.y1 or note.y1 <= below.y0 + 1 for note in notes if note not in stamps
    )
    shown = sum(bool(s.present.any()) for s in result.series) or len(result.series)
    assert named == shown or str(shown - named + 1) in last


@pytest.mark.full
@pytest.mark.parametrize("study_id", PLOTS)
def test_every_study_keeps_the_plots_share_of_the_least_page(
    host: StudyRuntime, study_id: str
) -> None:
    results = list(answers(host, study_id))
    assert results
    for result in results:
        check(result, PAGES["paper column"])


@pytest.mark.full
@pytest.mark.parametrize("pins", [1, 4])
@pytest.mark.parametrize("inches", [*PAGES.values(), (1.2, 1.0), (2.0, 7.0), (9.0, 1.5)])
def test_many_pinned_curves_take_nothing_from_the_plot(
    host: StudyRuntime, pins: int, inches: tuple[float, float]
) -> None:
    result = next(answers(host, "histograms"))
    pinned = [
        replace(s, key=f"pin{i}:{s.key}", label=f"{s.label} (pinned: ε = {i}, n = 10,000)", pin=i)
        for i in range(1, pins + 1)
        for s in result.series
    ]
    check(replace(result, series=(*result.series, *pinned)), inches)


def test_short_labels_keep_their_roles() -> None:
    from explorer.figures.captions import short_legend_label

    labels = [short_legend_label(s) for s in curves().series]
    assert labels == ["≤ Curve paper", "= Curve exact", "≥ Curve lower", "≈ Curve simulated"]


def test_names_that_would_be_cut_alike_are_wrapped() -> None:
    from explorer.figures.pages.series import _cut_all

    whole = ["short", "a long name, the first", "a long name, the second"]
    cut = _cut_all(whole, 8.0)
    assert [" ".join(lines) for lines in cut] == whole
    assert _cut_all(["a long name alone"], 5.0)[0][0].endswith("…")


def test_what_is_left_out_is_on_no_page_but_stamps_and_licences_are() -> None:
    from explorer.figures.formats import PARTS
    from tests.figures.samples import maps

    def texts(result: Result, **view: object) -> str:
        with own_settings():
            page = draw_page(result, view_of(result, **view), RECIPE, PAGES["paper width"], 100)
            written = [t.get_text() for t in page.figure.texts]
            for axes in page.figure.axes:
                written += [t.get_text() for t in axes.texts]
            assert "left_out" not in view or not page.figure.legends
        return "\n".join(written)

    for result in (curves(), maps()):
        stamped = replace(result, stamp="not private")
        whole, bare = texts(stamped), texts(stamped, left_out=tuple(PARTS))
        assert "made with" in whole.lower() or "Privacy Explorer" in whole
        assert "Privacy Explorer" not in bare
        if result.surfaces:
            assert "GeoNames" in bare
        else:
            assert bare.split() == ["not", "private"]
