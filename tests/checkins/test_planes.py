"""Points in a plane: exact loads, planted invalid rows, the required range."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pytest

from explorer.checkins import CheckinData, Mapping, MappingNeeded, Reason, open_checkins, sniff
from explorer.geography.region import PlaneRegion

Write = Callable[..., Path]
RANGE = "320x240:px:down"
ROWS = [("park", f"u{i % 7}", str(i % 320), str((3 * i) % 240)) for i in range(400)]
BAD = {
    5: (("park", "u1", "320.001", "10"), Reason.X_OUTSIDE),
    9: (("park", "u1", "10", "-0.5"), Reason.Y_OUTSIDE),
    17: (("park", "u1", "left", "10"), Reason.NOT_A_NUMBER),
    33: (("", "u1", "10", "10"), Reason.BLANK_FIELD),
    65: (("park", "", "10", "10"), Reason.BLANK_FIELD),
    129: (("park", "u1", "nan", "10"), Reason.NOT_FINITE),
    300: (("park", "u1", "10", "1e300"), Reason.Y_OUTSIDE),
}


def table(sep: str) -> str:
    rows = [list(row) for row in ROWS]
    for line, (row, _) in BAD.items():
        rows[line - 2] = list(row)
    return "\n".join(sep.join(row) for row in [["image", "user", "x", "y"], *rows]) + "\n"


def opened(path: Path, plane: str = RANGE, **more: object) -> CheckinData:
    mapping = replace(sniff(path).mapping, plane=plane)
    return open_checkins(path, mapping, cache_dir=None, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
def test_bad_rows_are_found_in_their_lines(kind: str, write: Write, tmp_path: Path) -> None:
    path = write(table("\t" if kind == "tsv" else ","), f"gaze.{'tsv' if kind == 'tsv' else 'csv'}")
    shift = 0
    if kind == "parquet":
        source, path, shift = path, tmp_path / "gaze.parquet", 1  # rows are counted, not lines
        duckdb.sql(f"COPY (FROM read_csv('{source}', all_varchar=true, nullstr='\\N')) TO '{path}'")
    with opened(path) as data:
        expected: dict[Reason, list[int]] = {}
        for line, (_, reason) in BAD.items():
            expected.setdefault(reason, []).append(line - shift)
        found = {reason: [e.line for e in rows] for reason, rows in data.report.examples.items()}
        assert found == expected
        assert data.rows == len(ROWS) - len(BAD)
        target = tmp_path / "aside.csv"
        data.export_rejected(target)
        said = {int(row["line"]): row for row in csv.DictReader(target.read_text().splitlines())}
        assert said[5 - shift]["reason"] == "x_outside"
        assert "declare a wider one" in said[5 - shift]["what is wrong"]
        assert not any("latitude" in row["what is wrong"] for row in said.values())


def test_positions_are_whole_steps_and_come_back_as_typed(write: Write) -> None:
    texts = ["0", "0.1", "0.3", "319.9999999", "12.3456784", "12.3456786", "320"]
    path = write("user,x,y,image\n" + "".join(f"u{i},{t},1,a\n" for i, t in enumerate(texts)))
    with opened(path) as data:
        assert data.plane is not None
        step = data.plane.step
        wanted = [round(Fraction(t) / step) * step for t in texts]
        found = data.points(PlaneRegion.whole(data.plane).box)
        kept = found.lon[np.argsort(found.user)]
        assert [Fraction(repr(float(x))) for x in kept] == wanted
        # 3 steps of 0.1 are the 0.3 that somebody types for an edge
        assert data.points((-240.0, 0.3, 0.0, 0.3)).rows == 1


def test_the_corner_is_a_place_and_y_goes_down(write: Write) -> None:
    path = write("image,user,x,y\na,1,0,0\na,2,320,240\n")
    with opened(path) as data:
        found = data.points(PlaneRegion.whole(data.plane).box)  # type: ignore[union-attr]
        assert list(zip(found.lon, found.lat, strict=True)) == [(0.0, 0.0), (320.0, -240.0)]
        assert not np.signbit(found.lat[0])
        assert data.extent == (-240.0, 0.0, 0.0, 320.0)
    with opened(path, "320x240:mm:up") as data:
        assert data.extent == (0.0, 0.0, 240.0, 320.0)


def test_one_image_or_all(write: Write) -> None:
    path = write("image,user,x,y\nb,1,10,10\na,1,20,20\na,2,30,30\n'; --,3,40,40\n")
    with opened(path) as data:
        assert data.images == ("'; --", "a", "b")
        box = PlaneRegion.whole(data.plane).box  # type: ignore[union-attr]
        assert [data.points(box, image=name).rows for name in (None, "a", "b", "'; --")] == [
            4,
            2,
            1,
            1,
        ]
        assert data.points(box, image="a").users_in_region == 2
        assert data.density(box, 4, 4, image="b").sum() == 1
        assert sum(cell.rows for cell in data.busiest_cells(box, 4, image="a")) == 2
        with pytest.raises(ValueError, match=r"no image 'c'; .* '; --, a, b"):
            data.points(box, image="c")


def test_duplicates_are_of_one_image(write: Write) -> None:
    line = "{image},1,2010-01-01T00:00:00Z,5,5\n"
    path = write("image,user,time,x,y\n" + "".join(line.format(image=i) for i in "aba"))
    mapping = replace(sniff(path).mapping, plane=RANGE, user=1)  # one user alone is asked about
    with open_checkins(path, mapping, cache_dir=None) as data:
        assert data.report.rejected == {Reason.DUPLICATE: 1}
        assert data.rows == 2


def test_the_range_is_never_taken_from_the_data(write: Write) -> None:
    path = write(table(","), "gaze.csv")
    with pytest.raises(MappingNeeded, match="declare which range") as needed:
        open_checkins(path, cache_dir=None)
    assert needed.value.preview.mapping.plane == ""


@pytest.mark.parametrize(
    ("text", "planar"),
    [
        ("user,x,y\n1,200,100\n2,300,120\n", True),  # off the globe
        ("user,x,y\n1,-73.5,40.5\n2,-73.6,40.6\n", False),  # degrees, perhaps: as ever
        ("image,user,x,y\na,1,2.5,3.5\n", True),
        ("image,user,lat,lon\na,1,40.5,-73.5\n", False),
    ],
)
def test_x_and_y_are_told_from_degrees(text: str, planar: bool, write: Write) -> None:
    mapping = sniff(write(text, "table.csv")).mapping
    assert mapping.planar is planar
    assert (mapping.image == 0) is (planar and text.startswith("image"))


def test_keys_and_entries_of_the_earth_are_as_before(write: Write, tmp_path: Path) -> None:
    """Old entries of the cache are found: neither their key nor what they hold has changed."""
    mapping = Mapping(0, 1, 2, 3, 4)
    assert repr(mapping) == (
        "Mapping(user=0, time=1, lat=2, lon=3, location=4, weight=None, time_format='iso')"
    )
    assert "plane" not in mapping.stored()
    path = write(table(","), "gaze.csv")
    cache = tmp_path / "cache"
    for plane, rows in ((RANGE, 393), ("100x240:px:down", None), (RANGE, 393)):
        known = replace(sniff(path).mapping, plane=plane)
        with open_checkins(path, known, cache_dir=cache) as data:
            assert data.plane is not None
            assert data.plane.text == plane
            assert rows in (None, data.rows)
    assert len([p for p in cache.iterdir() if p.is_dir()]) == 2
