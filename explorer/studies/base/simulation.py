"""Helpers of simulations: trials in pieces, and dots with error bars."""

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
    """Yield the results of an experiment's trials in pieces, each computed in a worker process.

    Parameters
    ----------
    context : Context
        Pieces run at the same time where it has several workers, and come in their order.
    function : callable
        From the experiment, a number of trials and a seed to an array, a row a trial.
    experiment : object
        Complete and picklable.
    trials, at_once : int
    seed : tuple of int
        Every piece has one of its own: this and the number of its first trial.
    """
    starts = range(0, trials, at_once)
    tasks = [
        (function, experiment, min(at_once, trials - start), (*seed, start)) for start in starts
    ]
    early: dict[int, FloatArray] = {}
    following = 0
    for number, result in context.map_in_workers(run_piece, tasks):
        early[number] = result
        while following in early:
            yield early.pop(following)
            following += 1


def run_piece(task: tuple[Callable[[Any, int, tuple[int, ...]], FloatArray], Any, int, Any]) -> Any:
    """Compute one piece of `trial_pieces`; runs in a worker process."""
    function, experiment, trials, seed = task
    return function(experiment, trials, seed)


def student_95(degrees: float) -> float:
    """Return how many standard errors to either side hold 95 % of Student's law."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.975))


def mean_interval(
    values: FloatArray, least: float = -np.inf
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean of independent draws and its 95 % interval by Student's t.

    Parameters
    ----------
    values : ndarray of float, shape (..., draws)
        At least two draws.
    least : float
        What the mean can't be below: 0 of an error.

    Returns
    -------
    mean, low, high : ndarray of float, shape (...)

    References
    ----------
    Student 1908, *The probable error of a mean*.
    """
    draws = values.shape[-1]
    mean = values.mean(axis=-1)
    half = student_95(draws - 1) * values.std(axis=-1, ddof=1) / np.sqrt(draws)
    return mean, np.maximum(mean - half, least), mean + half


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
        key,
        label,
        Role.ESTIMATE,
        x,
        y,
        source,
        low=low,
        high=high,
        note=note,
        mark=Mark.DOTS,
    )
