"""The time range that runs over the check-ins by itself."""

from dataclasses import dataclass, replace

from explorer.engine.session.session import Session
from explorer.studies.base.study import Origin, Request
from explorer.ui.panels.time_range import TimeRange


@dataclass(frozen=True)
class _Times:
    """A range of time, and where it came from."""

    start: str | None
    end: str | None
    came: Origin


class TimeTrack:
    """Moves a range from the first check-in to the last; of all times, lets the end move alone.

    Of a range that was moved by itself nobody knows that it was fixed beforehand: it counts as
    drawn, until it is back where it began.

    Parameters
    ----------
    session : Session
    times : TimeRange
    """

    study, key = "", "time"

    def __init__(self, session: Session, times: TimeRange) -> None:
        self._session, self._times = session, times
        self.button = times.run
        self.refuse = times.refuse_run
        self._range = times.slider.range

    def value(self, request: Request) -> object:
        """Return the range of a question; without data, none."""
        chosen = request.selection
        return chosen and _Times(chosen.start, chosen.end, chosen.time_from)

    def begin(self, _value: object) -> float:
        """Keep how long the range is; return how far along it lies."""
        self._range = begin, end = self._times.slider.range
        low, high = self._times.slider.scale
        room = high - low - (end - begin)
        return (begin - low) / room if room else 1.0

    def at(self, place: float) -> object:
        """Return the range at a place, in whole steps of the slider."""
        (low, high), step = self._times.slider.scale, self._times.slider.step
        begin, end = self._range
        if (begin, end) == (low, high):
            moved = low, low + max(step, round(place * (high - low) / step) * step)
        else:
            room = high - low - (end - begin)
            start = min(low + round(place * room / step) * step, low + room)
            moved = start, start + end - begin
        return _Times(*self._times.instants(*moved), Origin.DRAWN)

    def ask(self, value: object, gesture: str) -> None:
        """Select a range."""
        chosen = self._session.state.selection
        assert isinstance(value, _Times)
        if chosen is not None:
            moved = replace(chosen, start=value.start, end=value.end, time_from=value.came)
            self._session.set_selection(moved, gesture)
