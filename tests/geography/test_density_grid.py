"""Grids of people as files: area weighting, coverage, the antimeridian, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.geography import density_grid
from explorer.geography.density_grid import Cells, grid_on_region, onto_grid, read_table

BOX = (10.0, 20.0, 14.0, 28.0)


def in_place(path, box, side) -> np.ndarray:
    """What `grid_on_region` returns, without a process of its own."""
    return density_grid._read_onto(str(path), box, side, cancelled=lambda: False)


def table(path, rows, head="lat,lon,value") -> object:
    path.write_text("\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def test_cells_are_divided_by_area() -> None:
    """Cells of 2° × 2° on cells of 1° × 2°, and of 1° × 1.6° on cells of 2° × 4°."""
    values = np.array([[1.0, 2, 3, 4], [5, 6, 7, 8]])
    found = onto_grid([Cells(10, 20, 2, 2, values)], BOX, 4, "x")
    np.testing.assert_allclose(found, np.repeat(values / 2, 2, axis=0))
    fine = np.arange(20.0).reshape(4, 5)
    found = onto_grid([Cells(10, 20, 1, 1.6, fine)], BOX, 2, "x")
    left = fine[:, :2].sum(axis=1) + fine[:, 2] / 2
    np.testing.assert_allclose(found[:, 0], [left[:2].sum(), left[2:].sum()])
    assert found.sum() == pytest.approx(fine.sum())


@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(1, 12), st.sampled_from([1, 4, 16]))
def test_mass_is_that_of_the_shared_area(seed, rows, columns, side) -> None:
    """Against a sum over all pairs of cells; the file is larger than the region or ends in it."""
    rng = np.random.default_rng(seed)
    south, west, north, east = BOX
    height, width = (north - south + 1) / rows, (east - west + 1) / columns
    values = rng.gamma(0.5, 1, (rows, columns)) + 1e-3
    low, left = south - rng.uniform(0, 1), west - rng.uniform(0, 1)
    found = onto_grid([Cells(low, left, height, width, values)], BOX, side, "x")
    expected, covered = np.zeros((side, side)), np.zeros((side, side))
    high, wide = (north - south) / side, (east - west) / side
    for r in range(side):
        for c in range(side):
            for i in range(rows):
                for j in range(columns):
                    y = min(south + (r + 1) * high, low + (i + 1) * height) - max(
                        south + r * high, low + i * height
                    )
                    x = min(west + (c + 1) * wide, left + (j + 1) * width) - max(
                        west + c * wide, left + j * width
                    )
                    if y > 0 and x > 0:
                        expected[r, c] += values[i, j] * y * x / (height * width)
                        covered[r, c] += y * x / (high * wide)
    expected += (1 - covered) * expected.sum() / covered.sum()
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_the_rest_of_a_region_has_the_mean_density() -> None:
    covering = Cells(10, 20, 1, 1, np.full((4, 6), 3.0))
    np.testing.assert_allclose(onto_grid([covering], BOX, 8, "x"), 3 / 2)
    with pytest.raises(ValueError, match=r"^x covers 25 %"):
        onto_grid([Cells(10, 20, 1, 1, np.ones((4, 2)))], BOX, 8, "x")
    with pytest.raises(ValueError, match=r"^x has only zeros"):
        onto_grid([Cells(0, 0, 1, 1, np.zeros((40, 40)))], BOX, 8, "x")


def test_a_table_is_read_in_any_order_and_missing_cells_hold_0(tmp_path) -> None:
    rows = [(10.5, 21.0, 1), (10.5, 23.0, 2), (11.5, 23.0, 4), (13.5, 27.0, 7), (12.5, 21, 0.5)]
    cells = read_table(table(tmp_path / "p.csv", rows[::-1]))
    assert cells.box == (10, 20, 14, 28)
    assert cells.values.sum() == 14.5
    assert cells.values[3, 3] == 7
    swapped = tmp_path / "q.csv"
    swapped.write_text(
        "\ufeffPeople\tLongitude\tLatitude\n"
        + "".join(f"{value}\t{lon}\t{lat}\n" for lat, lon, value in rows),
        encoding="utf-8",
    )
    np.testing.assert_array_equal(read_table(swapped).values, cells.values)
    found = grid_on_region(tmp_path / "p.csv", BOX, 4)
    np.testing.assert_allclose(found, cells.values)


def test_comments_may_stand_above_the_names(tmp_path) -> None:
    path = tmp_path / "map.csv"
    rows = "0,0,10.5,21,0.5\n0,1,10.5,23,0.25\n1,0,11.5,21,0.25\n"
    path.write_text("# ε = 1, a; b\n# c\nrow,column,lat,lon,private\n" + rows)
    np.testing.assert_allclose(read_table(path).values, [[0.5, 0.25], [0.25, 0]])
    path.write_text("# only this")
    with pytest.raises(ValueError, match=r"line 1"):
        read_table(path)


def test_centres_may_be_rounded(tmp_path) -> None:
    """Thirds of a degree with three decimals, 300 of them."""
    rows = [(round(i / 3, 3), round(j / 3, 3), 1) for i in range(-150, 150) for j in (0, 1)]
    cells = read_table(table(tmp_path / "p.csv", rows))
    assert cells.height == pytest.approx(1 / 3, rel=1e-4)
    assert cells.values.shape == (300, 2)
    assert cells.values.all()


@pytest.mark.parametrize("west", [-180.0, 0.0])
def test_regions_across_the_antimeridian(tmp_path, west) -> None:
    """Whichever way the file counts its longitudes."""
    rows = [(lat, lon, abs(lon)) for lat in (-5, 5) for lon in np.arange(west + 5, west + 360, 10)]
    path = table(tmp_path / "p.csv", rows)
    found = in_place(path, (-10.0, 160.0, 10.0, 200.0), 4)
    expected = [165, 175, 185, 195] if west == 0 else [165, 175, 175, 165]
    np.testing.assert_allclose(found[0], np.array(expected) / 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lat,lon\n1,2\n", "line 1: 0 columns.* value"),
        ("a,b,c\n1,2,3\n", "line 1: 0 columns.* lat"),
        ("lat,lon,value,count\n1,2,3,4\n", "line 1: 2 columns.* value"),
        ("lat,lon,value\n", "no line below"),
        ("lat,lon,value\n1,2,x\n", "line 2, value: 'x'"),
        ("lat,lon,value\n1,2\n", "line 2: 2 fields, 3 expected"),
        ("lat,lon,value\n1,2,3\n2,3,-1\n", "line 3: .*negative"),
        ("lat,lon,value\n1,2,3\n\n2,3,nan\n", "line 4: .*not a finite"),
        ("lat,lon,value\n1,2,3\n91,3,1\n", "line 3: latitude 91"),
        ("lat,lon,value\n1,2,3\n1,3,1\n", "one latitude"),
        ("lat,lon,value\n0,0,1\n1,1,1\n2.5,2,1\n", "line [34]: latitude"),
        ("lat,lon,value\n0,0,1\n1,1,1\n0,0,1\n", "line 4: .*twice"),
    ],
)
def test_tables_that_are_no_grid_are_refused(tmp_path, text, message) -> None:
    path = tmp_path / "p.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"^p\.csv.*{message}"):
        read_table(path)


@pytest.mark.full  # rasterio is installed for the full tests only
def test_pixels_of_a_geotiff(tmp_path) -> None:
    rasterio = pytest.importorskip("rasterio")
    path = tmp_path / "p.tif"

    def write(values, crs="EPSG:4326", transform=None, **more) -> None:
        transform = transform or rasterio.Affine(0.5, 0, -180, 0, -0.25, 90)
        height, width = values.shape[-2:]
        count = len(values) if values.ndim == 3 else 1
        with rasterio.open(
            path,
            "w",
            driver="GTiff",
            height=height,
            width=width,
            count=count,
            dtype="float32",
            crs=crs,
            transform=transform,
            nodata=-9.0,
            **more,
        ) as file:
            file.write(values if values.ndim == 3 else values[None])

    world = np.random.default_rng(0).gamma(0.5, 1, (720, 720)).astype("float32")
    write(world)
    found = grid_on_region(path, BOX, 16)
    rows = world[::-1][int(100 / 0.25) : int(104 / 0.25), int(200 / 0.5) : int(208 / 0.5)]
    np.testing.assert_allclose(found, rows, rtol=1e-6)
    across = in_place(path, (10.0, 176.0, 14.0, 184.0), 16)
    np.testing.assert_allclose(across[:, :8], world[::-1][400:416, -8:], rtol=1e-6)
    np.testing.assert_allclose(across[:, 8:], world[::-1][400:416, :8], rtol=1e-6)
    with rasterio.open(path, "r+") as file:
        file.scales, file.offsets = (0.5,), (1.0,)
    np.testing.assert_allclose(in_place(path, BOX, 16), 0.5 * rows + 1, rtol=1e-6)
    world[:, :400] = -9.0
    write(world)
    masked = in_place(path, (10.0, 18.0, 14.0, 22.0), 8)
    assert masked[:, :4].max() == 0 < masked[:, 4:].min()
    for values, crs, message in (
        (np.zeros((2, 8, 8), "float32"), "EPSG:4326", "has 2 bands"),
        (np.ones((8, 8), "float32"), "EPSG:3857", "is not in degrees"),
        (np.ones((720, 720), "float32") * -2, "EPSG:4326", "row 305, column 401: .*negative"),
    ):
        write(values, crs)
        with pytest.raises(ValueError, match=message):
            in_place(path, BOX, 8)
    path.write_bytes(b"II*\0" + bytes(100))
    with pytest.raises(ValueError, match="no readable GeoTIFF"):
        in_place(path, BOX, 8)
