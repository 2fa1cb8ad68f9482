"""The Release workspace: plan, result, ledger and attack pages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self, TypeVar

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QMessageBox,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from explorer.engine.session.session import Session
from explorer.files import write_whole
from explorer.geography.plane import plain
from explorer.release.errors import ChangedOutputError, RefusedError, ReleaseError
from explorer.release.ledger.ledger import INTERRUPTED_DRAW
from explorer.release.ledger.settings import default_ledger, default_settings
from explorer.release.ledger.state import Release
from explorer.release.ledger.storage import unsupported_reason
from explorer.release.messages import sentence
from explorer.release.pipeline import LedgerLocation
from explorer.release.rounding import rounded_down, rounded_up
from explorer.release.simulations import PROTOCOLS, STAMP, simulation_document
from explorer.studies.base.numbers import format_number
from explorer.studies.base.study import Selection, relevant
from explorer.studies.registry import get_study, study_infos
from explorer.ui.base.errors import Problem
from explorer.ui.base.styled import styled_label
from explorer.ui.base.theme import Theme
from explorer.ui.controllers.workspace import Workspace
from explorer.ui.controllers.workspace_host import WorkspaceHost
from explorer.ui.release.attack_page import AttackPage
from explorer.ui.release.controller import ReleaseController, Result, format_words
from explorer.ui.release.draft import LedgerState, refusal_text, sentence_of
from explorer.ui.release.fields import PEOPLE
from explorer.ui.release.ledger_page import LedgerPage, LedgerWindow
from explorer.ui.release.plan_page import FILE_PAGE, PEOPLE_PAGE, RESULT_PAGE, PlanPage
from explorer.ui.release.result_page import ResultPage

NOTICES_HEIGHT = 150
Offer = tuple[str, Callable[[], object]]
"""Button text and action."""

WHOLE_BOX = (
    "The map shows a polygon, and a release covers a box.\n\nThe released map would count all "
    "check-ins in the box around the polygon, also those outside the polygon."
)


class Notices(QScrollArea):
    """Notices with buttons; hidden if empty."""

    def __init__(self) -> None:
        super().__init__(widgetResizable=True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFixedHeight(NOTICES_HEIGHT)
        self._rows = QVBoxLayout(inner := QWidget())
        self._rows.setContentsMargins(0, 6, 0, 0)
        self._rows.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.setWidget(inner)

    def show_rows(
        self, notices: Iterable[str], offered: Iterable[tuple[str, Sequence[Offer]]]
    ) -> None:
        """Show notices, then interrupted releases with their actions."""
        while (item := self._rows.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for notice in notices:
            self._rows.addWidget(styled_label("notes", notice, word_wrap=True))
        for text, offers in offered:
            self._rows.addWidget(_row(text, offers))
        self.setVisible(self._rows.count() > 0)


def _row(message: str, offers: Sequence[Offer]) -> QWidget:
    column = QVBoxLayout(widget := QWidget())
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(2)
    label = styled_label("", message, word_wrap=True)
    label.setMinimumWidth(60)
    column.addWidget(label)
    row = QHBoxLayout()
    for text, does in offers:
        button = QPushButton(text)
        button.setAccessibleName(f"{text}: {message}")
        button.clicked.connect(lambda _=False, does=does: does())
        row.addWidget(button)
    row.addStretch(1)
    column.addLayout(row)
    return widget


Page = TypeVar("Page", bound=QWidget)
MAP = "map"
"""Workspace from whose study ε is copied."""
UNFINISHED = {
    "reserved": "Prepared, not drawn.",
    "lost": "Interrupted while drawing. The cost of {cost} is spent; there is no result.",
    "committed": "Finished, not published.",
}
"""Messages on releases that were interrupted or not published, by state."""
CHANGED_RESULT = (
    "The stored result was changed and cannot be published. Restore the ledger from a backup."
)
WHY_NO_EXPORT = "A release is exported from its own page, once it is published."


class ReleaseWorkspace(Workspace):
    """Plans, rehearses and draws releases; no value of the open file is used automatically.

    Parameters
    ----------
    window : WorkspaceHost
    place : Place, optional
        Folder of the ledger; default: the user's.
    """

    alone = True

    def __init__(self, window: WorkspaceHost, place: LedgerLocation | None = None) -> None:
        super().__init__(window)
        self._session: Session = window.session
        self._theme: Theme = window.theme
        self._say: Callable[[str], None] = window.show_status
        self._tell: Callable[[Problem], None] = window.show_problem
        place = place or LedgerLocation(default_ledger(), default_settings())
        self.controller = ReleaseController(window.service, place, self)
        self.ledger = LedgerState(place)
        self.asking: QMessageBox | None = None
        self._stale = False
        self._lost: set[str] = set()
        """Releases whose draw was interrupted, as found when the ledger was opened."""
        self._notices = dict.fromkeys(filter(None, [sentence(unsupported_reason())]))
        self.plan = PlanPage(self._theme)
        self._folder: Callable[[], str] = window.files.folder
        self._data = window.data
        self._looks = window.data.looks
        self._leave: Callable[[str], None] = window.show_study
        self.unfinished = Notices()
        self.plan.side_rows.addWidget(self.unfinished)
        for text, does in (
            ("Ledger…", partial(self.show_page, "Ledger")),
            ("Attack…", partial(self.show_page, "Attack")),
            ("Fill in an example", self.plan.fill_example),
        ):
            link = QPushButton(text)
            link.setObjectName("link")
            link.clicked.connect(lambda _=False, does=does: does())
            self.plan.detail_links.addWidget(link)
        self.example = link
        self.pages = QStackedWidget()
        self.pages.addWidget(self.plan)
        self._later = {"Result": self.plan.result_holder}
        for title in ("Ledger", "Attack"):
            holder = self._later[title] = QWidget()
            column = QVBoxLayout(holder)
            column.setContentsMargins(0, 0, 0, 0)
            back = QPushButton("‹ Back to the release")
            back.setObjectName("link")
            back.clicked.connect(lambda _=False: self.pages.setCurrentWidget(self.plan))
            row = QHBoxLayout()
            row.setContentsMargins(12, 3, 12, 0)
            row.addWidget(back)
            row.addStretch(1)
            column.addLayout(row)
            self.pages.addWidget(holder)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.pages, 1)
        self._connect()
        self.controller.looked_at = self._looks.files

    @classmethod
    def for_window(cls, window: WorkspaceHost) -> Self:
        """Build the workspace for a window."""
        return cls(window)

    def save_plan(self) -> None:
        """Save the plan as PLAN.json, for the release command."""
        try:
            plan = self.plan.draft.plan()
        except ReleaseError as error:
            self._say(f"There is no whole plan yet. {sentence_of(error)}")
            return
        self._save(plan.as_json(), "PLAN.json")
        if plan.declared.evaluation:
            self._say(
                "A plan’s file has no place for the texts on NIST SP 800-226: type them here."
            )

    def _save(self, content: dict[str, Any], name: str) -> None:
        path, _ = QFileDialog.getSaveFileName(self, "Save plan", name, "Plan (*.json)")
        if path:
            try:
                text = json.dumps(content, indent=2, ensure_ascii=False)
                write_whole(Path(path), f"{text}\n".encode())
            except OSError as error:
                self._failed(error)

    def export_file(self) -> None:
        """Export the published output; on the first page the plan."""
        if self.front == "Plan":
            self.save_plan()
        elif self._made("result") and self.result.export_button.isEnabled():
            self.result.export()
        else:
            self._say(WHY_NO_EXPORT)

    def show_part(self, key: str) -> None:
        """Show a page or the ledger window; *draw* shows the first incomplete step."""
        if key == "ledger":
            self.ledger_window.bring_up()
            return
        self.show_page({"draw": "plan", "save": "plan"}.get(key, key).capitalize())
        if key == "save":
            self.save_plan()
        elif key in ("plan", "draw"):
            self.plan.go_to_first()

    def tab_areas(self) -> tuple[QWidget, ...]:
        """Return the parts that Tab goes through, in order; of a result its picture first."""
        first = (self.result.picture,) if self._made("result") else ()
        return (*first, *self.plan.tab_areas())

    def minimumSizeHint(self) -> QSize:
        """Return a small size: the parts scroll."""
        return QSize(240, 200)

    def showEvent(self, event: QShowEvent) -> None:
        """Read the ledger: another process may have changed it."""
        super().showEvent(event)
        self._show_unfinished()
        self._show_open_file()
        self._read_ledger()
        self.plan.focus_start()

    def close_workspace(self) -> None:
        """Stop background work; a release continues in its own process."""
        self._looks.counted.disconnect(self._counted)
        self._looks.failed.disconnect(self._failed)
        self._theme.changed.disconnect(self.plan.update_page)
        self.plan.close_page()
        self.controller.close()
        if self._made("result"):
            self.result.close_page()

    # Pages; except for the plan each is built on first use

    @cached_property
    def result(self) -> ResultPage:
        """Result page."""
        page = ResultPage(self._theme, self._folder)
        page.publish_requested.connect(self.controller.publish)
        page.withdraw_requested.connect(
            lambda result: self._ask_to_withdraw(
                result.release, partial(self.controller.withdraw, result)
            )
        )
        page.message.connect(self._say)
        page.failed.connect(self._failed)
        page.state_changed.connect(self._ended)
        return self._put("Result", page)

    @cached_property
    def books(self) -> LedgerPage:
        """Ledger page."""
        return self._put("Ledger", self._ledger_page())

    @cached_property
    def ledger_window(self) -> LedgerWindow:
        """Ledger window."""
        window = LedgerWindow(self._ledger_page(), self)
        window.wanted.connect(self._read_ledger)
        return window

    def _ledger_page(self) -> LedgerPage:
        page = LedgerPage(self._theme)
        page.change_requested.connect(self.controller.change)
        page.opened.connect(self._look_again)
        page.failed.connect(self._failed)
        self.controller.entries_read.connect(page.show_entries)
        self.controller.state_read.connect(page.show_ledger)
        page.show_ledger(self.ledger)
        return page

    @property
    def _ledger_seen(self) -> bool:
        return self.front == "Ledger" or (
            self._made("ledger_window") and self.ledger_window.isVisible()
        )

    def _read_ledger(self) -> None:
        """Read balances, then entries."""
        self._stale = (
            self.controller.busy
        )  # deferred until running work ends, which it must not replace
        if not self._stale:
            self.controller.read()

    @cached_property
    def attack(self) -> AttackPage:
        """Attack page."""
        page = AttackPage(self._theme)
        page.audit_requested.connect(self._audit)
        self.controller.audited.connect(page.show_audit)
        return self._put("Attack", page)

    def _put(self, title: str, page: Page) -> Page:
        layout = self._later[title].layout()
        assert layout is not None
        layout.addWidget(page)
        return page

    def _made(self, name: str) -> bool:
        return name in self.__dict__

    @property
    def front(self) -> str:
        """Title of the current page: Plan, Result, Ledger or Attack."""
        shown = self.pages.currentWidget()
        if shown is self.plan:
            return "Result" if self.plan.page == RESULT_PAGE else "Plan"
        return next(title for title, holder in self._later.items() if holder is shown)

    def show_page(self, title: str) -> None:
        """Show a page by its title; the result only if there is one."""
        if title in ("Plan", "Result"):
            self.pages.setCurrentWidget(self.plan)
            if title == "Result" and self._made("result"):
                self.plan.show_page(RESULT_PAGE)
            elif self.front != "Plan":
                self.plan.show_page(PEOPLE_PAGE)
            return
        self.pages.setCurrentWidget(self._later[title])

    def _connect(self) -> None:
        controller, plan = self.controller, self.plan
        plan.status_changed.connect(self._update_status)
        controller.state_read.connect(self._state_read)
        controller.rehearsed.connect(plan.show_rehearsals)
        controller.drawn.connect(self._drawn)
        controller.opened.connect(
            lambda population: plan.show_draft(replace(plan.draft, population=population))
        )
        controller.failed.connect(self._failed)
        for signal in (controller.busy_changed, controller.rehearsing_changed):
            signal.connect(lambda _: self._busy_changed())
        controller.compared.connect(plan.show_comparison)
        plan.rehearsal_requested.connect(controller.rehearse)
        plan.comparison_requested.connect(controller.compare_costs)
        plan.draw_requested.connect(controller.draw)
        plan.stop_requested.connect(controller.cancel_draw)
        controller.phase_changed.connect(plan.show_phase)
        plan.check_requested.connect(lambda checked, enter: controller.check(checked, enter=enter))
        controller.checked.connect(plan.show_checked)
        plan.format_requested.connect(self._find_format)
        controller.found.connect(plan.show_found_format)
        plan.map_chosen.connect(controller.find_map)
        controller.map_found.connect(plan.add_map)
        plan.maps_requested.connect(controller.read_maps)
        controller.maps_read.connect(plan.show_maps)
        plan.region_copy_requested.connect(self._copy_region)
        plan.epsilon_copy_requested.connect(self._copy_epsilon)
        plan.cancelled.connect(lambda: self._leave(self._session.state.request.study))
        plan.who.wanted.connect(controller.open_population)
        self.pages.currentChanged.connect(self._page_selected)
        self._looks.counted.connect(self._counted)
        self._looks.failed.connect(self._failed)
        if self._looks.problem is not None:
            self._failed(self._looks.problem)
        self._theme.changed.connect(plan.update_page)

    # Slots: window

    def _update_status(self) -> None:
        """Set file, state of the ledger and stamp for the status bar."""
        plan, ledger = self.plan, self.ledger
        checked = "no ledger yet"
        if ledger.exists:
            checked = "ledger with a problem" if ledger.problem else "ledger in order"
        name = Path(plan.draft.text("data")).name
        now = " · ".join(filter(None, (name, checked))), "draft: nothing is spent", "plain"
        result = self.result.result if self._made("result") else None
        if plan.releasing:
            now = now[0], "releasing", "plain"
        elif plan.page == RESULT_PAGE and result is not None:
            withdrawn = result.release.state == "withdrawn"
            kind = "withdrawn" if withdrawn else "private"
            stamp = f"{kind} release · ε = {rounded_up(result.plan.epsilon)}"
            now = now[0], stamp, "plain" if withdrawn else "good"
        if now != (self.status, self.stamp, self.stamp_tone):
            self.status, self.stamp, self.stamp_tone = now
            self.status_changed.emit()

    def _counted(self) -> None:
        """Show how often the true map of the open files was shown."""
        self.controller.looked_at = self._looks.files
        self._show_open_file()
        if self.isVisible():
            self._read_ledger()

    def _open_file(self) -> Path | None:
        """Return the open file; None for several files or synthetic data."""
        data = self._data.current
        if data is None or data.synthetic or data.files.together:
            return None
        return data.files.parts[0].path

    def _show_open_file(self) -> None:
        """Offer the format of the open file and the values of the map."""
        data, path = self._data.current, self._open_file()
        words = ""
        if data is not None and path is not None:
            words = format_words(data.mapping, next(iter(data.dialects), None))
        unnamed = path is not None and data is not None and data.mapping.user is None
        self.plan.show_open_file(path, words, unnamed=unnamed)
        self.plan.show_map_epsilon(self._map_epsilon())

    def _map_epsilon(self) -> str:
        """Return ε of the map as text; "" if there is none."""
        study = get_study(next(c.id for c in study_infos() if c.workspace == MAP))
        request = self._session.state.request_of(study.id)
        found = [request[p.key] for p in study.parameters if p.symbol == "ε"]
        return format_number(found[0], digits=12, typeset=False) if found else ""

    def _find_format(self) -> None:
        """Adopt the format of the open file, on request only."""
        data, path = self._data.current, self._open_file()
        if data is not None and path is not None:
            draft = self.plan.draft
            self.plan.show_draft(replace(draft, typed={**draft.typed, "data": str(path)}))
            self.controller.find_format(path, data.mapping)

    def _copy_region(self) -> None:
        """Copy region and time range of the map, on request only, and mark them as copied."""
        selected = self._session.state.selection
        if selected is None or selected.region.plane is not None:
            self.plan.note(self.plan.page, "The map shows no region on the Earth to copy.")
            return
        if selected.region.polygon is not None:
            self._confirm(WHOLE_BOX, "Copy the box", partial(self._copy_box, selected))
            return
        self._copy_box(selected)

    def _copy_box(self, selected: Selection) -> None:
        texts = {"box": ", ".join(map(plain, selected.region.declared))}
        for key, text in (("start", selected.start), ("end", selected.end)):
            if text is not None:
                texts[key] = text
        self.plan.show_draft(self.plan.draft.with_copies(texts))
        people = self.plan.cells.edits.get(PEOPLE)
        if people is not None:
            people.setFocus()

    def _copy_epsilon(self) -> None:
        """Copy ε of the map, on request only, and mark it as copied."""
        text = self._map_epsilon()
        if text:
            self.plan.show_draft(self.plan.draft.with_copies({"epsilon": text}))
            self.plan.next.setFocus()

    # Slots: controller

    def _state_read(self, state: LedgerState) -> None:
        self.ledger = state
        notices = [notice for notice in state.notices if notice != INTERRUPTED_DRAW]
        self._notices = dict.fromkeys((*self._notices, *notices))
        lost = [release.id for release in state.releases if release.state == "lost"]
        if INTERRUPTED_DRAW in state.notices:
            self._lost.update(lost[-state.notices.count(INTERRUPTED_DRAW) :])
        self.plan.show_ledger(state)
        self._show_unfinished()
        if self._ledger_seen:
            self.controller.read_entries()

    def _drawn(self, result: Result) -> None:
        self.pages.setCurrentWidget(self.plan)
        first = self.plan.page != RESULT_PAGE
        error = self.plan.forecast_of(result.plan)
        self.result.show_result(result, self.ledger, error)
        if first:
            self.result.focus_start()
        self._show_unfinished()

    def _ended(self, state: str) -> None:
        """Show the state of a result, with its certificate in *Details*."""
        self.plan.result_sections = self.result.sections
        self.plan.show_ended(state)

    def _failed(self, error: Exception) -> None:
        if self._made("result"):
            self.result.publishing_failed()
        text = self._failure_text(error)
        if self.front in ("Plan", "Result") and self.isVisible():
            self.plan.failed(text)
        else:
            self.plan.show_releasing(False)
            self._tell(Problem("release", text))

    def _failure_text(self, error: Exception) -> str:
        """Return the message on an error for the page in front."""
        if isinstance(error, RefusedError):
            account = self.ledger.account(self.plan.draft.population)
            if account is None:
                return sentence_of(error)
            spent = account.remaining - error.remaining
            if self.plan.releasing and spent > 0:
                return (
                    f"Another window has spent {rounded_up(spent)}; "
                    f"{rounded_down(error.remaining)} remains. Choose a smaller ε. Nothing was "
                    "spent."
                )
            return refusal_text(account)
        if isinstance(error, ChangedOutputError) and self.front == "Result":
            return CHANGED_RESULT
        return sentence_of(error)

    def _busy_changed(self) -> None:
        self.plan.show_busy(self.controller.busy, self.controller.rehearsing)
        if self._made("attack"):
            self.attack.show_busy(self.controller.rehearsing)
        self.unfinished.setEnabled(not self.controller.busy)
        if self._stale:
            self._read_ledger()

    def _page_selected(self) -> None:
        if self.front == "Ledger":
            self.books.show_ledger(self.ledger)
            self.controller.read_entries()
        elif self.front == "Attack":
            self.attack.show_plan(self.plan.price_plan())

    # Releasing

    def _ask_to_withdraw(self, release: Release, does: Callable[[], object]) -> None:
        """Ask for confirmation before a release is withdrawn, which cannot be undone."""
        text = (
            f"Withdraw release {release.seq}?\n\nThe ledger and all later certificates will list "
            "it as withdrawn. This cannot be undone.\n\n"
            f"The cost of {rounded_up(release.epsilon)} stays spent. Copies that others already "
            "have stay with them."
        )
        self._confirm(text, "Withdraw", does, "Keep the release")

    def _confirm(
        self, text: str, doing: str, does: Callable[[], object], not_doing: str = "Cancel"
    ) -> QPushButton:
        """Ask in a dialog whose default, also for Enter and Esc, changes nothing."""
        box = self.asking = QMessageBox(self)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setIcon(QMessageBox.Icon.NoIcon)
        box.setWindowTitle("Release")
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(text)
        button = box.addButton(doing, QMessageBox.ButtonRole.AcceptRole)
        keep = box.addButton(not_doing, QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(keep)
        box.setEscapeButton(keep)
        button.clicked.connect(does)
        box.finished.connect(self._asked)
        box.open()
        return button

    def _asked(self, *_: Any) -> None:
        if self.asking is not None:
            self.asking.deleteLater()
            self.asking = None

    def _show_unfinished(self) -> None:
        """Offer to continue or cancel interrupted releases."""
        rows: list[tuple[str, list[Offer]]] = []
        if protocol := PROTOCOLS.get(self._in_front()[0]):
            text = f"{protocol.label}, in front: {STAMP}. {protocol.sentence}"
            rows.append((text, [("Save it as a simulation…", self._save_simulation)]))
        front = self.result.result if self._made("result") else None
        shown = None if front is None else front.release.id
        left = [
            r
            for r in self.ledger.releases
            if r.state in UNFINISHED and r.id != shown and (r.state != "lost" or r.id in self._lost)
        ]
        rows += [self._unfinished_row(release) for release in left]
        self.unfinished.show_rows(self._notices, rows)

    def _save_simulation(self) -> None:
        """Save a demonstration as a plan that is marked as no release."""
        self._save(simulation_document(*self._in_front(), None, {}), "PLAN.simulation.json")

    def _in_front(self) -> tuple[str, dict[str, str]]:
        """Return id and parameters of the current simulation, if any."""
        request = self._session.state.request
        study, values = get_study(request.study), dict(request.values)
        read = (p.key for p in study.parameters if relevant(p, values, request.quantity))
        return study.simulation_id(values), {key: str(values[key]) for key in read}

    def _unfinished_row(self, release: Release) -> tuple[str, list[Offer]]:
        cost = rounded_up(release.epsilon)
        message = UNFINISHED[release.state].format(cost=cost)
        text = f"{message} Release {release.seq}, ε = {cost}, {release.date[:10]}."
        offered: list[Offer] = []
        if release.state == "reserved":
            give_back = lambda ledger: ledger.abandon(release.id)  # noqa: E731
            offered = [
                ("Continue", partial(self._continue, release)),
                ("Refund", partial(self.controller.change, give_back)),
            ]
        elif release.state == "committed":
            withdraw = lambda ledger: ledger.withdraw(release.id)  # noqa: E731
            offered = [
                ("Open", partial(self._look_again, release)),
                (
                    "Withdraw…",
                    lambda: self._ask_to_withdraw(
                        release, partial(self.controller.change, withdraw)
                    ),
                ),
            ]
        return text, offered

    def _continue(self, release: Release) -> None:
        """Draw a prepared release as planned, from the file named on the page."""
        data = self.plan.draft.text("data")
        if not data:
            self.show_page("Plan")
            self.plan.show_page(FILE_PAGE)
            self.plan.note(FILE_PAGE, "Choose the file, then continue the interrupted release.")
            self.plan.path.setFocus()
            return
        self.plan.show_releasing(True)
        self.controller.go_on(release.id, Path(data))

    def _look_again(self, release: Release) -> None:
        """Open a stored output again, without cost."""
        self.controller.look(release.id)

    def _audit(self, runs: int, users: int) -> None:
        plan = self.plan.price_plan()
        if plan is not None:
            self.controller.audit(plan, runs, users)
