"""The ledger: its rules, its file, and what it does when things go wrong (release.md §7)."""

from __future__ import annotations

import errno
import json
import os
import random
import re
import shutil
import sqlite3
import stat
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from explorer.cli import run
from explorer.release.errors import DiskFullError, LedgerError, RefusedError
from explorer.release.exact_json import canonical
from explorer.release.ledger import settings
from explorer.release.ledger.chain import export_entries
from explorer.release.ledger.ledger import INTERRUPTED_DRAW, NOTICES, OLDER_LEDGER, Ledger
from explorer.release.ledger.state import CLOCK, MOVED, NO_KEY, RESTORED, UNKNOWN, Account, replay
from explorer.release.ledger.storage import DrawLock
from explorer.release.ledger.view import compare_copies, read_ledger
from tests import snapshots
from tests.release.ledgers import FILE, Clock, opened, planned, population, released, reserved

HALF = Fraction(1, 2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "ledger"
    made.mkdir()
    return made


def _stored(folder: Path) -> Path:
    return folder / "ledger.sqlite"


# -- rules


def test_what_is_spent_is_spent_whatever_becomes_of_the_output(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
        published, withdrawn = released(ledger, people), released(ledger, people)
        ledger.publish(published, {"id": published})
        ledger.withdraw(withdrawn)
        given_back = reserved(ledger, people)
        assert ledger.account(people).spent_epsilon == 3 * HALF
        ledger.abandon(given_back)
        account = ledger.account(people)
        assert (account.spent_epsilon, account.spent_rho) == (1, Fraction(1, 4))
        assert account.remaining == 2
        with pytest.raises(LedgerError, match="start is not"):
            ledger.start(given_back)
        ledger.withdraw(published)
        with pytest.raises(LedgerError, match="publish is not"):
            ledger.publish(published, {})
    state = read_ledger(_stored(folder)).state
    assert [state.releases[name].state for name in (published, withdrawn, given_back)] == [
        "withdrawn",
        "withdrawn",
        "abandoned",
    ]


def test_a_refusal_says_what_is_left_and_would_fit_and_leaves_no_entry(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger, Fraction(3, 4))
        released(ledger, people)
        late = planned(ledger, people)
        before = ledger.entries()
        with pytest.raises(RefusedError) as refused:
            ledger.reserve(late)
        assert refused.value.requested == Fraction(1, 2)
        assert refused.value.remaining == refused.value.largest == Fraction(1, 4)
        assert {"1/2", "1/4", "0.25"} <= set(re.findall(r"[\d./]*\d", str(refused.value)))
        assert ledger.entries() == before
        ledger.raise_budget(people, Fraction(1))
        ledger.reserve(late)
        assert ledger.account(people).remaining == 0
        with pytest.raises(RefusedError, match="nothing more"):
            reserved(ledger, people, Fraction(1, 2**40))
        with pytest.raises(LedgerError, match="raised, not lowered"):
            ledger.raise_budget(people, Fraction(1, 2))


def test_zcdp_counts_half_the_square_and_is_never_raised(folder: Path) -> None:
    with opened(folder) as ledger:
        for delta in (Fraction(1, 10**5), Fraction(0)):
            with pytest.raises(LedgerError, match="delta"):
                ledger.open_population("zcdp", HALF, "x", delta=delta)
        people = ledger.open_population("zcdp", HALF, "x", delta=Fraction(1, 10**9))
        with pytest.raises(RefusedError, match=r"ρ = 1/2 is left .* 1$"):
            reserved(ledger, people, Fraction(2**40 + 1, 2**40))
        released(ledger, people, Fraction(1))
        assert ledger.account(people).remaining == 0
        with pytest.raises(LedgerError, match="cannot be raised"):
            ledger.raise_budget(people, Fraction(5))
        ledger.external(people, Fraction(1, 3), "a poster")
        account = ledger.account(people)
        assert account.rho_cap == HALF + account.spent_rho - HALF  # the cap grew by what was added
        assert account.spent_epsilon > Fraction(4, 3)


def test_what_was_spent_elsewhere_counts_and_may_overdraw(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger, Fraction(1))
        ledger.external(people, Fraction(5), "an exhibition")
        account = ledger.account(people)
        assert (account.spent, account.remaining, account.largest_fit()) == (5, 0, 0)


def test_another_unit_has_no_place_in_the_sum() -> None:
    state, bad, problem = replay(
        [
            {"kind": "budget", "epsilon": "1/1"},
            {"kind": "reserve", "release": "a", "epsilon": "1/2", "unit": "user-day"},
        ]
    )
    assert bad == 1
    assert problem.startswith(("unit:", "neighbours:"))
    assert state.account_of(None).spent == 0


def test_populations_have_accounts_of_their_own_until_they_are_joined(folder: Path) -> None:
    with opened(folder) as ledger:
        one = population(ledger, Fraction(3))
        other = ledger.open_population("sum", Fraction(1), "others", different_from=[one])
        released(ledger, one, Fraction(2))
        released(ledger, other, HALF)
        assert ledger.account(other).remaining == HALF
        ledger.join(one, other)
        account = ledger.account(other)
        assert account == ledger.account(one)
        assert (account.epsilon_limit, account.spent) == (1, Fraction(5, 2))
        assert account.joined == "joined after comparison"
        assert account.largest_fit() == 0
        with pytest.raises(LedgerError, match="already one population"):
            ledger.join(other, one)
    view = read_ledger(_stored(folder))
    assert len(view.state.releases_of(other)) == 2


def test_joined_gates_both_hold(folder: Path) -> None:
    with opened(folder) as ledger:
        one = population(ledger, Fraction(3))
        other = ledger.open_population("zcdp", HALF, "x", delta=Fraction(1, 10**9))
        ledger.join(other, one, "declared beforehand")
        account = ledger.account(one)
        assert (account.gate, account.joined) == ("sum", "declared beforehand")
        assert account.largest_fit() == 1  # of ε = 3 and ρ = 1/2
        third = ledger.open_population("zcdp", Fraction(1, 8), "x", delta=Fraction(1, 10**9))
        fourth = ledger.open_population("zcdp", Fraction(1), "x", delta=Fraction(1, 10**9))
        ledger.join(fourth, third)
        account = ledger.account(third)
        assert (account.rho_limit, account.rho_cap) == (Fraction(1, 8), Fraction(9, 8))


_epsilons = st.fractions(min_value=Fraction(1, 1000), max_value=2, max_denominator=1000)


@given(st.lists(_epsilons, max_size=12), _epsilons, st.sampled_from(["sum", "zcdp"]))
def test_no_order_of_requests_passes_a_gate(
    requests: list[Fraction], budget: Fraction, gate: str
) -> None:
    account = (
        Account("p", gate, epsilon_limit=budget)
        if gate == "sum"
        else Account("p", gate, rho_limit=budget)
    )
    for epsilon in requests:
        fits = account.fits(epsilon)
        assert fits == (account.charged(epsilon).spent <= budget)
        account = account.charged(epsilon) if fits else account
        largest = account.largest_fit()
        assert largest == 0 or account.fits(largest)
        assert not account.fits(largest + Fraction(1, 2**40))
    assert account.spent <= budget


@pytest.mark.parametrize("seed", [1, 2])
def test_whatever_is_done_balances_are_those_of_a_replay(folder: Path, seed: int) -> None:
    """And within the budget, unless something was spent elsewhere or accounts were joined."""
    rng = random.Random(seed)
    with opened(folder) as ledger:
        people = [
            population(ledger, Fraction(2)),
            ledger.open_population("zcdp", Fraction(1, 2), "x", delta=Fraction(1, 10**9)),
        ]
        for _ in range(60):
            releases = [release.id for release in ledger.releases()] or ["none"]
            one, epsilon = rng.choice(people), Fraction(rng.randint(1, 64), 128)
            release = rng.choice(releases)
            acts: list[tuple[Any, ...]] = [
                (released, ledger, one, epsilon),
                (reserved, ledger, one, epsilon),
                (ledger.start, release),
                (ledger.commit, release, {"noisy_users": 1}),
                (ledger.withdraw, release),
                (ledger.publish, release, {"id": release}),
                (ledger.abandon, release),
                (ledger.lose, release),
                (ledger.raise_budget, one, epsilon * 6),
            ]
            act, *given_to = rng.choice(acts)
            with suppress(LedgerError):
                act(*given_to)
            for account in ledger.accounts():
                assert account.spent <= account.budget
    view = read_ledger(_stored(folder))  # compares what is kept with a replay
    for name in people:
        account = view.state.account_of(name)
        assert account.spent_epsilon == sum(r.epsilon for r in view.state.releases_of(name))
    assert len(view.entries) > 40


def test_locks_that_were_left_are_swept_away(folder: Path) -> None:
    with opened(folder) as ledger:
        release = reserved(ledger, population(ledger))
    for name in (release, "0" * 32):
        (folder / f"ledger.sqlite.{name}.lock").touch()
    held = DrawLock(_stored(folder), "1" * 32)
    with opened(folder):
        assert [path.name[14:-5] for path in folder.glob("*.lock")] == ["1" * 32]
    held.unlock()


def test_a_gate_costs_the_same_after_many_entries(folder: Path) -> None:
    """No replay: SQLite's own count of steps of a reservation does not grow."""

    def steps(ledger: Ledger, people: str) -> int:
        release, count = planned(ledger, people, Fraction(1, 1000)), 0

        def tick() -> None:
            nonlocal count
            count += 1

        ledger._con.set_progress_handler(tick, 10)
        ledger.reserve(release)
        ledger._con.set_progress_handler(None, 0)
        return count

    with opened(folder) as ledger:
        people = population(ledger)
        first = steps(ledger, people)
        for _ in range(60):
            ledger.abandon(reserved(ledger, people, Fraction(1, 1000)))
        assert steps(ledger, people) <= first + 5


# -- the file


def test_entries_cannot_be_changed_deleted_or_put_elsewhere(folder: Path) -> None:
    with opened(folder) as ledger:
        released(ledger, population(ledger))
    con = sqlite3.connect(_stored(folder))
    for statement, said in (
        ("UPDATE entries SET body = '{}' WHERE seq = 1", "never changed"),
        ("DELETE FROM entries WHERE seq = 2", "never deleted"),
        ("INSERT INTO entries VALUES (9, '', '', '{}')", "follow the last"),
        ("INSERT OR REPLACE INTO entries SELECT * FROM entries WHERE seq = 1", "follow the last"),
    ):
        with pytest.raises(sqlite3.IntegrityError, match=said):
            con.execute(statement)
    assert con.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    con.close()


def test_every_commit_is_on_disk_before_it_returns(folder: Path) -> None:
    with opened(folder) as ledger:
        assert ledger._con.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
        assert ledger._con.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_ledger_and_key_are_for_their_owner_alone(folder: Path) -> None:
    with opened(folder) as ledger:
        population(ledger)
        for name in os.listdir(folder):
            assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600, name
        key = (folder / "ledger.key").read_text().strip()
        export = canonical(export_entries(ledger.id, ledger.entries())).decode()
    assert len(key) == 64
    assert key not in export
    (folder / "ledger.key").chmod(0o644)  # restored from a copy that kept no modes
    with opened(folder):
        assert stat.S_IMODE((folder / "ledger.key").stat().st_mode) == 0o600
    assert key.encode() not in _stored(folder).read_bytes()
    assert bytes.fromhex(key) not in _stored(folder).read_bytes()


def test_an_export_is_read_like_the_ledger(folder: Path, tmp_path: Path) -> None:
    with opened(folder) as ledger:
        released(ledger, population(ledger))
        view = ledger.view()
        file = tmp_path / "ledger.json"
        file.write_text(json.dumps(export_entries(ledger.id, view.entries), indent=1))
    found = read_ledger(file)
    assert (found.id, found.entries, found.state) == (view.id, view.entries, view.state)
    assert (found.key, found.outputs) == (None, {})
    assert compare_copies(found, read_ledger(_stored(folder))).diverges_at is None


def test_nonces_make_every_hash_new(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
        for _ in range(3):
            released(ledger, people)
        entries = ledger.entries()
    assert len({entry.body["nonce"] for entry in entries}) == len(entries)
    assert all(len(entry.body["nonce"]) == 32 for entry in entries)


def test_reading_writes_nothing(folder: Path) -> None:
    with opened(folder) as ledger:
        released(ledger, population(ledger))
    before = _stored(folder).read_bytes()
    read_ledger(_stored(folder))
    assert _stored(folder).read_bytes() == before
    assert not list(folder.glob("*.lock"))


# -- when things go wrong, in the order of the specification


def test_killed_before_reserve_nothing_is_spent(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
        planned(ledger, people)
    with opened(folder) as ledger:
        assert ledger.account(people).spent == 0
        assert ledger.reserved_releases() == ()


def test_killed_before_start_it_can_go_on_or_be_given_back(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
        one, other = reserved(ledger, people), reserved(ledger, people)
    with opened(folder) as ledger:
        assert [release.id for release in ledger.reserved_releases()] == [one, other]
        assert ledger.account(people).spent == 1
        ledger.abandon(one)
        ledger.start(other)
        ledger.commit(other, {"noisy_users": 1})
        assert ledger.account(people).spent == HALF


def test_killed_before_commit_it_is_lost_and_spent(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
        release = reserved(ledger, people)
        ledger.start(release, 1000)
    with opened(folder) as ledger:
        assert ledger.notices == [INTERRUPTED_DRAW]
        assert ledger.release(release).state == "lost"
        assert ledger.account(people).spent == HALF
        with pytest.raises(LedgerError, match="not completed"):
            ledger.output(release)
        with pytest.raises(LedgerError, match="has not started"):
            ledger.commit(release, {"noisy_users": 1})
        assert not list(folder.glob("*.lock"))


def test_killed_after_commit_the_output_is_there(folder: Path) -> None:
    with opened(folder) as ledger:
        release = released(ledger, population(ledger))
    with opened(folder) as ledger:
        assert ledger.output(release) == {"noisy_users": 1207}
        assert ledger.release(release).state == "committed"
        assert ledger.notices == []


def test_what_another_window_is_drawing_is_not_lost(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
        release = reserved(ledger, people)
        ledger.start(release, 1000)
        with opened(folder) as second:
            assert second.release(release).state == "started"
            assert second.account(people).spent == HALF
            with pytest.raises(LedgerError, match="another window"):
                second.start(release)
            with pytest.raises(LedgerError, match="has not started"):
                second.commit(release, {})
        ledger.commit(release, {"noisy_users": 1})


def test_two_windows_share_one_balance(folder: Path) -> None:
    with opened(folder) as one, opened(folder) as two:
        people = population(one, Fraction(3, 4))
        release = planned(two, people)
        reserved(one, people)
        with pytest.raises(RefusedError, match="1/4 is left"):
            two.reserve(release)
        assert two.account(people).remaining == Fraction(1, 4)


def _full(ledger: Ledger, pages_more: int) -> None:
    """Let the file grow by so many pages and no more."""
    pages = ledger._con.execute("PRAGMA page_count").fetchone()[0]
    ledger._con.execute(f"PRAGMA max_page_count = {pages + pages_more}")


def test_a_full_disk_before_start_costs_nothing(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
        release = reserved(ledger, people)
        _full(ledger, 3)
        with pytest.raises(DiskFullError) as full:
            ledger.start(release, 2_000_000)
        snapshots.check(str(full.value))
        assert "7 MB" in str(full.value)
        assert "Nothing was spent" in str(full.value)
        assert str(folder) in str(full.value)
        assert not list(folder.glob("*.lock"))
        ledger.abandon(release)
        assert ledger.account(people).spent == 0


def test_a_disk_too_small_is_noticed_before_start(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
        release = reserved(ledger, people)
        usage = shutil.disk_usage(folder)._replace(free=6_000_000)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
        with pytest.raises(DiskFullError, match=r"1 MB .* Nothing was spent"):
            ledger.start(release, 2_000_000)
        assert ledger.release(release).state == "reserved"
        ledger.start(release, 1_000)


@pytest.mark.full
def test_the_output_has_its_place_before_the_first_random_byte(folder: Path) -> None:
    output = {"cells": [7] * 300_000}
    size = len(canonical(output))
    with opened(folder) as ledger:
        people = population(ledger)
        release, other = reserved(ledger, people), reserved(ledger, people)
        ledger.start(release, size)
        ledger.start(other, 0)
        _full(ledger, 3)
        ledger.commit(release, output)
        assert ledger.output(release) == output
        with pytest.raises(DiskFullError, match="counts as spent"):
            ledger.commit(other, output)
        with pytest.raises(LedgerError, match="not completed"):
            ledger.output(other)
        ledger.lose(other)
        assert ledger.account(people).spent == 1


def test_a_clock_that_goes_back_is_marked_and_changes_no_order(folder: Path) -> None:
    clock = Clock()
    with opened(folder, clock=clock) as ledger:
        people = population(ledger)
        released(ledger, people)
    clock.at = clock.at.replace(year=2020)
    with opened(folder, clock=clock) as ledger:
        assert "clock is earlier" in ledger.notices[0]
        released(ledger, people)
        assert [entry.seq for entry in ledger.entries()] == list(range(9))
    assert read_ledger(_stored(folder)).state.remarks == {CLOCK}


def test_a_ledger_rolled_back_is_older_than_the_last_release(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
    shutil.copytree(folder, folder.parent / "backup")
    with opened(folder) as ledger:
        released(ledger, people)
    shutil.rmtree(folder)
    (folder.parent / "backup").rename(folder)
    with opened(folder) as ledger:
        assert ledger.problem == OLDER_LEDGER
        with pytest.raises(LedgerError, match=OLDER_LEDGER):
            planned(ledger, people)
        assert len(ledger.entries()) == 1


def test_copies_that_both_go_on_are_noticed_where_they_meet(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
        released(ledger, people)
    copied = folder.parent / "copied" / "ledger"
    copied.parent.mkdir()
    shutil.copytree(folder, copied)
    with opened(copied, "another") as ledger:
        assert ledger.notices == [NOTICES[RESTORED]]
        assert ledger.entries()[-1].body["kind"] == "moved"
        released(ledger, people, Fraction(1))
    with opened(folder) as ledger:
        assert ledger.notices == []
        released(ledger, people, Fraction(2))
    one, other = read_ledger(_stored(folder)), read_ledger(_stored(copied))
    assert (one.state.remarks, other.state.remarks) == (set(), {RESTORED})
    met = compare_copies(one, other)
    assert met.diverges_at == 5
    assert met.max_spent == {people: HALF + 1 + 2}
    # the copy brought back beside the first one's memory
    shutil.rmtree(folder)
    shutil.copytree(copied, folder)
    with opened(folder) as ledger:
        assert "fork" in ledger.problem


def test_a_deleted_ledger_is_remembered_for_ever(folder: Path) -> None:
    with opened(folder) as ledger:
        population(ledger)
    (folder / "ledger.sqlite").unlink()
    with opened(folder) as ledger:
        assert ledger.notices[0] == NOTICES[UNKNOWN]
        people = population(ledger)
    with opened(folder) as ledger:
        release = planned(ledger, people)
        assert ledger.notices == []
        assert ledger.parameters_chosen(release, FILE)[0] == "data opened before"
    assert read_ledger(_stored(folder)).state.remarks == {UNKNOWN}


def test_a_deleted_key_leaves_sums_and_chain(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
        release = planned(ledger, people)
        ledger.known.record_ids(people, ["a", "b"])
    (folder / "ledger.key").unlink()
    assert read_ledger(_stored(folder)).key is None
    with opened(folder) as ledger:
        assert ledger.notices[0] == NOTICES[NO_KEY]
        assert ledger.known.shared(["a", "b"]) == {}
        assert ledger.parameters_chosen(release, FILE)[0] == "data opened before"
        assert ledger.state(release).remarks == {NO_KEY}
        with pytest.raises(LedgerError, match="not the file"):
            ledger.reserve(release, FILE)
        released(ledger, people)
    assert read_ledger(_stored(folder)).state.remarks == {NO_KEY}


def test_a_key_of_another_ledger_is_not_taken(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
    for text, said in (("00" * 32, "key of another ledger"), ("no key", "holds no key")):
        (folder / "ledger.key").write_text(text)
        with opened(folder) as ledger:
            assert said in ledger.problem
            with pytest.raises(LedgerError, match=said):
                planned(ledger, people)


def _edit(file: Path, statement: str, *values: object) -> None:
    con = sqlite3.connect(file)
    for (trigger,) in con.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    ).fetchall():
        con.execute(f"DROP TRIGGER {trigger}")
    con.execute(statement, values)
    con.commit()
    con.close()


def test_an_edited_entry_breaks_the_chain_at_its_place(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
        released(ledger, people)
    body = ledger_body(folder, 2)
    body["epsilon"] = "1/4"
    text = canonical(body).decode()
    _edit(_stored(folder), "UPDATE entries SET body = ? WHERE seq = 2", text)
    with pytest.raises(LedgerError, match=r"ledger\.sqlite: entry 2:"):
        read_ledger(_stored(folder))
    with opened(folder) as ledger:
        assert ledger.problem.startswith("entry 2: it was edited")
        assert len(ledger.entries()) == 5
        with pytest.raises(LedgerError, match="entry 2"):
            planned(ledger, people)


def ledger_body(folder: Path, seq: int) -> dict[str, object]:
    con = sqlite3.connect(_stored(folder))
    (text,) = con.execute("SELECT body FROM entries WHERE seq = ?", (seq,)).fetchone()
    con.close()
    found: dict[str, object] = json.loads(text)
    return found


@pytest.mark.parametrize(
    "statement",
    [
        'UPDATE accounts SET state = replace(state, \'"spent_epsilon":"1/2"\', '
        '\'"spent_epsilon":"0/1"\')',
        "UPDATE releases SET state = replace(state, 'committed', 'abandoned')",
        "DELETE FROM accounts",
        "DELETE FROM releases",
        "UPDATE accounts SET state = '[]'",
        "UPDATE outputs SET complete = 0",
    ],
)
def test_edited_balances_are_not_those_of_a_replay(folder: Path, statement: str) -> None:
    with opened(folder) as ledger:
        released(ledger, population(ledger))
    _edit(_stored(folder), statement)
    with pytest.raises(LedgerError):
        read_ledger(_stored(folder))
    with opened(folder) as ledger:
        assert ledger.problem


def test_a_data_file_that_changed_stops_before_reserve(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
        release = planned(ledger, people)
        before = ledger.entries()
        with pytest.raises(LedgerError, match="not the file"):
            ledger.reserve(release, "cd" * 32)
        assert ledger.entries() == before
        ledger.reserve(release, FILE)


def test_mechanisms_that_are_not_known_here_count(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
        release = ledger.plan(people, "quantile.of-tomorrow/7", {}, HALF)
        ledger.reserve(release)
        assert ledger.account(people).spent == HALF


# -- files and people


def test_a_plan_made_before_the_file_was_opened_is_on_record(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
        before = planned(ledger, people)
        ledger.known.record_view(FILE)
        ledger.known.record_view(FILE)
        after = planned(ledger, people)
        fixed, opened_before = "fixed before the data were opened", "data opened before"
        assert ledger.parameters_chosen(before, FILE) == (fixed, 2)
        assert ledger.parameters_chosen(after, FILE) == (opened_before, 2)
        ledger.known.record_population(FILE, people)
        known = ledger.known.file(FILE)
        assert known is not None
        assert (known.population, known.shown) == (people, 2)
        assert ledger.known.file("cd" * 32) is None


def test_the_same_people_are_recognised_in_another_file(folder: Path) -> None:
    with opened(folder) as ledger:
        one, other = population(ledger), population(ledger)
        before = ledger.entries()
        ledger.known.record_ids(one, [f"user {k}" for k in range(1000)])
        ledger.known.record_ids(other, ["Zoe\u0301", "somebody"])
        assert ledger.known.shared([f" user {k}\n" for k in range(700, 1500)]) == {one: 300}
        assert ledger.known.shared(["Zo\u00e9", "user 3"]) == {one: 1, other: 1}
        assert ledger.known.shared(["nobody"]) == {}
        assert ledger.entries() == before  # no trace in the chain
        export = canonical(export_entries(ledger.id, ledger.entries()))
        marks = ledger._con.execute("SELECT DISTINCT length(mark) FROM people").fetchall()
    assert marks == [(8,)]
    assert b"user 3" not in export
    assert b"user 3" not in _stored(folder).read_bytes()


def test_tags_of_one_file_differ_between_releases(folder: Path) -> None:
    with opened(folder) as ledger:
        people = population(ledger)
        one, other = planned(ledger, people), planned(ledger, people)
        assert ledger.tag(one, FILE) != ledger.tag(other, FILE)
        assert ledger.tag(one, FILE) == ledger.release(one).tag
        assert FILE not in canonical(export_entries(ledger.id, ledger.entries())).decode()


def test_that_it_was_elsewhere_is_stated_where_it_is_remembered(folder: Path) -> None:
    with opened(folder) as ledger:
        population(ledger)
    with opened(folder, "another") as ledger:
        assert ledger.notices == [NOTICES[RESTORED]]
    with opened(folder) as ledger:
        assert ledger.notices == [NOTICES[MOVED]]
    assert read_ledger(_stored(folder)).state.remarks == {MOVED, RESTORED}


def test_stored_outputs_are_compared_with_their_hashes(folder: Path) -> None:
    with opened(folder) as ledger:
        release = released(ledger, population(ledger))
        ledger.publish(release, {"id": release})
        assert ledger.output(release) == {"noisy_users": 1207}
    order = ["ledger", "verify", "--ledger", str(_stored(folder))]
    assert run(order) == 0
    _edit(_stored(folder), "UPDATE outputs SET certificate = ?", b'{"id":"other"}')
    assert run(order) == 1
    with opened(folder) as ledger:
        assert not ledger.problem
        with pytest.raises(LedgerError, match="certificate"):
            ledger.certificate(release)
        assert ledger.output(release) == {"noisy_users": 1207}
    _edit(_stored(folder), "UPDATE outputs SET stored = ?", b'{"noisy_users":1208}')
    assert run(order) == 1
    with opened(folder) as ledger, pytest.raises(LedgerError, match="output"):
        ledger.output(release)
    _edit(_stored(folder), "DELETE FROM outputs")
    assert run(order) == 1


def test_a_full_disk_of_settings_is_named_and_nothing_is_denied(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with opened(folder) as ledger:
        people = population(ledger)
        release = planned(ledger, people)
        monkeypatch.setattr(settings, "write_whole", full)
        with pytest.raises(LedgerError) as failed:
            ledger.reserve(release, FILE)
        assert str(failed.value).startswith(f"{folder.parent}: ")
        assert "nothing" not in str(failed.value)
        monkeypatch.undo()
        assert ledger.account(people).spent == HALF
