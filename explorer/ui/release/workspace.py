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
    QCheckBox,
    QFileDialog,
    QHBoxLayout,
    QMessageBox,
    QPushButton,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from explorer.engine.session.session import Session
from explorer.files import write_whole
from explorer.geography.plane import plain
from explorer.release.errors import RefusedError, ReleaseError
from explorer.release.file_check import FileCheck
from explorer.release.ledger.settings import default_ledger, default_settings
from explorer.release.ledger.state import Account, Release
from explorer.release.ledger.storage import unsupported_reason
from explorer.release.messages import price_text, sentence, zone_text
from explorer.release.pipeline import LedgerLocation
from explorer.release.plan import Plan
from explorer.release.rounding import rounded_up
from explorer.release.simulations import PROTOCOLS, STAMP, simulation_document
from explorer.studies.base.study import relevant
from explorer.studies.registry import get_study, study_infos
from explorer.ui.base.errors import Problem
from explorer.ui.base.styled import styled_label
from explorer.ui.base.theme import Theme
from explorer.ui.controllers.workspace import Workspace
from explorer.ui.controllers.workspace_host import WorkspaceHost
from explorer.ui.release.attack_page import AttackPage
from explorer.ui.release.controller import ReleaseController, Result
from explorer.ui.release.draft import LedgerState, refusal_text, sentence_of
from explorer.ui.release.ledger_page import LedgerPage, LedgerWindow
from explorer.ui.release.plan_page import PlanPage
from explorer.ui.release.result_page import ResultPage

Offer = tuple[str, Callable[[], object]]
"""Button text and action."""


class Notices(QWidget):
    """Notices with buttons; hidden if empty."""

    def __init__(self) -> None:
        super().__init__()
        self._rows = QVBoxLayout(self)
        self._rows.setContentsMargins(12, 6, 12, 0)

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
    row = QHBoxLayout(widget := QWidget())
    row.setContentsMargins(0, 0, 0, 0)
    row.addWidget(styled_label("", message, word_wrap=True), 1)
    for text, does in offers:
        button = QPushButton(text)
        button.setAccessibleName(f"{text}: {message}")
        button.clicked.connect(lambda _=False, does=does: does())
        row.addWidget(button)
    return widget


Page = TypeVar("Page", bound=QWidget)
MAP = "map"
"""Workspace from whose study ε is copied."""
UNFINISHED = {
    "reserved": "Prepared, not drawn",
    "committed": "Finished, not published",
}
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
        self._paying: tuple[Plan, QPushButton] | None = None
        """Confirmation dialog and its button."""
        self._anyway: QCheckBox | None = None  # keeps the dialog alive while open
        self._after_check: Plan | None = None
        """Plan confirmed while its file was still being checked."""
        self._stale = False
        self._notices = dict.fromkeys(filter(None, [sentence(unsupported_reason())]))
        self.plan = PlanPage(self._theme)
        self._folder: Callable[[], str] = window.files.folder
        self._data = window.data
        self._looks = window.data.looks
        self.unfinished = Notices()
        self.pages = QTabWidget(documentMode=True)
        self.pages.setObjectName("sides")
        self.pages.setAccessibleName("Pages of the release")
        self.pages.tabBar().setDrawBase(False)
        self.pages.addTab(self.plan, "Plan")
        self._later = {title: QWidget() for title in ("Result", "Ledger", "Attack")}
        for title, holder in self._later.items():
            QVBoxLayout(holder).setContentsMargins(0, 0, 0, 0)
            self.pages.addTab(holder, title)
        self.pages.setTabEnabled(1, False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.unfinished)
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
        """Show a page or the ledger window, or start drawing."""
        if key == "ledger":
            self.ledger_window.bring_up()
            return
        self.show_page({"draw": "plan", "save": "plan"}.get(key, key).capitalize())
        if key == "save":
            self.save_plan()
        elif key in ("plan", "draw"):
            self.plan.go_to_first()
        if key == "draw":
            self.plan.draw.click()

    def minimumSizeHint(self) -> QSize:
        """Return a small size: the parts scroll."""
        return QSize(240, 200)

    def showEvent(self, event: QShowEvent) -> None:
        """Read the ledger: another process may have changed it."""
        super().showEvent(event)
        self._show_unfinished()
        self.plan.show_open_file(self._open_file())
        self._read_ledger()

    def close_workspace(self) -> None:
        """Stop background work; a release continues in its own process."""
        self._looks.counted.disconnect(self._counted)
        self._looks.failed.disconnect(self._failed)
        self._theme.changed.disconnect(self.plan.update_page)
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
        """Title of the current page."""
        return self.pages.tabText(self.pages.currentIndex())

    def show_page(self, title: str) -> None:
        """Show a page by its title."""
        self.pages.setCurrentWidget(self._later.get(title, self.plan))

    def _connect(self) -> None:
        controller, plan = self.controller, self.plan
        controller.state_read.connect(self._state_read)
        controller.rehearsed.connect(plan.show_rehearsals)
        controller.drawn.connect(self._drawn)
        controller.opened.connect(
            lambda population: plan.show_draft(replace(plan.draft, population=population))
        )
        controller.failed.connect(self._failed)
        for signal in (controller.busy_changed, controller.rehearsing_changed):
            signal.connect(lambda _: self._busy_changed())
        plan.rehearsal_requested.connect(controller.rehearse)
        plan.draw_requested.connect(self._ask_to_spend)
        plan.check_requested.connect(controller.check)
        controller.checked.connect(self._checked)
        plan.format_requested.connect(self._find_format)
        controller.found.connect(lambda found: plan.show_draft(plan.draft.with_format(found)))
        plan.copy_requested.connect(self._copy_from_map)
        plan.who.wanted.connect(controller.open_population)
        self.pages.currentChanged.connect(self._page_selected)
        self._looks.counted.connect(self._counted)
        self._looks.failed.connect(self._failed)
        if self._looks.problem is not None:
            self._failed(self._looks.problem)
        self._theme.changed.connect(plan.update_page)

    # Slots: window

    def _counted(self) -> None:
        """Show how often the true map of the open files was shown."""
        self.controller.looked_at = self._looks.files
        self.plan.show_open_file(self._open_file())
        if self.isVisible():
            self._read_ledger()

    def _open_file(self) -> Path | None:
        """Return the open file; None for several files or synthetic data."""
        data = self._data.current
        if data is None or data.synthetic or data.files.together:
            return None
        return data.files.parts[0].path

    def _find_format(self) -> None:
        """Adopt the format of the open file, on request only."""
        data, path = self._data.current, self._open_file()
        if data is not None and path is not None:
            draft = self.plan.draft
            self.plan.show_draft(replace(draft, typed={**draft.typed, "data": str(path)}))
            self.controller.find_format(path, data.mapping)

    def _copy_from_map(self) -> None:
        """Copy region and ε of the map, on request only, and mark them as copied."""
        selected = self._session.state.selection
        draft, typed, copied = self.plan.draft, {**self.plan.draft.typed}, set()
        study = get_study(next(c.id for c in study_infos() if c.workspace == MAP))
        request = self._session.state.request_of(study.id)
        for p in study.parameters:
            if p.symbol == "ε":
                typed["epsilon"] = str(request[p.key])
                copied.add("epsilon")
        if selected is not None and selected.region.plane is None:
            typed["box"] = ", ".join(map(plain, selected.region.declared))
            copied.add("box")
        self.plan.show_draft(
            replace(draft, typed=typed, copied=draft.copied | copied, untouched=False)
        )

    # Slots: controller

    def _state_read(self, state: LedgerState) -> None:
        self.ledger = state
        self._notices = dict.fromkeys((*self._notices, *state.notices))
        self.plan.show_ledger(state)
        self._show_unfinished()
        if self._ledger_seen:
            self.controller.read_entries()

    def _drawn(self, result: Result) -> None:
        self.pages.setTabEnabled(1, True)
        self.result.show_result(result)
        self._show_unfinished()
        self.show_page("Result")

    def _failed(self, error: Exception) -> None:
        self._after_check = None
        if self._made("result"):
            self.result.publishing_failed()
        text = sentence_of(error)
        if isinstance(error, RefusedError):
            account = self.ledger.account(self.plan.draft.population)
            text = refusal_text(account) if account is not None else text
        self._tell(Problem("release", text))

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

    def _ask_to_spend(self, plan: Plan) -> None:
        """State the price and draw after confirmation."""
        account = self.ledger.account(plan.population)
        if account is None:
            return
        spend = f"Spend {rounded_up(plan.epsilon)} and release"
        button = self._confirm("", spend, partial(self._draw, plan))
        self._paying = (plan, button)
        self._show_paying(plan, account, button)
        if self.plan.checked is None:
            self.controller.check(plan)

    def _show_paying(self, plan: Plan, account: Account, button: QPushButton) -> None:
        """Show price and file check; low readability needs confirmation."""
        box, checked = self.asking, self.plan.checked
        if box is None:
            return
        price, zone = price_text(plan, account), zone_text(plan)
        text = (self.plan.same_people, self.plan.known_before, self.plan.readable, zone, price)
        box.setText("\n\n".join(filter(None, text)))
        if checked is not None and checked.rows.under_half and box.checkBox() is None:
            anyway = self._anyway = QCheckBox(
                f"Release although only {checked.rows.count} can be read"
            )
            anyway.toggled.connect(button.setEnabled)
            button.setEnabled(False)
            box.setCheckBox(anyway)

    def _checked(self, plan: Plan, check: FileCheck) -> None:
        """Show the result of a file check and continue with what waited for it."""
        self.plan.show_checked(plan, check)
        if self.asking is not None and self._paying is not None:
            request, button = self._paying
            account = self.ledger.account(request.population)
            if account is not None:
                self._show_paying(request, account, button)
        agreed, self._after_check = self._after_check, None
        if agreed is None:
            return
        if check.rows.under_half:  # not known at the time of confirmation
            self._ask_to_spend(agreed)
        else:
            self._draw(agreed)

    def _draw(self, plan: Plan) -> None:
        if self.plan.checked is None and self.controller.busy:
            self._after_check = plan
            self.plan.words.setText("Checking the file first.")
            return
        self.controller.draw(plan)
        self.plan.words.setText("Drawing, in a process of its own; it is not tried again.")

    def _ask_to_withdraw(self, release: Release, does: Callable[[], object]) -> None:
        """Ask for confirmation before a release is withdrawn, which cannot be undone."""
        text = (
            "Withdraw this release? The ledger and all later certificates will list it as "
            "withdrawn. This can’t be undone.\n\n"
            f"Its cost of {rounded_up(release.epsilon)} stays spent. Copies that others have "
            "already stay with them."
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
        self._paying = None
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
        left = [r for r in self.ledger.releases if r.state in UNFINISHED and r.id != shown]
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
        text = f"{UNFINISHED[release.state]}: {release.mechanism}, ε {rounded_up(release.epsilon)}"
        if release.state == "reserved":
            give_back = lambda ledger: ledger.abandon(release.id)  # noqa: E731
            offered: list[Offer] = [
                ("Continue", partial(self._continue, release)),
                ("Give back", partial(self.controller.change, give_back)),
            ]
        else:
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
        return f"{text}, {release.date}", offered

    def _continue(self, release: Release) -> None:
        """Draw a prepared release as planned, from the file named on the page."""
        data = self.plan.draft.text("data")
        if not data:
            self.show_page("Plan")
            self.plan.words.setText("Name the file (point 5), then continue.")
            self.plan.path.setFocus()
            return
        self.controller.go_on(release.id, Path(data))

    def _look_again(self, release: Release) -> None:
        """Open a stored output again, without cost."""
        self.controller.look(release.id)

    def _audit(self, runs: int, users: int) -> None:
        plan = self.plan.price_plan()
        if plan is not None:
            self.controller.audit(plan, runs, users)
