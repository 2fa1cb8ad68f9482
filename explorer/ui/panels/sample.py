"""Choice between all users and a sample of them."""

from dataclasses import replace
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from explorer.studies.base.numbers import format_number
from explorer.studies.base.study import Kind, Parameter, Result, Scale, Selection
from explorer.ui.base.styled import plain_label, styled_label
from explorer.ui.widgets.boxes import ChoiceBox
from explorer.ui.widgets.number_slider import NumberSlider
from explorer.ui.widgets.value_field import ValueField

MAX_USERS = 100_000_000
MAX_SEED = 2**31 - 1
FIRST_NUMBER, FIRST_SHARE = 200, 0.1
"""Initial sample sizes: the number of users in the heatmap paper, and a tenth."""
SLIDE = "drag the number of users"
SLIDER_HELP = "How many users are in the map, all at the right end; the maps follow while you drag."
ALL, NUMBER, SHARE = "all", "number", "share"
MODES = ((ALL, "All users"), (NUMBER, "At most this many users"), (SHARE, "A share of the users"))
MODE_HELP = (
    "All users with a check-in inside region and time range, or a sample of them, picked by a hash "
    "of their ids.\n\nA number: the users with the smallest hashes. One more user in the file may "
    "displace another one, so the map costs 2ε for one user more or less.\nA share: everyone whose "
    "hash lies below a threshold, each on their own; the map costs ε as without a sample."
)


class UsersSample(QWidget):
    """All users, a number, or a share, with the resulting number.

    Signals
    -------
    changed(Selection, object)
        Selection with another sample, and its gesture (None: an undo step of its own).
    gesture_ended()
        A move of the slider ended.
    """

    changed = Signal(object, object)
    gesture_ended = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._selection: Selection | None = None
        self._scale = _scale(NUMBER, 1)
        self.slider = NumberSlider(self._scale)
        self.slider.number_moved.connect(self._slid)
        self.slider.gesture_ended.connect(self.gesture_ended)
        self.why = styled_label("muted", word_wrap=True)
        self._last_number, self._last_share = FIRST_NUMBER, FIRST_SHARE
        self.mode = ChoiceBox("Which users are in the map")
        self.mode.offer(MODES, ALL)
        self.mode.setToolTip(MODE_HELP)
        self.mode.activated.connect(self._mode_selected)
        self.number = ValueField(lambda n: _whole("number of users", n, 1, MAX_USERS))
        self.number.setAccessibleName("Number of users to sample")
        self.number.set_help(
            "How many of the users with a check-in inside region and time range are in the map: "
            "those with the smallest hashes of their ids; all of them if there are fewer."
        )
        self.number.entered.connect(lambda n: self._take(users=int(n)))
        self.number.stepped.connect(self._step_number)
        self.share = ValueField(lambda percent: _percentage(percent))
        self.share.setAccessibleName("Share of users to sample, in percent")
        self.share.set_help("Per cent of the users; who is in depends on the hash of their id.")
        self.share.entered.connect(lambda percent: self._take(share=_of_percent(percent)))
        self.share.stepped.connect(self._step_share)
        self.seed = ValueField(lambda n: _whole("sample seed", n, 0, MAX_SEED))
        self.seed.setAccessibleName("Seed of the sample of users")
        self.seed.set_help("Key of the hash, public: the same seed picks the same users.")
        self.seed.entered.connect(lambda n: self._change(None, data_seed=int(n)))
        self.seed.stepped.connect(self._step_seed)
        self.count = styled_label("muted", word_wrap=True)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(4)
        grid.addWidget(self.mode, 0, 0, 1, 2)
        grid.addWidget(self.slider, 1, 0, 1, 2)
        self._labels = {}
        for row, (key, text, field) in enumerate(
            (
                (NUMBER, "Number", self.number),
                (SHARE, "Per cent", self.share),
                ("seed", "Seed", self.seed),
            ),
            2,
        ):
            label = plain_label(text)
            label.setBuddy(field)
            self._labels[key] = label
            grid.addWidget(label, row, 0)
            grid.addWidget(field, row, 1)
        grid.addWidget(self.count, 5, 0, 1, 2)
        grid.addWidget(self.why, 6, 0, 1, 2)
        grid.setColumnStretch(1, 1)
        self.set_data(1)
        self.show_selection(None)

    def set_data(self, users: int, still: str = "") -> None:
        """Set the number of users; `still` disables the slider with a reason."""
        self._users = users
        self.slider.setEnabled(users > 1 and not still)
        self.slider.setToolTip(still or SLIDER_HELP)
        self.why.setText(still)
        self.why.setVisible(bool(still))

    def show_selection(self, selection: Selection | None) -> None:
        """Show the present sample."""
        self._selection = selection
        mode = _mode_of(selection)
        self.setEnabled(selection is not None)
        self.mode.setCurrentIndex(self.mode.findData(mode))
        for key, field in ((NUMBER, self.number), (SHARE, self.share), ("seed", self.seed)):
            shown = mode != ALL if key == "seed" else mode == key
            for widget in (self._labels[key], field):
                widget.setVisible(shown)
        self._show_place(mode)
        if selection is None:
            self.count.setText("")
            return
        if selection.users is not None:
            self._last_number = selection.users
            self.number.set_number(selection.users)
        if selection.share is not None:
            self._last_share = selection.share
            self.share.set_number(_to_percent(selection.share))
        self.seed.set_number(selection.data_seed)

    def _show_place(self, mode: str) -> None:
        """Set the slider to the sample; all users are the maximum."""
        scale = _scale(mode, self._users)
        if scale != self._scale:
            self._scale = scale
            self.slider.set_parameter(scale)
        selection, number, text = self._selection, scale.high, "all"
        if selection is not None and selection.users is not None:
            number, text = selection.users, f"{selection.users:,}"
        elif selection is not None and selection.share is not None:
            number = _to_percent(selection.share)
            text = f"{format_number(number)} %"
        self.slider.set_number(number)
        self.slider.setAccessibleName(f"{scale.name}, slider, {text}")

    def _slid(self, number: float) -> None:
        if self._scale.key == SHARE:
            self._take(share=_of_percent(number), gesture=SLIDE)
        else:
            everybody = number >= self._users
            self._take(users=None if everybody else int(number), gesture=SLIDE)

    def show_result(self, result: Result) -> None:
        """Show the number of users in the map."""
        try:
            used, there = (result.readout(k).value for k in ("users_used", "users_in_region"))
        except KeyError:
            return
        text = f"{used:,.0f} of {there:,.0f} users with a check-in inside region and time range"
        sample_size = (
            result.request.selection.users if result.request.selection is not None else None
        )
        if sample_size is not None and there is not None and there < sample_size:
            text += f"; {sample_size:,} were asked for, so all are used"
        if text != self.count.text():
            self.count.setText(text)

    def _mode_selected(self, _index: int) -> None:
        mode = self.mode.currentData()
        if self._selection is not None and mode != _mode_of(self._selection):
            self._take(
                users=self._last_number if mode == NUMBER else None,
                share=self._last_share if mode == SHARE else None,
            )

    def _take(
        self, users: int | None = None, share: float | None = None, gesture: str | None = None
    ) -> None:
        self._change(gesture, users=users, share=share)

    def _change(self, gesture: str | None, **changes: Any) -> None:
        if self._selection is not None:
            self.changed.emit(replace(self._selection, **changes), gesture)

    def _step_number(self, step: int) -> None:
        if self._selection is not None and self._selection.users is not None:
            users = self._selection.users
            size = max(1, 10 ** (len(str(users)) - 2))
            self._take(users=min(max(1, users + step * size), MAX_USERS), gesture="users")

    def _step_share(self, step: int) -> None:
        if self._selection is not None and self._selection.share is not None:
            percent = min(max(1.0, round(_to_percent(self._selection.share)) + step), 100.0)
            self._take(share=_of_percent(percent), gesture="users")

    def _step_seed(self, step: int) -> None:
        if self._selection is not None:
            seed = min(max(0, self._selection.data_seed + step), MAX_SEED)
            self._change("sample seed", data_seed=seed)


def _scale(mode: str, users: int) -> Parameter:
    """Return the range of the slider: per cent, or numbers up to all users."""
    if mode == SHARE:
        name = "Share of users to sample, in percent"
        return Parameter(SHARE, "", name, "", Kind.INTEGER, 100, 1, 100)
    name = "Number of users to sample"
    return Parameter(NUMBER, "", name, "", Kind.INTEGER, users, 1, users, Scale.LOG)


def _mode_of(selection: Selection | None) -> str:
    if selection is None or not selection.sampled:
        return ALL
    return SHARE if selection.users is None else NUMBER


def _to_percent(share: float) -> float:
    return float(f"{100 * share:.12g}")


def _of_percent(percent: float) -> float:
    return float(f"{percent / 100:.14g}")


def _whole(name: str, value: float, low: int, high: int) -> int:
    if value != round(value) or not low <= value <= high:
        raise ValueError(f"{name}: {value:g} is not a whole number of {low:,} to {high:,}")
    return int(value)


def _percentage(value: float) -> float:
    if not 1e-6 <= value <= 100:
        raise ValueError(f"share of users: {value:g} % is not between 0.000001 and 100 %")
    return value
