"""The garbage collector waits while something moves."""

from __future__ import annotations

import gc

import pytest
from PySide6.QtCore import QObject

from explorer.engine.session.session import Session, SessionState
from explorer.ui.base import deferred_gc
from explorer.ui.base.deferred_gc import DeferredGC
from tests.waiting import time_limit


@pytest.fixture
def session() -> Session:
    return Session(SessionState("shuffle-rdp"))


@pytest.fixture
def keeper(qapp, session):
    parent = QObject()
    keeper = DeferredGC(session, parent)
    keeper._rest.setInterval(30)
    usual = gc.get_threshold()
    yield keeper
    keeper.close()
    assert gc.get_threshold() == usual


def full_collections() -> int:
    return gc.get_stats()[2]["collections"]


def churn() -> None:
    """Do so often what leads to a full collection by itself that there would be one."""
    for _ in range(3 * deferred_gc._OFTEN):
        gc.collect(1)
        grown = [[] for _ in range(100_000)]  # a full collection asks for a quarter more objects
        gc.collect(1)
        del grown


def test_full_collections_wait_for_rest(keeper, session, qtbot) -> None:
    before, usual = full_collections(), gc.get_threshold()
    session.set_value("T", 100)
    assert gc.get_threshold()[:2] == usual[:2]  # the young are collected as ever
    churn()
    assert full_collections() == before
    qtbot.waitUntil(lambda: full_collections() > before)  # made up for at rest
    assert gc.get_threshold() == usual


def test_at_rest_nothing_is_collected_without_need(keeper, session, qtbot) -> None:
    gc.collect()
    before = full_collections()
    session.set_value("T", 100)
    qtbot.waitUntil(lambda: gc.get_threshold()[2] == deferred_gc._OFTEN)
    assert full_collections() == before


def test_every_change_puts_it_off_again(keeper, session, qtbot) -> None:
    keeper._rest.setInterval(1000 * round(time_limit(1.0)))
    for value in (100, 200, 300):
        session.set_value("T", value)
        qtbot.wait(100)
        assert gc.get_threshold()[2] > deferred_gc._OFTEN
