"""Samples of users are stable when a user is added or removed."""

from __future__ import annotations

import gzip
from collections import Counter
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given, strategies as st

from explorer.checkins import CheckinData, open_checkins
from explorer.checkins.sampling import below, hash_ids, sample_key, smallest

BOX = (40.0, -75.0, 41.0, -73.0)


def sampled(ids: list[str], number: int, seed: int) -> set[str]:
    return {ids[i] for i in smallest(hash_ids(ids, sample_key(seed)), number)}


def shared(ids: list[str], share: Fraction, seed: int) -> set[str]:
    return {ids[i] for i in below(hash_ids(ids, sample_key(seed)), share)}


people = st.sets(st.text(st.characters(codec="utf-8"), min_size=1, max_size=6), max_size=40)


@given(ids=people, number=st.integers(1, 45), seed=st.integers(0, 2**31))
def test_taking_one_user_away_exchanges_at_most_one(ids: set[str], number: int, seed: int) -> None:
    everyone = sorted(ids)
    whole = sampled(everyone, number, seed)
    assert len(whole) == min(number, len(everyone))
    for gone in everyone:
        less = sampled([u for u in everyone if u != gone], number, seed)
        if gone not in whole:
            assert less == whole  # an outsider changes nothing
        else:
            assert whole - less == {gone}
            assert len(less - whole) <= 1


@given(ids=people, other=st.text(min_size=1, max_size=6), seed=st.integers(0, 2**31))
def test_replacing_one_user_exchanges_at_most_one(ids: set[str], other: str, seed: int) -> None:
    everyone = sorted(ids)
    for gone in everyone:
        before, after = (
            sampled(people, 10, seed)
            for people in (everyone, sorted((ids - {gone}) | {f"new {other}"}))
        )
        assert len(before - after) <= 1
        assert len(after - before) <= 1


@pytest.mark.full
@given(ids=people, share=st.fractions(0, 1).filter(bool), seed=st.integers(0, 2**31))
def test_a_share_takes_everyone_on_their_own(ids: set[str], share: Fraction, seed: int) -> None:
    everyone = sorted(ids)
    whole = shared(everyone, share, seed)
    assert whole == {u for u in everyone if shared([u], share, seed)}
    assert shared(everyone, Fraction(1), seed) == ids


def test_half_of_the_users_is_about_half() -> None:
    """5,000 of 10,000 ± 5 standard deviations (a false alarm in 1.7 million seeds; fixed seed)."""
    ids = [str(i) for i in range(10_000)]
    assert abs(len(shared(ids, Fraction(1, 2), 1)) - 5_000) < 250


def test_a_sample_of_users_is_uniform() -> None:
    """Every one of 40 users is among the 10 chosen in a quarter of 4,000 seeds.

    Largest of 40 deviations from 1,000, whose standard deviation is 27.4: above 4.5 of them in one
    of 3,600 runs with truly random seeds; the seeds are fixed.
    """
    ids = [str(i) for i in range(40)]
    counts = dict.fromkeys(ids, 0)
    for seed in range(4_000):
        for user in sampled(ids, 10, seed):
            counts[user] += 1
    assert np.abs(np.array([*counts.values()]) - 1_000).max() < 4.5 * 27.4


def test_equal_hashes_go_by_place() -> None:
    hashes = np.array([[5, 1], [2, 9], [2, 9], [2, 3]], np.uint64)
    assert smallest(hashes, 2).tolist() == [1, 3]
    assert smallest(hashes, 9).tolist() == [0, 1, 2, 3]
    edge = np.array([[1 << 63, 0], [(1 << 63) - 1, 2**64 - 1]], np.uint64)
    assert below(edge, Fraction(1, 2)).tolist() == [1]  # h = ⌊γ·2¹²⁸⌋ itself is out


def write(folder: Path, ids: list[str], name: str = "people.csv") -> Path:
    """Write two rows of each at one place; users of one row each would be asked about."""
    path = folder / name
    rows = (
        f"{user},2010-01-{1 + i % 28:02d}T00:00:00Z,{40 + (i % 97) / 97:.5f},-74.5\n"
        for i, user in [*enumerate(ids)] * 2
    )
    path.write_text("user,time,lat,lon\n" + "".join(rows))
    return path


def rows_sampled(data: CheckinData, number: int, seed: int) -> set[float]:
    return set(data.points(BOX, users=number, data_seed=seed).lat.tolist())


def test_one_letter_in_the_file_renames_nobody(tmp_path: Path) -> None:
    """007 stays 007: ids are hashed as they were read, whatever the other ids look like."""
    ids = [f"{i:03d}" for i in range(60)]
    with open_checkins(write(tmp_path, ids), cache_dir=None) as plain:
        chosen = rows_sampled(plain, 12, 3)
    with open_checkins(write(tmp_path, [*ids, "B52"], "b.csv"), cache_dir=None) as mixed:
        exchanged = rows_sampled(mixed, 12, 3) ^ chosen
    assert len(exchanged) <= 2
    expected = {40 + int(u) / 97 for u in sampled(ids, 12, 3)}
    assert sorted(chosen) == pytest.approx(sorted(expected), abs=1e-5)


@pytest.mark.parametrize("spelling", ["{}", "0{}", "u{}", "üser {}"])
def test_all_spellings_are_hashed_as_read(tmp_path: Path, spelling: str) -> None:
    ids = [spelling.format(i) for i in range(90)]
    with open_checkins(write(tmp_path, ids), cache_dir=None) as data:
        found = rows_sampled(data, 7, 11)
    places = [ids.index(u) for u in sampled(ids, 7, 11)]
    assert sorted(found) == pytest.approx(sorted(40 + i / 97 for i in places), abs=1e-5)


def test_parquet_and_text_choose_the_same_users(tmp_path: Path) -> None:
    source = write(tmp_path, [str(i) for i in range(90)])
    target = tmp_path / "people.parquet"
    duckdb.sql(f"COPY (FROM read_csv('{source}')) TO '{target}'")
    with (
        open_checkins(source, cache_dir=None) as text,
        open_checkins(target, cache_dir=None) as table,
    ):
        assert rows_sampled(text, 9, 2) == rows_sampled(table, 9, 2)


@pytest.mark.full
def test_one_user_less_exchanges_one_in_real_checkins(real_checkins: Path, tmp_path: Path) -> None:
    """The former draw from sorted ids exchanged 50 to 104 of the 200."""
    with gzip.open(real_checkins / "gowalla-new-york.txt.gz", "rt") as stream:
        lines = stream.readlines()
    box = (40.5, -74.25, 40.9, -73.7)
    users = sorted({line.split("\t", 1)[0] for line in lines}, key=int)

    def chosen(kept: list[str]) -> Counter[frozenset[tuple[float, float]]]:
        """Count the sampled users who have been to the same places."""
        path = tmp_path / "kept.txt"
        path.write_text("".join(kept))
        with open_checkins(path, cache_dir=None) as data:
            points = data.points(box, users=200, data_seed=0)
        places = list(zip(points.lat.tolist(), points.lon.tolist(), strict=True))
        return Counter(
            frozenset(places[i] for i in np.flatnonzero(points.user == user))
            for user in range(points.users_used)
        )

    before = chosen(lines)
    assert before.total() == 200
    for gone in users[:: len(users) // 4]:
        after = chosen([line for line in lines if line.split("\t", 1)[0] != gone])
        assert (after - before).total() <= 1
        assert (before - after).total() <= 1
