"""Computing a grid: coarse everywhere first, then exact, then trial after trial.

Every piece is kept under the hash of what it depends on, as soon as it comes: whoever stops, or is
stopped, goes on with the same question, and a cell of another grid that was computed is not again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from explorer.engine.executors.base import Executor, task_key
from explorer.engine.executors.checkpoint import Checkpoint
from explorer.engine.farm.task import AGAIN, BEST, FIRST, known_as, run_cell, seeded, sent_as
from explorer.studies.base.grid import Grid, axes_of, requests_of
from explorer.studies.base.grid_answer import Cell, GridAnswer, averaged, cell_of, series_of
from explorer.studies.base.study import Request, Scale, Series, quantity
from explorer.studies.registry import get_study

Piece = tuple[int, int]
"""A cell's place and a trial's number."""


class Farm:
    """The answers of one grid, found piece by piece.

    Parameters
    ----------
    request : Request
        What is asked in every cell.
    grid : Grid
    files : mapping of str to Path
        Where the files of `Kind.FILE` values are; workers must see them.

    Attributes
    ----------
    answer : GridAnswer
        What is known so far.
    known : int
        Pieces of it that were kept from before.

    Raises
    ------
    ValueError
        As `axes_of`.
    """

    def __init__(
        self, request: Request, grid: Grid, files: Mapping[str, Path] | None = None
    ) -> None:
        study = get_study(request.study)
        axes = axes_of(study, request, grid)
        # What an error, or what is drawn on a logarithmic axis, can't be below.
        shown = quantity(study, request.quantity)
        positive = shown.statistic is not None or shown.scale is Scale.LOG
        self._least = 0.0 if positive else -math.inf
        self._files = files or {}
        self._asked = requests_of(request, axes)
        self._first: dict[int, Cell] = {}
        self._drawn: dict[int, dict[int, tuple[int, tuple[Series, ...]]]] = {}
        self.known = 0
        n = len(self._asked)
        self.answer = GridAnswer(request, grid, axes, (None,) * n, 0, n)

    def run(
        self,
        executor: Executor,
        checkpoint: Checkpoint,
        check: Callable[[], None] = lambda: None,
    ) -> Iterator[tuple[int, ...]]:
        """Yield which cells have changed, whenever some have; `answer` has them.

        Raises
        ------
        WorkerDied, DifferentCode, Cancelled, NoWorker
            As `Executor.batches`; what came before stays.
        """
        asked = {(place, 0): request for place, request in enumerate(self._asked)}
        yield from self._part(FIRST, asked, executor, checkpoint, check)
        asked = {(c.place, 0): self._asked[c.place] for c in self._cells() if not c.final}
        self._expect(len(asked))
        yield from self._part(BEST, asked, executor, checkpoint, check)
        self._first = {c.place: c for c in self._cells() if not c.error and c.simulates}
        self._drawn = {place: {} for place in self._first}
        asked = {}
        for trial in range(1, self.answer.grid.trials):
            for place in self._first:  # trial after trial: every cell has some before any has all
                check()
                asked[place, trial] = seeded(self._asked[place], trial)
        self._expect(len(asked))
        yield from self._part(AGAIN, asked, executor, checkpoint, check)

    def _cells(self) -> list[Cell]:
        return [cell for cell in self.answer.cells if cell is not None]

    def _expect(self, more: int) -> None:
        self.answer = replace(self.answer, total=self.answer.total + more)

    def _part(
        self,
        part: str,
        asked: dict[Piece, Request],
        executor: Executor,
        checkpoint: Checkpoint,
        check: Callable[[], None],
    ) -> Iterator[tuple[int, ...]]:
        """Take over what is kept, then compute the rest, batch after batch."""
        keys = {}
        for piece, request in asked.items():
            check()
            keys[piece] = task_key(known_as(request, part))
        kept = checkpoint.known(keys.values())
        if known := [(piece, kept[key]) for piece, key in keys.items() if key in kept]:
            self.known += len(known)
            yield self._put(part, asked, known)
        missing = [piece for piece, key in keys.items() if key not in kept]
        tasks = (sent_as(known_as(asked[piece], part), self._files) for piece in missing)
        for batch in executor.batches(run_cell, tasks, check):
            found = [(missing[number], raw) for number, raw in batch]
            checkpoint.add((known_as(asked[piece], part), raw) for piece, raw in found)
            yield self._put(part, asked, found)

    def _put(
        self, part: str, asked: dict[Piece, Request], found: list[tuple[Piece, dict[str, Any]]]
    ) -> tuple[int, ...]:
        changed: dict[int, Cell] = {}
        for (place, trial), raw in found:
            if part != AGAIN:
                changed[place] = cell_of(place, self._asked[place], raw)
                continue
            seed = asked[place, trial].seed
            if "error" in raw:
                self._first[place] = replace(
                    self._first[place], error=f"trial {trial + 1}, seed {seed}: {raw['error']}"
                )
            self._drawn[place][trial] = seed, tuple(series_of(raw)) if "series" in raw else ()
        for place in {place for (place, _), _ in found} if part == AGAIN else ():
            first, drawn = self._first[place], self._drawn[place]
            # In the order of the trials, not of their coming: sums depend on it.
            others = [drawn[trial] for trial in sorted(drawn)]
            changed[place] = first if first.error else averaged(first, others, self._least)
        cells = tuple(changed.get(place, cell) for place, cell in enumerate(self.answer.cells))
        self.answer = replace(self.answer, cells=cells, done=self.answer.done + len(found))
        return tuple(sorted(changed))
