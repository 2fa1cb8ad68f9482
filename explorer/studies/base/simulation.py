"""What the simulations of all studies share: trials in pieces, and dots with error bars."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from explorer.privacy.core.bound import FloatArray, Reference, Role
from explorer.studies.base.study import Context, Mark, Series


def trial_pieces(
    context: Context,
    function: Callable[[Any, int, tuple[int, ...]], FloatArray],
    experiment: object,
    trials: int,
    at_once: int,
    seed: tuple[int, ...],
) -> Iterator[FloatArray]:
    """Yield what trials of an experiment give, so many at once, each piece from the worker process.

    Parameters
    ----------
    context : Context
        Asked between two pieces whether anybody still waits.
    function : callable
        From the experiment, a number of trials and a seed to an array, a row a trial.
    experiment : object
        Complete and picklable.
    trials, at_once : int
    seed : tuple of int
        Every piece has one of its own: this and the number of its first trial.
    """
    for start in range(0, trials, at_once):
        context.check()
        yield context.run_in_worker(
            function, experiment, min(at_once, trials - start), (*seed, start)
        )


def dots_series(
    key: str,
    label: str,
    source: Reference,
    rows: Sequence[Sequence[float]] | FloatArray,
    note: str,
) -> Series:
    """Return estimates as dots: rows of x, the estimate, and the ends of its error bar."""
    x, y, low, high = np.array(rows, dtype=float).T
    return Series(
        key, label, Role.ESTIMATE, x, y, source, low=low, high=high, note=note,
        mark=Mark.DOTS,
    )  # fmt: skip
