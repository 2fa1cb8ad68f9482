"""The door: each step on disk before the next, in a process of its own, whatever happens."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import random
import resource
import signal
import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from explorer.release import pipeline, subprocess_runner
from explorer.release.errors import CancelledReleaseError, RefusedError, ReleaseError
from explorer.release.ledger.state import SPENT
from explorer.release.messages import price_text, refusal_text, result_text
from explorer.release.pipeline import LedgerLocation, draw, load_plan, plan_release, publish
from explorer.release.plan import Plan, build_plan
from explorer.release.subprocess_runner import (
    DrawTask,
    InterruptedDrawError,
    ReleaseProcess,
    compare_in_subprocess,
    draw_in_subprocess,
)
from tests import snapshots
from tests.release.plans import MECHANISMS, opened, place_in, plan_of, write_rows

KILLS = int(os.environ.get("PRIVACY_EXPLORER_KILLS", "4"))
"""The specification's 200 by this variable."""


@pytest.fixture
def place(tmp_path: Path) -> LedgerLocation:
    return place_in(tmp_path)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "rows.csv")


def _entered(place: LedgerLocation, plan: Plan) -> str:
    with place.open() as ledger:
        return plan_release(ledger, plan)


def _kinds(place: LedgerLocation) -> list[str]:
    with place.open() as ledger:
        return [entry.body["kind"] for entry in ledger.entries()]


def _spent(place: LedgerLocation, population: str) -> Fraction:
    with place.open() as ledger:
        return ledger.account(population).spent_epsilon


def _state(place: LedgerLocation, release: str) -> str:
    with place.open() as ledger:
        return ledger.release(release).state


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_mechanism_goes_through_the_door(
    place: LedgerLocation, rows: Path, mechanism: str
) -> None:
    plan = plan_of(opened(place), rows, mechanism=mechanism)
    release = _entered(place, plan)
    draw(place, plan, release)
    assert _kinds(place) == ["budget", "plan", "reserve", "start", "commit"]
    with place.open() as ledger:
        stored = ledger.output(release)
        assert ledger.account(plan.population).spent_epsilon == plan.epsilon
    shown = plan.mechanism.shown(stored, plan.own_parameters, plan.epsilon)
    assert shown.grid is not None or shown.table


def test_all_is_durable_before_the_first_random_byte(place: LedgerLocation, rows: Path) -> None:
    """Another process would see `start`, the disk taken and no output, whenever noise is drawn."""
    plan = plan_of(opened(place), rows, mechanism="heatmap.adaptive/1")
    release, seen = _entered(place, plan), set()

    def random_bytes(count: int) -> bytes:
        with sqlite3.connect(f"file:{place.ledger}?mode=ro", uri=True) as con:
            kind = "SELECT json_extract(body, '$.kind') FROM entries ORDER BY seq DESC LIMIT 1"
            room = "SELECT length(stored), complete FROM outputs"
            seen.add((con.execute(kind).fetchone()[0], *con.execute(room).fetchone()))
        con.close()
        return os.urandom(count)

    draw(place, plan, release, random_bytes)
    room = plan.mechanism.max_output_bytes(plan.own_parameters, plan.epsilon)
    assert seen == {("start", room, 0)}
    with place.open() as ledger:
        assert len(str(ledger.output(release))) < room


def test_what_does_not_fit_is_not_even_entered(place: LedgerLocation, rows: Path) -> None:
    plan = plan_of(opened(place, budget=1), rows, epsilon="3/2")
    with place.open() as ledger, pytest.raises(RefusedError) as caught:
        plan_release(ledger, plan)
    told = refusal_text(plan, caught.value)
    for word in ("3/2", "ε = 1 is left", "at most 1", "number of users", "±3"):
        assert word in told
    assert _kinds(place) == ["budget"]


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda path: path.unlink(), "data: the file cannot be read (no such file or directory). "),
        (lambda path: (path.unlink(), path.mkdir()), "data: the file cannot be read (is a direct"),
    ],
)
def test_a_file_that_is_not_there_costs_nothing(
    place: LedgerLocation, rows: Path, spoil: Any, sentence: str
) -> None:
    plan = plan_of(opened(place), rows)
    release = _entered(place, plan)
    spoil(rows)
    with pytest.raises(ReleaseError) as caught:
        draw_in_subprocess(place, plan, release)
    assert str(caught.value).startswith(sentence)
    assert _kinds(place) == ["budget", "plan"]


def test_a_changed_file_stops_before_anything_is_reserved(
    place: LedgerLocation, rows: Path
) -> None:
    plan = plan_of(opened(place), rows)
    sha256 = _sha256(rows)
    with place.open() as ledger:
        parameters = plan.parameters()
        release = ledger.plan(
            plan.population, plan.mechanism.id, parameters, plan.epsilon, file_sha256=sha256
        )
    rows.write_text(rows.read_text(encoding="utf-8") + "new,,,,,\n", encoding="utf-8")
    with pytest.raises(ReleaseError, match="not the file"):
        draw(place, plan, release)
    assert _kinds(place) == ["budget", "plan"]


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_file_about_other_people_is_not_charged_to_these(
    place: LedgerLocation, rows: Path
) -> None:
    first, second = opened(place), opened(place)
    plan = plan_of(first, rows)
    draw(place, plan, _entered(place, plan))
    other = plan_of(second, rows)
    release = _entered(place, other)
    with pytest.raises(ReleaseError, match=f"^population: .*{first}"):
        draw(place, other, release)
    assert _state(place, release) == "planned"


def test_joined_populations_are_one(place: LedgerLocation, rows: Path) -> None:
    first, second = opened(place), opened(place)
    plan = plan_of(first, rows)
    draw(place, plan, _entered(place, plan))
    with place.open() as ledger:
        ledger.join(second, first)
    for population in (first, second):
        plan = plan_of(population, rows, epsilon="1/4")
        release = _entered(place, plan)
        draw(place, plan, release)
        with place.open() as ledger:
            publish(ledger, plan, release)
    assert _spent(place, first) == _spent(place, second) == 1


def test_a_release_is_published_from_the_ledger_alone(place: LedgerLocation, rows: Path) -> None:
    """The window that drew it was killed; the file and its plan are gone."""
    plan = plan_of(opened(place), rows)
    release = _entered(place, plan)
    draw(place, plan, release)
    rows.unlink()
    with place.open() as ledger:
        again = load_plan(ledger, release)
        assert again == replace(plan, data=Path())
        assert publish(ledger, again, release) == ledger.certificate(release)
        unknown = ledger.plan(plan.population, plan.mechanism.id, plan.parameters(), plan.epsilon)
        with pytest.raises(ReleaseError, match=r"PLAN\.json"):
            load_plan(ledger, unknown)


@pytest.mark.full
def test_the_same_people_are_recognised_in_another_population(
    place: LedgerLocation, tmp_path: Path
) -> None:
    first, second = opened(place), opened(place)
    plan = plan_of(first, write_rows(tmp_path / "first.csv", users=40))
    draw(place, plan, _entered(place, plan))
    assert compare_in_subprocess(place, plan) == {}
    other = plan_of(second, write_rows(tmp_path / "second.csv", users=25, seed=9))
    before = _kinds(place)
    assert compare_in_subprocess(place, other) == {first: 25}
    assert _kinds(place) == before
    with place.open() as ledger:
        ledger.join(second, first)
    assert compare_in_subprocess(place, other) == {}


def test_a_draw_is_not_done_twice_nor_otherwise(place: LedgerLocation, rows: Path) -> None:
    population = opened(place)
    plan = plan_of(population, rows)
    release = _entered(place, plan)
    with pytest.raises(ReleaseError, match="other settings"):
        draw(place, plan_of(population, rows, epsilon="1/4"), release)
    draw(place, plan, release)
    with pytest.raises(ReleaseError, match="is committed"):
        draw(place, plan, release)
    assert _spent(place, population) == plan.epsilon


def test_what_was_prepared_is_continued_or_given_back(place: LedgerLocation, rows: Path) -> None:
    population = opened(place)
    plan = plan_of(population, rows)
    releases = [_entered(place, plan) for _ in range(2)]
    with place.open() as ledger:
        for release in releases:
            ledger.reserve(release)
        assert [one.id for one in ledger.reserved_releases()] == releases
    draw_in_subprocess(place, plan, releases[0])
    with place.open() as ledger:
        ledger.abandon(releases[1])
    assert [_state(place, release) for release in releases] == ["committed", "abandoned"]
    assert _spent(place, population) == plan.epsilon


def test_an_unforeseen_error_while_drawing_costs_and_tells_no_value(
    place: LedgerLocation, rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(opened(place), rows)
    release, said = _entered(place, plan), []

    def fails(*_: object) -> None:
        raise ValueError("u7 was at 40.7654321")

    class Answers:
        def send(self, answer: str | tuple[ReleaseError, None]) -> None:
            if not isinstance(answer, str):  # a phase
                said.append(str(answer[0]))

        def poll(self) -> bool:
            return False

        def close(self) -> None:
            pass

    monkeypatch.setattr(type(plan.mechanism), "draw", fails)
    monkeypatch.setattr(subprocess_runner, "suppress_output", lambda: None)
    subprocess_runner._serve(DrawTask.of(place, plan, release), Answers())  # type: ignore[arg-type]
    assert len(said) == 1
    assert said[0].startswith("the draw failed unexpectedly (ValueError in test_pipeline.py, line ")
    assert "40.7" not in said[0]
    assert _state(place, release) == "lost"
    assert _spent(place, plan.population) == plan.epsilon


def test_ctrl_c_stops_what_costs_nothing_yet_and_waits_for_what_was_started(
    place: LedgerLocation, rows: Path
) -> None:
    plan = plan_of(opened(place), rows, mechanism="counts.cells/1")
    release = _entered(place, plan)

    def random_bytes(count: int) -> bytes:
        signal.raise_signal(signal.SIGINT)
        return os.urandom(count)

    draw(place, plan, release, random_bytes)
    assert _state(place, release) == "committed"
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_a_full_disk_before_the_start_costs_nothing(
    place: LedgerLocation, rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(opened(place), rows)
    release = _entered(place, plan)

    def full(*_: object) -> None:
        raise pipeline.DiskFullError("no room for the output; free 1 MB")

    monkeypatch.setattr(pipeline.Ledger, "start", full)
    with pytest.raises(ReleaseError, match="free 1 MB"):
        draw(place, plan, release)
    assert _state(place, release) == "abandoned"
    assert _spent(place, plan.population) == 0


def _cancels_at(phase: str, calls: list[str]) -> Callable[[str], None]:
    """Return an observer that cancels at a phase, and lists the calls."""

    def observe(now: str) -> None:
        calls.append(now)
        if now == phase:
            raise CancelledReleaseError

    return observe


def test_the_phases_of_a_draw_are_observed_in_order(place: LedgerLocation, rows: Path) -> None:
    plan, calls = plan_of(opened(place), rows), []
    draw(place, plan, _entered(place, plan), observe=_cancels_at("", calls))
    assert tuple(dict.fromkeys(calls)) == pipeline.PHASES
    assert calls[-3:] == ["book", "draw", "store"]


@pytest.mark.parametrize(
    ("phase", "reserved", "state"),
    [
        ("read", False, "planned"),
        ("book", False, "planned"),
        ("draw", False, "abandoned"),
        ("read", True, "abandoned"),
    ],
)
def test_a_release_cancelled_before_its_draw_costs_nothing(
    place: LedgerLocation, rows: Path, phase: str, reserved: bool, state: str
) -> None:
    plan = plan_of(opened(place), rows)
    release = _entered(place, plan)
    if reserved:
        with place.open() as ledger:
            ledger.reserve(release)
    with pytest.raises(CancelledReleaseError):
        draw(place, plan, release, observe=_cancels_at(phase, []))
    assert _state(place, release) == state
    assert _spent(place, plan.population) == 0


def test_the_process_is_cancelled_while_it_reads(place: LedgerLocation, tmp_path: Path) -> None:
    plan = plan_of(opened(place), write_rows(tmp_path / "many.csv", users=2000))
    release, phases = _entered(place, plan), []
    drawing = ReleaseProcess(DrawTask.of(place, plan, release), phases.append)
    drawing.cancel()
    with pytest.raises(CancelledReleaseError):
        drawing.finish()
    assert phases == []
    assert (_state(place, release), _spent(place, plan.population)) == ("planned", 0)
    drawing = ReleaseProcess(DrawTask.of(place, plan, release), phases.append)
    drawing.finish()
    assert phases == list(pipeline.PHASES)


def test_a_zcdp_budget_is_priced_in_rho(place: LedgerLocation, rows: Path) -> None:
    plan = plan_of(opened(place, budget=1, gate="zcdp"), rows)
    draw(place, plan, _entered(place, plan))
    with place.open() as ledger:
        told = price_text(plan, ledger.account(plan.population))
    assert told.startswith(
        "Cost ε = 0.5: ρ = 0.125 of 1 (ε·tanh(ε/2) ≤ 0.1225 holds too; not used); ρ = 0.75 will "
        "remain (enough to repeat this six times)"
    )


def test_words(place: LedgerLocation, rows: Path) -> None:
    plan = plan_of(opened(place), rows)
    with place.open() as ledger:
        account = ledger.account(plan.population)
    snapshots.check(price_text(plan, account))
    assert result_text(plan).startswith(
        "Released. If the file is in the declared format, the number of users is within ±6 in 95 % "
    )


# -- the process


def _quiet(answers: Any) -> None:
    subprocess_runner.suppress_output()
    print("a row")
    os.write(2, b"a row")
    dumpable = Path("/proc/self/coredump_filter").stat().st_uid
    answers.send((resource.getrlimit(resource.RLIMIT_CORE), dumpable))


def test_its_process_writes_nothing_and_leaves_no_core(capfd: pytest.CaptureFixture[str]) -> None:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_quiet, args=(theirs,))
    child.start()
    limits, owner = ours.recv()
    child.join()
    assert limits == (0, 0)
    assert owner == 0  # what is not dumpable is root's
    assert capfd.readouterr() == ("", "")


def _killed(
    drawing: ReleaseProcess, place: LedgerLocation, release: str, draw_random: random.Random
) -> bool:
    """Kill a draw at a random moment of one of its stretches; return whether it was done."""
    stretch = draw_random.choice(["", "plan", "plan", "reserve", "start", "start", "start"])
    if stretch:
        query = "SELECT json_extract(body, '$.kind') FROM entries ORDER BY seq DESC LIMIT 1"
        con = sqlite3.connect(f"file:{place.ledger}?mode=ro", uri=True, isolation_level=None)
        while con.execute(query).fetchone()[0] == "plan" and stretch != "plan":
            if drawing.done:
                break
        if stretch == "start":
            while con.execute(query).fetchone()[0] == "reserve" and not drawing.done:
                pass
        con.close()
    time.sleep(draw_random.uniform(0, 0.02 if stretch in ("reserve", "start") else 0.8))
    drawing.kill()
    try:
        drawing.finish()
    except InterruptedDrawError:
        return False
    return True


@pytest.mark.full
def test_a_draw_may_be_killed_at_any_moment(place: LedgerLocation, tmp_path: Path) -> None:
    """Spent is never below what any shown output cost, and no output is there without `commit`."""
    rows = write_rows(tmp_path / "many.csv", users=500)
    population = opened(place, budget=10_000)
    plan = plan_of(population, rows, mechanism="counts.cells/1")
    plan = build_plan(
        population,
        rows,
        plan.mechanism.id,
        plan.parameters() | {"side": 64},
        plan.epsilon,
        plan.declared,
    )
    draw_random, seen = random.Random(), dict.fromkeys(("planned", *SPENT), 0)
    for _ in range(KILLS):
        release = _entered(place, plan)
        drawing = ReleaseProcess(DrawTask.of(place, plan, release))
        done = _killed(drawing, place, release, draw_random)
        with place.open() as ledger:
            assert not ledger.problem
            state = ledger.release(release).state
            counted = [one for one in ledger.releases() if one.state in SPENT]
            assert ledger.account(population).spent_epsilon == plan.epsilon * len(counted)
            shown = set(ledger.view().outputs)  # the chain is checked, too
            assert shown == {one.id for one in counted if one.state == "committed"}
            for prepared in ledger.reserved_releases():
                ledger.abandon(prepared.id)
        assert state == "committed" or not done
        seen[state] += 1
    print({state: number for state, number in seen.items() if number})
    assert sum(seen[state] for state in ("planned", "reserved", "lost", "committed")) == KILLS
    if KILLS >= 100:
        assert min(seen[state] for state in ("planned", "lost", "committed")) > 0
