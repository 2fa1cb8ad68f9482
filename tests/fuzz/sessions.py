"""Mutated sessions: the window starts on each, and a file that can't be read is kept as it is."""

from __future__ import annotations

import logging
import os
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from explorer.engine.paths import state_folder
from explorer.engine.session.plot_view import Pin
from explorer.engine.session.schema import WINDOW_SCHEMA
from explorer.engine.session.session import Session, SessionState, state_to_dict
from explorer.figures.view_state import ViewState
from explorer.studies.base.study import default_request
from explorer.studies.registry import get_study, study_ids
from explorer.ui.controllers.session_store import FILE_NAME, SessionStore, own_file
from tests.fuzz.mutate import changed_value, json_text
from tests.fuzz.outcome import Outcome
from tests.fuzz.recipes import COLUMNS, SELECTION
from tests.waiting import time_limit

SLOW_S = 5.0
WINDOW_EVERY = 25
"""A real window takes half a second; what it is made of is looked at each time."""


def sessions() -> Iterator[dict[str, Any]]:
    """Yield what the program writes, with some of everything, in front of each study."""
    session = Session(SessionState(study_ids()[0], selection=SELECTION))
    for study in study_ids():
        session.follow(default_request(get_study(study)))
    session.follow(default_request(get_study("shuffle-rdp")))
    for value in (0.5, 1.0):
        session.set_value("eps0", value)
        session.pin(frozenset({"clones"}))
    session.set_pins((*session.state.pins, Pin(default_request(get_study("unbounded")))))
    view = ViewState(x_range=(1.0, 10.0), hidden=("a",), map_box=(1.0, 2.0, 3.0, 4.0)).to_dict()
    for study in study_ids():
        yield {
            "schema": WINDOW_SCHEMA,
            "session": state_to_dict(replace(session.state, study=study)),
            "data_path": "/no/such/folder/mine.txt",
            "files": {"a.csv#" + "0" * 64: "/no/such/a.csv"},
            "recent": ["/no/such/mine.txt"],
            "theme": "dark",
            "geometry": "AAAA",
            "layout": "AAAA",
            "folded": ["mechanism"],
            "views": {"map": view, "bounds": view},
            "columns": COLUMNS,
        }


def run(count: int, seed: int) -> Outcome:
    """Start on `count` mutated sessions, each twenty-fifth time with a real window."""
    from PySide6.QtWidgets import QApplication

    app = QApplication.instance() or QApplication(["fuzz"])
    logging.getLogger("explorer").setLevel(logging.CRITICAL)
    rng, outcome, known = random.Random(seed), Outcome(), list(sessions())
    with tempfile.TemporaryDirectory() as name, _heard(outcome):
        os.environ["XDG_STATE_HOME"] = name
        place = state_folder() / FILE_NAME
        for number in range(count):
            if number % 100 == 99:
                print(f"{number + 1:,} tried, {len(outcome.faults)} faults", flush=True)
            data = json_text(changed_value(rng.choice(known), rng), rng)
            for old in place.parent.glob("window*"):
                old.unlink()
            place.write_bytes(data)
            before, began = len(outcome.faults), time.monotonic()
            try:
                _try(place, data, outcome)
                if number % WINDOW_EVERY == 0:
                    place.write_bytes(data)
                    _open_window(app)
                    outcome.counts["windows"] += 1
            except Exception as error:
                step = traceback.extract_tb(error.__traceback__)[-1]
                outcome.faults.append(f"{error!r:.200} in {step.name}")
            took = time.monotonic() - began
            if took > time_limit(SLOW_S) * (1 + 3 * (number % WINDOW_EVERY == 0)):
                outcome.faults.append(f"took {took:.0f} s")
            outcome.faults[before:] = [f"{f}: {data!r:.500}" for f in outcome.faults[before:]]
    return outcome


def _try(place: Path, data: bytes, outcome: Outcome) -> None:
    """Load as the window does; what is complained of must be kept byte for byte."""
    session_store = SessionStore(own_file(place.parent))
    session_store.load()
    session_store.load_session()
    session_store.close()
    session = Session(session_store.state)
    for study in study_ids():
        session.set_study(study)
        session.request()
    kept = [p.read_bytes() for p in place.parent.glob("window*.json")]
    if data not in kept:
        outcome.faults.append("neither in its place nor kept aside")
    if session_store.complaint:
        outcome.counts["in part" if session_store.restored else "rejected"] += 1
        if "\n" in session_store.complaint or len(session_store.complaint) > 1000:
            outcome.faults.append(f"no sentence: {session_store.complaint[:300]!r}")
    else:
        outcome.counts["whole"] += 1
        if session_store.state is None:
            outcome.faults.append("lost without a word")


def _open_window(app: Any) -> None:
    from explorer.ui.app.application import Application
    from explorer.ui.app.options import WindowOptions

    launch = Application(WindowOptions(compute_process=False), ["fuzz"])
    launch.show()
    for _ in range(20):
        app.processEvents()
        time.sleep(0.01)
    while not launch.window.built:
        app.processEvents()
    launch.window.close()
    launch.window.deleteLater()
    app.processEvents()


@contextmanager
def _heard(outcome: Outcome) -> Iterator[None]:
    """Count what is raised where Qt calls, which nobody else would notice."""
    before = sys.excepthook

    def hook(_kind: Any, error: BaseException, trace: Any) -> None:
        step = traceback.extract_tb(trace)[-1]
        outcome.faults.append(f"in a slot: {error!r:.200} in {step.name}")

    sys.excepthook = hook
    yield
    sys.excepthook = before
