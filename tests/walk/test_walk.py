"""Every study of the registry, walked through in the real window.

One test opens one window and notes all that goes wrong on its way, so that a failure names every
place. ``HYPOTHESIS_PROFILE=thorough`` walks each parameter in small steps under every quantity,
with simulations of the size users see.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QFileDialog

from explorer.engine.session.session import Session, SessionState, state_from_dict, state_to_dict
from explorer.figures.formats import of_kind
from explorer.figures.picture import formula_pictures
from explorer.figures.recipes import read_recipe
from explorer.studies.base.study import (
    Kind,
    default_request,
    parameter,
    preset_request,
    relevant,
    with_unit,
)
from explorer.studies.registry import get_study, study_infos
from explorer.ui.app.tab_order import focus_chain
from explorer.ui.bounds.axes import axis_words
from explorer.ui.dialogs.help_window import page_html
from explorer.ui.panels.presets import follow_preset
from tests.ui.access import check, controls
from tests.waiting import time_limit
from tests.walk import rules
from tests.walk.asking import POINTS, THOROUGH, asked, places, small, stages
from tests.walk.scaled import SIZES

STUDIES = [info.id for info in study_infos()]


@pytest.mark.parametrize("study_id", STUDIES)
def test_a_study_is_walked_through(walker, study_id, tmp_path, monkeypatch) -> None:
    walk = walker(study_id)
    _quantities(walk)  # first: the folds are as they are at a start
    _parameters(walk)
    _presets(walk)
    _exports(walk, tmp_path, monkeypatch)
    _page(walk)
    walk.end()


def _parameters(walk) -> None:
    """Set each parameter by its own row, and go back by undo.

    Answers are looked at for every third (tests/studies asks for those of all), in other studies
    for others of the parameters that they have in common.
    """
    session, study = walk.window.session, walk.study
    shown = [p for p in study.parameters if p.in_panel and p.kind is not Kind.FILE]
    for place, p in enumerate(shown, STUDIES.index(study.id)):
        for request in stages(study, p):
            walk.ask(request)
            row = walk.window.parameters.reveal(p.key)  # opens the fold it may be under
            if not row.isVisibleTo(walk.window.parameters):
                walk.wrong.append(f"{p.key} is not shown for {request.quantity} where it matters")
                continue
            before = []
            for value in places(p):
                where = f"{p.key} = {value!r} ({request.quantity})"
                asked_before = session.request()
                walk.move(p, value)
                walk.expect(session.request()[p.key] == value, f"{where}: it is not set")
                if session.request() != asked_before:
                    before.append(asked_before)
                    if THOROUGH or (place % 3 == 0 and len(before) == 1):
                        walk.look(where)
            for earlier in reversed(before):
                session.undo()
                walk.expect(session.request() == earlier, f"{p.key}: undo leads elsewhere")
    walk.rest()


def _quantities(walk) -> None:
    """Ask for each quantity over an axis; look at names, Tab and sizes, as rows come and go."""
    study = walk.study
    if not study.quantities:
        walk.look("its defaults")
        _access(walk, "map")
        _sizes(walk, "map", SIZES)
    for place, what in enumerate(study.quantities):
        for key in what.sweeps if THOROUGH else what.sweeps[:2][place % 2 :][:1]:
            walk.ask(asked(study, what.key, key))
            _axes(walk, what, key)
        _access(walk, what.key)
        _sizes(walk, what.key, SIZES if THOROUGH else SIZES[place : place + 1])


def _axes(walk, what, key) -> None:
    study, bounds = walk.study, walk.window.workspaces["bounds"]
    where = f"{what.key} over {key}"
    if walk.look(where) is None:
        return
    over = with_unit(parameter(study, key), dict(walk.window.session.request().values))
    labels = (bounds.plot.bottom.labelText, bounds.plot.left.labelText)
    wanted = (
        axis_words(over.symbol, over.name, over.unit),
        axis_words(what.symbol, what.name, what.unit),
    )
    walk.expect(labels == wanted, f"{where}: the axes say {labels}")
    chosen = (bounds.y_axis.title.current, bounds.x_axis.title.current)
    walk.expect(chosen == (what.key, key), f"{where}: the lists say {chosen}")
    other = [not bounds.plot.y_log] if what is study.quantities[0] else []
    for log in (True, False) if THOROUGH else other:
        bounds._set_y_log(log)
        walk.look(f"{where}, y {'logarithmic' if log else 'linear'}")


def _presets(walk) -> None:
    study, window = walk.study, walk.window
    note = window.workspaces["bounds"].preset_note
    # Presets of all kinds are asked for in tests/studies.
    for item in study.presets if THOROUGH else study.presets[:1]:
        before = window.session.request()
        follow_preset(window.session, item)
        whole = window.session.request()
        if study.workspace == "bounds":
            walk.expect(note.isVisible(), f"preset {item.key}: nothing tells of it")
        request = preset_request(study, item)
        if not THOROUGH:
            for key, value in small(study).items():
                request = request.with_value(key, value)
            if request.sweep is not None:
                points = min(request.sweep.points, POINTS)
                request = replace(request, sweep=replace(request.sweep, points=points))
        walk.ask(request)
        walk.look(f"preset {item.key}")
        while window.session.request() != before and window.session.undo_text:
            window.session.undo()
        walk.expect(window.session.request() == before, f"preset {item.key}: undo leads elsewhere")
        walk.expect(whole.study == study.id, f"preset {item.key} is of another study")
    walk.rest()


def _exports(walk, folder, monkeypatch) -> None:
    """Write numbers and go back to what they show; a thorough walk writes all formats."""
    window, study = walk.window, walk.study
    formats = [f.suffix for f in of_kind()] if THOROUGH else ["json"]
    for place, fmt in enumerate(formats, STUDIES.index(study.id)):
        what = study.quantities[place % len(study.quantities)] if study.quantities else None
        walk.ask(asked(study, what.key, what.sweeps[-1]) if what else asked(study))
        if walk.look(f"before export as {fmt}") is None:
            continue
        path = folder / f"{study.id}.{fmt}"
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, p=path: (str(p), ""))
        window.menus.actions["export"].trigger()
        dialog = window.output.dialog
        dialog.format.setCurrentIndex(dialog.format.findData(fmt))
        with walk.qtbot.waitSignal(window.output.controller.done):
            dialog.save.click()
        exported = window.session.request()
        walk.expect(read_recipe(path)["study"] == study.id, f"{fmt}: no recipe of {study.id}")
        walk.ask(asked(study, points=POINTS - 1) if what else default_request(study))
        with walk.qtbot.waitSignal(window.files.recognised):
            window.files.open_any(path)
        walk.expect(window.session.request() == exported, f"{fmt}: the recipe asks something else")


def _page(walk) -> None:
    page = walk.study.page
    walk.expect(page is not None, "there is no help page")
    pictures = formula_pictures(tuple(f.latex for f in page.formulas), "#102030")
    walk.expect(len(pictures) == len(page.formulas) > 0, "not every formula is drawn")
    walk.expect(page_html(walk.study, pictures).count("<img") == len(pictures), "formulas missing")
    walk.expect(all(p.width < 640 for p in pictures), "a formula is wider than its page")


def _access(walk, shown: str) -> None:
    window = walk.window
    walk.wrong += [f"{shown}: {text}" for text in check(window)]
    chain = set(focus_chain(window))
    missed = [w.accessibleName() for w in controls(window) if w not in chain]
    walk.expect(missed == [], f"{shown}: not reached by Tab: {missed}")


def _sizes(walk, shown: str, usual) -> None:
    """Hold the window against the rules at its least size and at usual ones; leave it in one."""
    window = walk.window
    window.resize(window.minimumSizeHint())
    found = walk.settled_findings(rules.of_fit)
    size = window.size()
    walk.expect(
        size.width() <= 1024 and size.height() <= 720, f"the least size is {size.toTuple()}"
    )
    walk.wrong += [f"least size, {shown}: {text}" for text in found]
    for width, height in usual:
        window.resize(width, height)
        found = walk.settled_findings(rules.of_window)
        walk.wrong += [f"{width}×{height}, {shown}: {text}" for text in found]
    window.resize(*SIZES[-1])


@pytest.mark.full
def test_everything_fits_at_125_percent(tmp_path) -> None:
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "QT_SCALE_FACTOR": "1.25"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.walk.scaled"],
        env=env,
        capture_output=True,
        text=True,
        timeout=time_limit(180),
    )
    assert f"looked at {len(STUDIES)} questions at 1.25" in done.stderr, done.stderr
    assert done.stdout == ""


def test_every_studys_question_is_saved_and_restored() -> None:
    session = Session(SessionState(STUDIES[0]))
    for study_id in STUDIES:
        session.set_study(study_id)
        study = get_study(study_id)
        what = study.quantities[-1] if study.quantities else None
        request = asked(study, what.key, what.sweeps[-1], 13) if what else asked(study)
        for p in study.parameters:
            if not p.in_panel or p.kind is Kind.FILE:
                continue
            if relevant(p, dict(request.values), request.quantity):
                request = request.with_value(p.key, places(p)[1 % len(places(p))])
        session.follow(replace(request, seed=7))
    stored = json.loads(json.dumps(state_to_dict(session.state), allow_nan=False))
    restored = state_from_dict(stored)
    assert restored.study == session.state.study
    assert dict(restored.requests) == dict(session.state.requests)
    assert set(restored.requests) == set(STUDIES)
