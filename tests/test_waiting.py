"""Tests wait by one rule, so that a busy machine makes them slow and not red."""

from __future__ import annotations

import itertools
import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import qt_robot, waiting

TESTS = Path(__file__).resolve().parent
FIXED = re.compile(
    r"timeout=[\d(]|(?<!qtbot)(?<!inbox)(?<!self)\.(?:wait|join|wait_idle|wait_for|result)\(\d"
    r"|< \d+(?:\.\d+)?  ?# s|^\s*\w+ = time\.monotonic\(\) \+ \d|perf_counter\(\) - \w+ < \d"
    r"|monotonic\(\) - \w+ < \d"
)


def test_limits_grow_with_the_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_XDIST_WORKER_COUNT", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    for load, factor in ((0.1, 1), (2.0, 1), (8.0, 4), (1000.0, waiting.MAX_SLOWNESS)):
        monkeypatch.setattr(os, "getloadavg", lambda load=load: (load, 0.0, 0.0))
        assert waiting.time_limit(3.0) == pytest.approx(3.0 * factor)
    monkeypatch.setattr(os, "getloadavg", lambda: (0.0, 0.0, 0.0))
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "4")
    assert waiting.time_limit(3.0) == pytest.approx(6.0)


def test_a_wait_ends_with_what_it_waits_for_or_at_its_limit() -> None:
    turns = iter([False, False, True])
    assert waiting.wait_until(lambda: next(turns))
    assert not waiting.wait_until(lambda: False, 0.0)


def test_every_wait_of_the_robot_scales(qtbot, monkeypatch: pytest.MonkeyPatch) -> None:
    from pytestqt.qtbot import QtBot

    limits = {}
    waits = {name for name in vars(QtBot) if re.fullmatch(r"wait[A-Z]\w*", name)} - {"waitUntil"}
    assert len(waits) >= 5
    for name in waits:
        monkeypatch.setattr(
            QtBot, name, lambda *_, _name=name, timeout, **__: limits.update({_name: timeout})
        )
        needed = [] if name == "waitCallback" else [None]
        getattr(qtbot, name)(*needed, timeout=500)
    # Measured once each: the load may change in between.
    assert set(limits) == waits
    assert all(500 <= limit <= 500 * waiting.MAX_SLOWNESS for limit in limits.values())


def test_a_machine_that_stands_still_costs_no_wait(qtbot, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(step=100)  # s a turn
    monkeypatch.setattr(qt_robot, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    turns = iter([False] * 9)
    qtbot.waitUntil(lambda: next(turns, True), timeout=10_000)
    with pytest.raises(TimeoutError, match="not so within"):
        qtbot.waitUntil(lambda: False, timeout=2000)


def test_no_test_has_a_limit_of_its_own() -> None:
    found = [
        f"{path.relative_to(TESTS)}:{number}: {line.strip()}"
        for path in sorted(TESTS.rglob("*.py"))
        if "benchmarks" not in path.parts and path != Path(__file__).resolve()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if FIXED.search(line)
    ]
    assert found == []
