"""Binary files that exhaust time or memory end with an error, in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from explorer import bounded
from explorer.checkins import CheckinError, open_checkins, sniff, workers
from explorer.checkins.parsing.crs import DRIVERS, pyogrio
from explorer.figures.recipes import read_recipe
from explorer.studies.cldp_sgd import data
from tests.checkins import hostile_files

if TYPE_CHECKING:
    from pathlib import Path

MEMORY = 300_000_000


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers hold little memory, so that the files can be small."""
    monkeypatch.setattr(workers, "database_bytes", lambda: MEMORY)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", ["dictionary.parquet", "entities.xlsx", "far.xlsx"])
def test_bombs_end_in_a_sentence(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(hostile_files.MADE[name]())
    with pytest.raises(CheckinError) as caught:
        open_checkins(path, cache_dir=None)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    for name in ("pipe.parquet", "pipe.xlsx", "pipe.csv", "pipe.geojson"):
        hostile_files.fifo(tmp_path / name)
        with pytest.raises(CheckinError, match="not a regular file"):
            sniff(tmp_path / name)


def test_a_load_that_hangs_is_cancelled(tmp_path: Path, monkeypatch: Any) -> None:
    """Whatever compiled code does: the worker is killed."""
    path = tmp_path / "a.geojson"
    path.write_bytes(hostile_files.geojson())
    sniff(path)  # the worker has imported what it needs
    monkeypatch.setattr(bounded, "YIELD_S", 0.0)
    asked = iter([False] * 3)
    with pytest.raises(Exception, match="cancelled"):
        open_checkins(path, cache_dir=None, cancelled=lambda: next(asked, True))


LINKS = (
    {"type": "link", "properties": {"href": "http://127.0.0.1:9/x", "type": "proj4"}},
    {"type": "name", "properties": {"name": "+init=/dev/stdin:1"}},
    {"type": "name", "properties": {"name": "+proj=utm +zone=32 +nadgrids=/dev/stdin"}},
    {"type": "name", "properties": {"name": "/etc/passwd"}},
    {"type": "url", "properties": {"url": "http://127.0.0.1:9/x"}},
    {"type": "name", "properties": {"name": "http://127.0.0.1:9/x"}},
)


@pytest.mark.parametrize("crs", LINKS)
def test_a_reference_system_is_neither_fetched_nor_opened(tmp_path: Path, crs: Any) -> None:
    path = tmp_path / "a.geojson"
    path.write_bytes(hostile_files.geojson(crs))
    with pytest.raises(CheckinError, match=r"a\.geojson .*reference system"):
        sniff(path)
    for spelling in (b'"\\u0063rs"', b'"c\\u0072\\u0073" ', b"'crs'"):
        path.write_bytes(hostile_files.geojson(crs).replace(b'"crs"', spelling))
        with pytest.raises(CheckinError, match=r"a\.geojson"):
            sniff(path)


@pytest.mark.parametrize(
    ("crs", "text"),
    [
        (None, "crs"),
        ({"type": "name", "properties": {"name": "EPSG:4326"}}, ""),
        ({"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}, '"crs": {'),
    ],
)
def test_a_named_reference_system_is_read(tmp_path: Path, crs: Any, text: str) -> None:
    path = tmp_path / "a.geojson"
    path.write_bytes(hostile_files.geojson(crs, text))
    assert sniff(path).mapping.crs is None


@pytest.mark.parametrize(
    "statements",
    [
        ("DROP TABLE points", f"CREATE VIEW points AS {hostile_files.ENDLESS}"),
        (
            "ALTER TABLE gpkg_contents RENAME TO c",
            "CREATE VIEW gpkg_contents AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
            "FROM n) SELECT c.* FROM c, n WHERE n.i < 0",
        ),
        ("UPDATE gpkg_spatial_ref_sys SET definition = '+init=/dev/stdin:1'",),
        ("UPDATE gpkg_spatial_ref_sys SET definition = 'http://127.0.0.1:9/x'",),
    ],
    ids=["view", "contents", "init", "link"],
)
def test_a_geopackage_that_computes_or_opens_is_refused(
    tmp_path: Path, statements: tuple[str, ...]
) -> None:
    path = tmp_path / "a.gpkg"
    hostile_files.geopackage(path, *statements)
    with pytest.raises(CheckinError, match=r"a\.gpkg"):
        sniff(path)


def test_a_view_beside_a_table_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.gpkg"
    hostile_files.geopackage(
        path,
        f"CREATE VIEW endless AS {hostile_files.ENDLESS}",
        "INSERT INTO gpkg_contents (table_name, data_type, identifier) "
        "VALUES ('endless', 'attributes', 'endless')",
    )
    preview = sniff(path)
    assert preview.layers == ()
    assert preview.columns[2:] == ("user",)


def test_drivers_and_network_of_gdal_are_off() -> None:
    found, settings = workers.run_in_worker(_drivers, name="x")
    assert set(found) <= {*DRIVERS, "MEM", "Memory"}
    assert settings == [False, "none"]


def _drivers(cancelled: Any) -> tuple[list[str], list[str]]:
    gdal = pyogrio()
    names = ("PROJ_NETWORK", "CPL_VSIL_CURL_ALLOWED_FILENAME")
    return list(gdal.list_drivers()), [gdal.get_gdal_config_option(name) for name in names]


def test_an_idx_archive_is_unpacked_up_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "train-images-idx3-ubyte.gz"
    path.write_bytes(hostile_files.gzip_bomb(1 << 20, 16))
    monkeypatch.setattr(data, "MAX_IDX", 1 << 20)
    with pytest.raises(ValueError, match="train-images"):
        data.read_idx(path)


@pytest.mark.parametrize(
    "head",
    [
        b"<?xml version='1.0' encoding='x-unknown'?><svg/>",
        b"<?xml version='1.0' encoding='cp037'?><svg/>",
        b"<?xml version='1.0' encoding='idna'?><svg/>",
        b"<?xml version='1.0' encoding='zlib'?><svg/>",
    ],
)
def test_a_drawing_of_an_unknown_encoding_is_a_sentence(tmp_path: Path, head: bytes) -> None:
    path = tmp_path / "a.svg"
    path.write_bytes(head)
    with pytest.raises(ValueError, match=r"a\.svg"):
        read_recipe(path)
