"""Encodings: detection, questions where names or ids depend on them, explicit choice."""

import gzip
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from explorer import checkins
from explorer.checkins.errors import CheckinError
from explorer.checkins.model import Preview, Question, Reason
from explorer.checkins.parsing import encodings

PLACES = {
    "cp1252": "Café à la carte – “Straße” in München",
    "cp1250": "Łódź Kraków Wrocław Gdańsk Żywiec",
    "cp1251": "Москва улица Ленина Невский проспект",
    "cp932": "東京都千代田区、渋谷の喫茶店 さくら",
    "gb18030": "北京市朝阳区的咖啡馆，上海，广州天河",
    "utf-16-le": "Kraków 東京 Москва",
    "utf-16-be": "Kraków 東京 Москва",
    "utf-8": "Kraków 東京 Москва",
}


def text(place: str, users: int = 4, rows: int = 40) -> str:
    lines = [
        f"u{i % users};2020-01-01 08:{i:02}:00;48.{i + 100};16.{i + 200};{place}"
        for i in range(rows)
    ]
    return "\r\n".join(["user;time;lat;lon;place", *lines, ""])


def question(preview: Preview) -> Question | None:
    return next((one for one in preview.questions if one.key == "encoding"), None)


@pytest.mark.full
@pytest.mark.parametrize("encoding", PLACES)
def test_detected_and_read(encoding: str, write: Callable[..., Path]) -> None:
    raw = text(PLACES[encoding]).encode(encoding)
    packed = encoding in ("cp1251", "cp932", "utf-16-be")
    path = write(gzip.compress(raw) if packed else raw, "a.csv.gz" if packed else "a.csv")
    preview = checkins.sniff(path)
    assert preview.encoding == encoding
    assert question(preview) is None
    assert preview.rows[0][4] == PLACES[encoding]
    with checkins.open_checkins(path, preview.mapping, cache_dir=None) as data:
        report = data.report
        assert (report.kept, report.header, report.physical_lines) == (40, 1, 41)
        assert data.fingerprint == sha256(path.read_bytes()).hexdigest()
        shown = encodings.shown_encoding(encoding)
        assert any(shown in note for note in report.notes) == (encoding != "utf-8")


def test_asked_where_an_id_depends_on_it(write: Callable[..., Path]) -> None:
    raw = text("bar").replace("u0;", "Muñoz;").encode("cp1252")
    asked = question(checkins.sniff(write(raw)))
    assert asked is not None
    readings = {dict(one.fields)["encoding"]: one.example for one in asked.candidates}
    assert readings["cp1252"] == "Muñoz"
    assert readings["cp1250"] == "Muńoz"
    assert asked.suggestion is not None
    assert dict(asked.suggestion.fields)["encoding"] == "cp1252"
    assert question(checkins.sniff(write(raw), encoding="cp1250")) is None


def test_a_chosen_encoding_is_used(write: Callable[..., Path]) -> None:
    path = write(text("bar").replace("u0;", "Muñoz;").encode("cp1252"))
    mapping = replace(checkins.sniff(path).mapping, encoding="cp1250")
    with checkins.open_checkins(path, mapping, cache_dir=None) as data:
        assert data.report.kept == 40
        assert any("1250" in note for note in data.report.notes)


def test_utf_16_without_a_mark_by_its_general_name(write: Callable[..., Path]) -> None:
    path = write(text("bar").encode("utf-16-be"))
    assert checkins.sniff(path, encoding="utf-16").encoding == "utf-16-be"


def test_letters_beyond_the_beginning_decide(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = text("bar", rows=40).encode() + b"".join(
        b"u1;2020-01-02 08:00:00;48.5;16.%07d;bar\r\n" % i for i in range(30_000)
    )
    path = write(plain + text(PLACES["cp1252"]).encode("cp1252").split(b"\r\n", 1)[1] * 50)
    assert len(plain) > 1 << 20
    assert checkins.sniff(path).encoding == "cp1252"


def test_stray_bytes_are_rejected_with_a_remedy(write: Callable[..., Path]) -> None:
    raw = text("東京").encode() + "u1;2020-01-02 08:00:00;48.5;16.5;Café\r\n".encode("cp1252")
    path = write(raw)
    preview = checkins.sniff(path)
    assert preview.encoding == "utf-8"
    with checkins.open_checkins(path, preview.mapping, cache_dir=None) as data:
        assert data.report.rejected == {Reason.INVALID_BYTES: 1}
        assert any("--encoding" in note and "1252" in note for note in data.report.notes)


def test_a_wrong_encoding_is_the_problem_that_is_named(write: Callable[..., Path]) -> None:
    path = write(text("Gdańsk").encode())
    mapping = checkins.sniff(path).mapping
    with pytest.raises(CheckinError, match="encoding"):
        checkins.open_checkins(path, replace(mapping, encoding="euc-jp"), cache_dir=None)
    with pytest.raises(CheckinError, match="encoding"):
        checkins.open_checkins(path, replace(mapping, encoding="utf-16-le"), cache_dir=None)


def test_parts_in_several_encodings(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(text(PLACES["cp1251"]).encode())
    (tmp_path / "b.csv").write_bytes(text(PLACES["cp1251"], rows=39).encode("cp1251"))
    mapping = checkins.sniff(tmp_path / "a.csv").mapping
    with checkins.open_checkins(tmp_path, mapping, cache_dir=None) as data:
        assert data.report.total_rejected == 39  # the same users, times and places
        assert data.report.accounted == data.report.physical_lines


def test_usual_names_of_encodings() -> None:
    names = {
        "Windows-1252": "cp1252",
        "SJIS": "cp932",
        "Shift_JIS": "cp932",
        "GBK": "gb18030",
        "latin1": "latin-1",
        "UTF8": "utf-8",
        "utf-16le": "utf-16-le",
    }
    assert {name: encodings.codec_of(name) for name in names} == names
    for name in ("nonsense", "base64", "rot13"):
        with pytest.raises(ValueError, match=name):
            encodings.codec_of(name)


@pytest.mark.parametrize(("user", "asked"), [("K-{}", False), ("Usuária{}", True)])
def test_a_known_name_makes_its_encoding_sure_but_no_ids(write, user: str, asked: bool) -> None:
    rows = [f"{user.format(i % 9)},48.{i + 100},16.{i + 200}" for i in range(60)]
    path = write("\n".join(["Usuário,Latitude,Longitude", *rows]).encode("latin-1"))
    preview = checkins.sniff(path)
    assert (preview.question("encoding") is not None) == asked
    assert preview.columns[0] == "Usuário"
