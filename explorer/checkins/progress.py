"""Reports the progress of one load and raises when it is cancelled."""

import time
from collections.abc import Callable

from explorer.checkins.database import check
from explorer.checkins.model import IsCancelled, OnProgress, Progress

_SHARES = {"Preparing": 0.35, "Reading": 0.5, "Finding duplicates": 0.12, "Storing": 0.03}


class LoadProgress:
    """Reports the progress of one load and raises when it is cancelled."""

    def __init__(
        self,
        size: int,
        progress: OnProgress | None,
        cancelled: IsCancelled | None,
        needs_copy: bool,
    ) -> None:
        self._size = size
        self._progress = progress
        self._cancelled = cancelled
        self._start = time.perf_counter()
        self._last = 0.0
        self._stage = ""
        self._fraction = 0.0
        self._stages = list(_SHARES)
        self._total = sum(_SHARES.values())
        self._first = 0.0 if needs_copy else _SHARES["Preparing"]
        self.rows = 0
        self.bytes_done = 0
        self._part: tuple[int, int, int] | None = None

    def begin_part(self, bytes_before: int, size: int, rows_before: int) -> None:
        """Assign further progress to one of several files."""
        self._part = (bytes_before, size, rows_before)

    def tick(self, stage: str, share: float) -> None:
        """Report the share done of a stage, at most 20 times a second; raise if cancelled."""
        check(self._cancelled)
        if self._part is not None and stage in ("Preparing", "Reading"):
            before, size, _ = self._part
            stage, share = "Reading", (before + share * size) / max(self._size, 1)
        now = time.perf_counter()
        begun, self._stage = stage != self._stage, stage
        if self._progress is None or (not begun and now - self._last < 0.05):
            return
        self._last = now
        at = self._stages.index(stage)
        done = sum(_SHARES[s] for s in self._stages[:at]) + share * _SHARES[self._stages[at]]
        # reading begins again if a copy proves necessary: the fraction must not decrease
        share_done = (done - self._first) / (self._total - self._first)
        fraction = self._fraction = min(max(self._fraction, share_done), 1.0)
        spent = now - self._start
        left = spent * (1 - fraction) / fraction if fraction > 0.02 and spent > 0.2 else None
        self._progress(Progress(stage, self.rows, self.bytes_done, self._size, left, fraction))

    def relay(self, progress: Progress) -> None:
        """Forward progress reported by another process."""
        check(self._cancelled)
        self._stage, self._fraction = progress.stage, max(self._fraction, progress.fraction)
        self.rows, self.bytes_done = progress.rows, progress.bytes_done
        if self._progress is not None:
            self._progress(progress)

    def cancelled(self) -> bool:
        """Return whether the load is cancelled."""
        return self._cancelled is not None and self._cancelled()

    def check(self) -> None:
        """Raise `LoadCancelled` if the load is cancelled."""
        check(self._cancelled)

    def checking(self, share: float) -> None:
        """Report the share of cached data whose checksums were verified."""
        check(self._cancelled)
        now = time.perf_counter()
        if self._progress is None or now - self._last < 0.05:
            return
        self._last = now
        left = (now - self._start) * (1 - share) / share if share > 0.02 else None
        self._progress(Progress("Checking", 0, round(share * self._size), self._size, left, share))

    def note(self, bytes_done: int, rows: int) -> None:
        """Record how many bytes and lines have been scanned."""
        check(self._cancelled)
        before, _, rows_before = self._part or (0, 0, 0)
        self.bytes_done, self.rows = before + bytes_done, rows_before + rows

    def stage(self, name: str) -> Callable[[float], None]:
        """Return a progress callback for one stage."""
        return lambda share: self.tick(name, share)

    @property
    def doing(self) -> str:
        """Current stage as the subject of a sentence."""
        return (self._stage or "Reading").lower()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._start
