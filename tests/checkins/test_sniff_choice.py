"""Previews with a chosen delimiter or encoding."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from explorer.checkins import CheckinError, open_checkins, sniff, sniff_source, sources


def test_a_chosen_delimiter_cuts_the_fields(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text("user;lat;lon\n" + "".join(f"a,{i};48.{i};11.{i}\n" for i in range(20)))
    assert sniff(path, delimiter=";").columns == ("user", "lat", "lon")
    chosen = sniff(path, delimiter=",")
    assert chosen.delimiter == chosen.dialect.delimiter == ","
    assert {len(row) for row in chosen.rows[1:]} == {2}
    assert chosen.mapping.missing
    assert sniff(path).delimiter == ";"


def test_a_chosen_encoding_spells_the_names(tmp_path: Path) -> None:
    path = tmp_path / "letters.csv"
    path.write_bytes(
        b"user,lat,lon\n" + b"".join(f"Jörg,48.{i},11.{i}\n".encode() for i in range(20))
    )
    assert sniff(path).rows[0][0] == "Jörg"
    chosen = sniff(path, encoding="latin-1")
    assert chosen.encoding == "latin-1"
    assert chosen.rows[0][0] == "JÃ¶rg"


def test_an_encoding_that_does_not_fit_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "plain.csv"
    path.write_text("user,lat,lon\n" + "a,48.1,11.2\n" * 30)
    with pytest.raises(CheckinError, match=r"plain\.csv .*UTF-16"):
        sniff(path, encoding="utf-16")


def test_a_file_is_loaded_with_the_dialect_chosen(tmp_path: Path) -> None:
    path = tmp_path / "bars.csv"
    path.write_text("user|lat|lon\n" + "".join(f"a,b|48.{i}|11.{i}\n" for i in range(20)))
    chosen = sniff(path, delimiter="|")
    with open_checkins(
        path, chosen.suggested, dialect=chosen.dialect, cache_dir=tmp_path / "cache"
    ) as data:
        assert data.rows == 20
        assert data.users == 1


def test_a_source_is_inspected_again_only_for_other_settings(tmp_path, monkeypatch):
    path = tmp_path / "points.csv"
    rows = [f"{i % 5},2020-01-{i:02}T00:00:00Z,48.{i:02},11.5" for i in range(1, 30)]
    path.write_text("\n".join(["user,time,lat,lon", *rows, ""]))
    sniffed = sniff_source(path, sources.SniffSettings())
    inspected = []
    inspect = sources.sniff

    def counted(*settings):
        inspected.append(settings)
        return inspect(*settings)

    monkeypatch.setattr(sources, "sniff", counted)
    open_checkins(path, cache_dir=None, sniffed=sniffed).close()
    assert not inspected
    mapping = replace(sniffed.preview.mapping, encoding="latin-1")
    with open_checkins(path, mapping, cache_dir=None, sniffed=sniffed) as data:
        assert data.rows == 29
    assert [encoding for _, _, encoding, *_ in inspected] == ["latin-1"]
