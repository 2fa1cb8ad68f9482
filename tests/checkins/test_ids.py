"""Indistinguishable spellings of one id are one user."""

from __future__ import annotations

import hashlib
import random
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from explorer.checkins import Reason, open_checkins, sniff
from explorer.checkins.database import connect, parquet_table
from explorer.checkins.parsing.row_rules import id_expression
from explorer.checkins.sampling import hash_ids, sample_key
from explorer.release.ledger.keys import person_mark
from explorer.release.rows.format import FileFormat
from explorer.release.rows.values import id_reader
from explorer.user_rows import MAX_MARKS, ZERO_WIDTH, id_text

Write = Callable[..., Path]

SPELLINGS = (
    "Zoë",
    "Zoe\u0308",
    " Zoë",
    "Zoë ",
    "\u00a0Zoë\u2003",
    "\ufeffZoë",
    "Zo\u200bë",
    "Zoe\u200d\u0308",
    "\u2060 Zoë \u200c",
    "Zoë\u3000",
)
LETTERS = (
    *ZERO_WIDTH,
    *"aeouAZ09 .-_@\t\x0b\x1c\x1f\x85\u00a0\u2003\u2028\u3000",
    "\u0301",
    "\u0308",
    "\u0323",
    "e\u0301",
    "ñ",
    "ß",
    "한",
    "ᄒ",
    "ᅡ",
    "ᆫ",
    "ﬁ",
    "Å",
    "\u212b",
    "\u0958",
    "क",
    "\u093c",
    "😀",
    "עִ",
)


@pytest.mark.full
@settings(max_examples=20)
@given(st.integers(0, 2**32))
def test_every_reader_of_ids_compares_the_same_text(seed: int) -> None:
    """The explorer (in the database), the release, and its ledger."""
    draw = random.Random(seed)
    texts = ["".join(draw.choices(LETTERS, k=draw.randrange(8))) for _ in range(500)]
    with connect() as con:
        query = f"SELECT {id_expression('c')} FROM (SELECT unnest(?) AS c)"
        found = [text for (text,) in con.execute(query, [texts]).fetchall()]
    assert found == list(map(id_text, texts))
    read = id_reader(FileFormat(("user",), "comma"))
    assert [read(text.encode()) for text in texts] == found
    for text in texts[:20]:
        assert person_mark(b"k", text) == person_mark(b"k", id_text(text) or "")


@pytest.mark.full
def test_the_normal_form_is_the_same_for_every_letter() -> None:
    """Of all characters that this Python knows, alone and with an accent behind them."""
    # Between them are ideographs that have no other form.
    numbers = (*range(0x20, 0x20000), *range(0x2F800, 0x2FA20))
    known = [c for n in numbers if (c := chr(n)).isprintable()]
    texts = [*known, *(c + "\u0301" for c in known)]
    with connect() as con:
        query = f"SELECT {id_expression('c')} FROM (SELECT unnest(?) AS c)"
        found = [text for (text,) in con.execute(query, [texts]).fetchall()]
    differ = [(a, b) for a, b in zip(texts, found, strict=True) if id_text(a) != b]
    assert not differ


@pytest.mark.parametrize("count", [MAX_MARKS, MAX_MARKS + 1])
@pytest.mark.parametrize("mark", ["\u0301", "\u0903", "\u0323\u200d", "\U0001e8d0"])
def test_too_many_marks_are_no_id_for_any_reader(mark: str, count: int) -> None:
    texts = [mark * count, "a" + mark * count + "b", mark * 100 + " " + mark * (count - 100)]
    with connect() as con:
        query = f"SELECT {id_expression('c')} FROM (SELECT unnest(?) AS c)"
        found = [text for (text,) in con.execute(query, [texts]).fetchall()]
    assert found == list(map(id_text, texts))
    assert [text is None for text in found] == [count > MAX_MARKS, count > MAX_MARKS, False]


def check_ins(write: Write, users: tuple[str, ...]) -> Path:
    rows = [
        f"{u}\t2024-05-01T10:00:{i:02d}Z\t48.{100 + i}\t16.{300 + i}" for i, u in enumerate(users)
    ]
    return write("\n".join(["user\ttime\tlat\tlon", *rows]), "ids.tsv")


def names(data) -> list[str]:
    users = parquet_table(data._entry.file("users.parquet"))
    return [name for (name,) in data._fetchall(f"SELECT name FROM {users} ORDER BY name", [])]


def test_spellings_of_one_id_are_one_user(write: Write) -> None:
    with open_checkins(check_ins(write, (*SPELLINGS, "Bo", "\u200b")), cache_dir=None) as data:
        assert names(data) == ["Bo", unicodedata.normalize("NFC", "Zoë")]
        assert data.report.merged_ids == len(SPELLINGS) - 1
        assert data.report.rejected == {Reason.BLANK_FIELD: 1}
        key = sample_key(0)
        plain = hashlib.blake2b("Zoë".encode(), digest_size=16, key=key).digest()
        assert hash_ids(names(data), key)[1, 0] == int.from_bytes(plain[:8], "big")


@pytest.mark.parametrize(
    ("users", "stored", "merged"),
    [
        (("1", "2", "10", "2"), ["1", "10", "2"], 0),
        (("1", " 2", "2", "10"), ["1", "10", "2"], 1),
        (("1", "01", "2", "x "), ["01", "1", "2", "x"], 0),
    ],
)
def test_whole_numbers_keep_their_spelling(write: Write, users, stored, merged) -> None:
    path = check_ins(write, users)
    with open_checkins(path, replace(sniff(path).mapping, user=0), cache_dir=None) as data:
        assert names(data) == stored
        assert data.report.merged_ids == merged


UUID = "0000a1b{}-abcd-4222-8333-00000000000f"


@pytest.mark.parametrize(
    ("ids", "asked"),
    [
        (["u1", "u2", "u3", "NULL"], True),
        (["u1", "u2", "u3", "nan"], True),
        (["unknown", "u102", "u103", "u104"], True),
        (["-1", "-2", "3", "4"], False),
        ([UUID.format(1), UUID.format(2), "00000000-0000-0000-0000-000000000000"], True),
        (["1.23457E+14", "1.23458E+14", "1.23459E+14"], True),
        (["1,23457E+14", "1,23458E+14", "1,23459E+14"], True),
        ([UUID.format(1), UUID.format(2), UUID.format(2).upper()], True),
        (["0007", "7", "8"], True),
        (["7.0", "7", "8"], True),
        (["100", "\uff11\uff10\uff10", "101"], True),
        (["+43 1", "\u202a+43 1\u202c", "+43 2"], True),
        (["Anna B", "Anna\u00a0B", "Ben"], True),
        (["ann7", "ann7 ", "an\u200bn7", "ben1"], False),  # one id, and counted as one
        (["1e10", "12E4567", "0x1F", "1_000"], False),
        (["0", "1", "2"], False),
        (["u7" * 40, "U7" * 40, "v7"], False),
    ],
)
def test_ids_that_may_be_one_person_or_several_are_asked_about(
    write: Callable[..., Path], ids: list[str], asked: bool
) -> None:
    rows = [f"{ids[i % len(ids)]}\t48.{100 + i}\t16.{300 + i}" for i in range(60)]
    preview = sniff(write("\n".join(["user_id\tlat\tlon", *rows]), "ids.tsv"))
    question = preview.question("user")
    assert (question is not None) == asked
    assert preview.mapping.user == (None if asked else 0)
    assert preview.suggested.user == 0
