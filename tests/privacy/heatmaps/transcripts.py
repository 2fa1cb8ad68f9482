"""Every transcript of a program that adds discrete Laplace noise, and what it gives away.

A program is run with every noisy number from a window, for one data set, and again with the noise
that would give its neighbour the same numbers. If the neighbour reads the same cells with the same
scales, the log-ratio of likelihoods is Σ (|Y − s'| − |Y − s|)/scale exactly; if not, its
probability is 0 and the ratio infinite. Of one reading the term is constant outside [s, s'], so
that windows reach every value of it; where a number decides on what is read next they hold numbers
on both sides.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from explorer.privacy.heatmaps import IntegerCounts

Key = tuple[int, int, int]
"""Level, Morton code, draw."""


class UnreadError(Exception):
    """The neighbour reads a cell that was not read before: it cannot give this transcript."""


def counts_of(masses: list[int] | np.ndarray, resolution: int) -> IntegerCounts:
    """Whole counts from leaf masses in Morton order."""
    masses = np.asarray(masses, np.int64)
    codes = np.flatnonzero(masses)
    level = (len(masses).bit_length() - 1) // 2
    return IntegerCounts(level, codes, masses[codes], 1, resolution)


def user(rng: np.random.Generator, cells: int, resolution: int) -> np.ndarray:
    """A user of total B spread over cells at random."""
    return rng.multinomial(resolution, rng.dirichlet(np.full(cells, 0.5)))


class TranscriptAudit(ABC):
    """Two neighbours, and a program that reads them."""

    def __init__(
        self, one: list[int] | np.ndarray, other: list[int] | np.ndarray, resolution: int = 1
    ) -> None:
        self.data = counts_of(one, resolution), counts_of(other, resolution)
        self.resolution = resolution

    @abstractmethod
    def run(self, side: int, noisy: Callable[[Key], int]) -> tuple[Any, dict[Key, Fraction]]:
        """The transcript of one side if its noise makes these numbers, and all scales."""

    @abstractmethod
    def decides(self, key: Key) -> bool:
        """Whether what is read next may depend on a number."""

    def stated(self, noisy: Any) -> Fraction | None:
        """What the program itself says the log-ratio of a transcript is, if it does."""
        return None

    def window(self, key: Key, wide: list[int]) -> list[int]:
        """Both ends of [s, s'], and numbers beyond them where the number decides."""
        level, cell, _ = key
        here, there = sorted(int(counts.at(level, np.array([cell]))[0]) for counts in self.data)
        ends = {here, there}
        if self.decides(key):
            ends |= {there + step * self.resolution for step in wide}
        return sorted(ends)

    def transcripts(self, wide: list[int]) -> Iterator[tuple[Any, dict[Key, Fraction]]]:
        """Every transcript of the first side within the windows, each once."""
        path: list[list[int]] = []
        while True:
            at = iter(range(10**9))

            def chosen(key: Key, at=at) -> int:
                k, window = next(at), self.window(key, wide)
                if k == len(path):
                    path.append([0, len(window)])
                return window[path[k][0]]

            yield self.run(0, chosen)
            while path and path[-1][0] + 1 == path[-1][1]:
                path.pop()
            if not path:
                return
            path[-1][0] += 1

    def largest(self, wide: list[int]) -> Fraction | float:
        """The largest |log-ratio| of all transcripts within the windows."""
        worst: Fraction | float = Fraction(0)
        for noisy, scales in self.transcripts(wide):
            numbers = {(level, cell, draw): value for level, cell, draw, value in noisy}

            def same(key: Key, numbers=numbers) -> int:
                if key not in numbers:
                    raise UnreadError
                return numbers[key]

            try:
                again = self.run(1, same)
            except UnreadError:
                return math.inf
            if again != (noisy, scales):
                return math.inf
            one, other = self.data
            loss = Fraction(0)
            for (level, cell, draw), value in numbers.items():
                s, t = (int(counts.at(level, np.array([cell]))[0]) for counts in (one, other))
                loss += (abs(value - t) - abs(value - s)) / scales[level, cell, draw]
            assert self.stated(noisy) in (None, loss)
            worst = max(worst, abs(loss))
        return worst
