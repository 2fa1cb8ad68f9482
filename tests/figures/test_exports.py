import hashlib
import io
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from PIL import Image

from explorer.figures.picture import draw_page, figure_bytes, own_settings
from explorer.figures.view_state import ViewState
from explorer.privacy.core.bound import Role
from tests.figures.reading import BOTH, view_of, words_of
from tests.figures.samples import RECIPE, STAMP, curves, export, maps, series


@pytest.mark.full
@pytest.mark.parametrize(("fmt", "made"), [("svg", lambda: curves(stamp=STAMP)), ("pdf", maps)])
def test_the_stamp_is_in_the_picture_as_text(fmt, made):
    result = made()
    text = words_of(figure_bytes(result, view_of(result), RECIPE, fmt), fmt)
    assert STAMP in text


LONG = "A very long label that someone wrote without thinking of paper, " * 4


@pytest.mark.full
@pytest.mark.parametrize("inches", [(10.7, 6.7), (3.5, 2.6), (4.0, 9.0)])
@pytest.mark.parametrize("kind", ["curves", "maps"])
def test_nothing_written_leaves_the_sheet(kind, inches):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    if kind == "curves":
        extra = [
            series(f"s{i}", Role.UPPER, [i, i + 1, np.nan], label=LONG, undefined_reason=LONG)
            for i in range(3)
        ]
        result = curves(*extra, stamp=STAMP)
    else:
        result = maps()
    view = view_of(result, surfaces=BOTH, title=LONG)
    with own_settings():
        page = draw_page(result, view, RECIPE, inches, 100)
        renderer = FigureCanvasAgg(page.figure).get_renderer()
        page.figure.draw(renderer)
        sheet = page.figure.bbox
        texts = [*page.figure.texts]
        for legend in page.figure.legends:
            texts += legend.get_texts()
        for axes in page.figure.axes:
            texts += [axes.xaxis.label, axes.yaxis.label, *axes.texts]
        assert len(texts) > 5
        for text in texts:
            if text.get_text():
                box = text.get_window_extent(renderer)
                assert box.x0 >= sheet.x0 - 1, text.get_text()
                assert box.x1 <= sheet.x1 + 1, text.get_text()
                assert box.y0 >= sheet.y0 - 1, text.get_text()
                assert box.y1 <= sheet.y1 + 1, text.get_text()
        for axes in page.figure.axes:
            for text in axes.texts:
                if "not private" in text.get_text():
                    inside = text.get_window_extent(renderer)
                    assert inside.x1 <= axes.bbox.x1 + 1
        if kind == "curves":
            # The picture keeps a fair share of the sheet whatever is written around it.
            assert page.figure.axes[0].bbox.height >= 0.2 * sheet.height


def digests():
    """Return what tells a picture of each format from another."""
    return [
        hashlib.sha256(
            figure_bytes(result, view_of(result), RECIPE, fmt, size_px=(500, 400), dpi=80)
        ).hexdigest()
        for result, fmt in ((maps(), "svg"), (curves(), "svg"), (curves(), "pdf"), (maps(), "png"))
    ]


@pytest.mark.full
def test_bytes_do_not_depend_on_the_process():
    code = "from tests.figures.test_exports import digests; print(digests())"
    there = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert str(digests()) == there.strip()


@pytest.mark.full
def test_a_users_own_matplotlib_settings_change_nothing_and_stay():
    import matplotlib

    result = curves()
    expected = figure_bytes(result, view_of(result), RECIPE, "svg")
    with matplotlib.rc_context({"font.size": 31, "svg.fonttype": "path", "lines.linewidth": 9}):
        assert figure_bytes(result, view_of(result), RECIPE, "svg") == expected
        assert matplotlib.rcParams["font.size"] == 31
        assert matplotlib.rcParams["svg.fonttype"] == "path"


@pytest.mark.full
def test_exports_from_several_threads_do_not_mix():
    result = curves()
    expected = figure_bytes(result, view_of(result), RECIPE, "png", size_px=(400, 300), dpi=60)
    got: list[bytes] = []

    def work():
        got.append(figure_bytes(result, view_of(result), RECIPE, "png", size_px=(400, 300), dpi=60))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [expected] * 2


@pytest.mark.parametrize(("size", "dpi"), [((1601, 999), 150), ((333, 777), 97), ((640, 480), 30)])
def test_png_has_exactly_the_size_asked_for(size, dpi):
    result = curves()
    image = Image.open(
        io.BytesIO(figure_bytes(result, view_of(result), RECIPE, "png", size_px=size, dpi=dpi))
    )
    assert image.size == size
    assert image.info["dpi"] == pytest.approx((dpi, dpi), abs=0.1)


@pytest.mark.parametrize("made", [curves, maps])
def test_the_smallest_size_is_drawn(made):
    result = made()
    data = figure_bytes(result, view_of(result), RECIPE, "png", size_px=(100, 100), dpi=300)
    assert Image.open(io.BytesIO(data)).size == (100, 100)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"fmt": "gif"}, "fmt: 'gif'"),
        ({"size_px": (20, 20)}, "size_px"),
        ({"size_px": (100_000, 100_000)}, "size_px"),
        ({"dpi": 5}, "dpi"),
        ({"dpi": float("nan")}, "dpi"),
        ({"recipe": {"a": float("nan")}}, "recipe"),
        ({"recipe": {"a": object()}}, "recipe"),
        ({"recipe": {"a": "x" * 1_100_000}}, "recipe"),
        ({"view": ViewState(hidden=("paper", "exact", "lower", "simulated"))}, "every curve"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_words(change, words):
    result = curves()
    arguments = {"view": view_of(result), "recipe": RECIPE, "fmt": "png", **change}
    with pytest.raises(ValueError, match=words):
        figure_bytes(result, **arguments)


def test_an_export_that_fails_leaves_the_old_file(tmp_path):
    target = tmp_path / "plot.png"
    target.write_bytes(b"old")
    result = curves()
    with pytest.raises(ValueError, match="recipe"):
        export(result, view_of(result), {"bad": float("inf")}, target)
    assert target.read_bytes() == b"old"
    export(result, view_of(result), RECIPE, target, size_px=(300, 200), dpi=50)
    assert target.read_bytes().startswith(b"\x89PNG")
    assert [p.name for p in tmp_path.iterdir()] == ["plot.png"]
    with pytest.raises(OSError, match="No such file"):
        export(result, view_of(result), RECIPE, tmp_path / "no" / "plot.svg")


def test_names_as_long_as_names_may_be(tmp_path):
    target = tmp_path / ("n" * 251 + ".svg")
    export(curves(), view_of(curves()), RECIPE, target)
    assert target.stat().st_size > 1000
