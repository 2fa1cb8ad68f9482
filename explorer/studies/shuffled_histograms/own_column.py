"""Runs P_hist on a column of the user's own and shows its three steps.

Bins are the values that the column's heading declares, ``smoker [yes|no]``, or equal parts of its
declared range, ``age [0:120]``. Without a declaration they are taken from the file, which a public
list of bins must not be; the conditions say so.

Every message of the first users is drawn. Of the others the number in each bin is: counts plus
binomial noise, which is the law of what the shuffler passes on, whoever sent it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.privacy import histograms as hist
from explorer.privacy.core.bound import FloatArray, Role
from explorer.studies.base.csv_table import MAX_RECORDS, TableFileError, read_csv
from explorer.studies.base.numbers import at_least, at_most, nearest
from explorer.studies.base.plots import Curve
from explorer.studies.base.study import Context, Mark, Request, ScalarResult, Series, Table
from explorer.studies.base.sweeping import SweptPoints
from explorer.studies.coordinate_mean.public_file import coded_column
from explorer.studies.shuffled_histograms.simulation import counts_of

MAX_BINS = 500
_MAX_SYNTHETIC_USERS, _MAX_SYNTHETIC_BINS = 1_000_000, 50
_USERS_SHOWN, _MESSAGES_SHOWN = 5, 20
_NO_FILE = (
    "No file is open: synthetic users, heavy-tailed over the bins, are used until you open yours "
    "under “your column”."
)
_PROTOCOL = (
    "Simulated shuffled protocol: nothing is hidden from you, who hold the file; for that the "
    "randomiser must run on the users' devices and the shuffler be somebody else. The noise "
    "repeats itself with the seed."
)


@dataclass(frozen=True)
class OwnColumn:
    """A column as bins; hashable.

    Attributes
    ----------
    labels : tuple of str
        Names of the bins.
    counts : tuple of int
        Users in each bin.
    first : tuple of int
        Bins of the first users.
    real : bool
        Whether it is from a file.
    unlisted : str
        Why the list of bins is not public; empty if it is declared.
    summary : str
        What was read.
    """

    labels: tuple[str, ...]
    counts: tuple[int, ...]
    first: tuple[int, ...]
    real: bool
    unlisted: str
    summary: str

    @property
    def users(self) -> int:
        """Number of users."""
        return sum(self.counts)


@dataclass(frozen=True)
class Outcome:
    """A run of P_hist.

    Attributes
    ----------
    sent : tuple of tuple of int
        Messages of the first users: numbers of bins.
    order : tuple of int
        The first messages behind the shuffler.
    received : ndarray of int, shape (d,)
        Messages of each bin.
    estimates : ndarray of float, shape (d,)
        Frequencies by the analyzer.
    """

    sent: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]
    received: NDArray[np.int64]
    estimates: FloatArray


@lru_cache(maxsize=4)
def describe(path: Path, value: str, column: int, bins: int, decimal: str) -> OwnColumn:
    """Return a column of a file as bins (runs in a worker process).

    Parameters
    ----------
    path : Path
    value : str
        Name and fingerprint of the file.
    column : int
        Number of the column, the first being 1.
    bins : int
        Into how many bins a range of numbers is cut.
    decimal : str
        A `DecimalSign`.

    Raises
    ------
    TableFileError
        If there is no such column, or it has no rows or too many values; says what to do.
    """
    name = value.partition("#")[0]
    table = read_csv(path, name, decimal, max_rows=MAX_RECORDS + 1)
    if len(table.rows) < 2:
        raise TableFileError(
            f"{name}: give the column's name in the first line and a user's value in every other"
        )
    table = table.without_header()
    if column > len(table.names):
        raise TableFileError(
            f"{name}: there is no column {column}; the first line names {len(table.names)}"
        )
    fields = [row[column - 1 : column] or [""] for row in table.rows]
    only = replace(table, rows=fields, names=(table.names[column - 1] or f"column {column}",))
    places, labels, coded = coded_column(only, 0, bins)
    if len(labels) > MAX_BINS:
        raise TableFileError(
            f"{name}, column {coded.name}: {len(labels)} different values; at most {MAX_BINS} are "
            "bins here: declare fewer in the first line, or a range of numbers, as in age [0:120]"
        )
    unlisted = (
        ""
        if coded.declared
        else f"they were taken from the file: declare them in its first line, as in {coded.name} "
        f"{'[0:120]' if coded.binned else '[yes|no]'}"
    )
    return OwnColumn(
        labels,
        tuple(np.bincount(places, minlength=len(labels)).tolist()),
        tuple(places[:_USERS_SHOWN].tolist()),
        True,
        unlisted,
        f"{name}, column {coded.name}: {len(places):,} users, {coded}; n and d are the file's.",
    )


def column_of(request: Request, context: Context) -> OwnColumn:
    """Return the column that a request names, or a synthetic one until a file is open."""
    value = str(request["column_file"])
    if value:
        keys = ("column", "column_bins", "column_decimal")
        task = (context.file(value), value, *(request[key] for key in keys))
        column: OwnColumn = context.cached(
            ("histograms", "column", *task), lambda: context.run_in_worker(describe, *task)
        )
        return column
    users = min(int(request["n"]), _MAX_SYNTHETIC_USERS)
    bins = min(int(request["d"]), _MAX_SYNTHETIC_BINS)
    counts = np.zeros(bins, np.int64)
    some = counts_of("zipf", users, min(bins, users), 0.0)
    counts[: some.size] = some
    rng = np.random.default_rng((abs(request.seed), 23))
    shown = rng.multivariate_hypergeometric(counts, min(_USERS_SHOWN, users), method="marginals")
    first = rng.permutation(np.repeat(np.arange(bins), shown))
    labels = tuple(f"value {i + 1}" for i in range(bins))
    return OwnColumn(labels, tuple(counts.tolist()), tuple(first.tolist()), False, "", _NO_FILE)


def points_of(swept: SweptPoints, column: OwnColumn) -> SweptPoints:
    """Return every bin within the sweep, with the column's numbers of users and bins."""
    d = len(column.labels)
    every = np.arange(1, d + 1) / d
    x = every[(every >= swept.x[0] - 1e-9) & (every <= swept.x[-1] + 1e-9)]
    x = x if x.size else every[:1]
    ends = {key: values[-1] for key, values in swept.columns.items()}
    ends |= {"n": column.users, "d": d, "h": min(column.users, d)}
    columns = {key: np.full(x.size + 1, float(end)) for key, end in ends.items()}
    return SweptPoints(swept.sweep, x, columns | {swept.sweep.key: np.append(x, 1.0)})


def run(column: OwnColumn, p: float, seed: int) -> Outcome:
    """Run randomiser, shuffler and analyzer (in a worker process).

    Parameters
    ----------
    column : OwnColumn
    p : float
        Probability of a noise bit.
    seed : int
    """
    rng, d = np.random.default_rng((abs(seed), 22)), len(column.labels)
    first = np.array(column.first, np.int64)
    sent = hist.histogram_randomizer(first, d, p, rng)
    others = np.array(column.counts) - np.bincount(first, minlength=d)
    noise = rng.binomial(column.users - first.size, p, d)
    received = np.bincount(sent.messages, minlength=d) + others + noise
    shown = min(_MESSAGES_SHOWN, int(received.sum()))
    drawn = rng.multivariate_hypergeometric(received, shown, method="marginals")
    ends = np.cumsum(sent.lengths)
    return Outcome(
        tuple(
            tuple(sent.messages[end - length : end].tolist())
            for end, length in zip(ends, sent.lengths, strict=True)
        ),
        tuple(rng.permutation(np.repeat(np.arange(d), drawn)).tolist()),
        received.astype(np.int64),
        np.asarray(hist.estimates(received, column.users, p)),
    )


def _places(p: Any) -> NDArray[np.int64]:
    """Return the index of the bin at every point of the axis."""
    return np.asarray(np.rint(p.swept.x * len(p.own.labels)), np.int64) - 1


def draw_estimates(curve: Curve, p: Any) -> Series | None:
    """Draw the analyzer's frequencies, with the error that all keep within."""
    if p.run is None:
        return None
    value = p.run.estimates[_places(p)]
    return Series(
        curve.key,
        str(curve.label),
        curve.role,
        p.swept.x,
        value,
        curve.source,
        low=np.maximum(value - p.margin, 0.0),
        high=value + p.margin,
        note=(
            f"± {at_most(p.margin)}: all bins are within it in "
            f"{at_least(100 * (1 - p.here.beta))} of 100 runs"
        ),
        mark=Mark.DOTS,
    )


def draw_truth(curve: Curve, p: Any) -> Series:
    """Draw the frequencies of the column itself."""
    value = np.array(p.own.counts)[_places(p)] / p.own.users
    return Series(
        curve.key, str(curve.label), curve.role, p.swept.x, value, curve.source, mark=Mark.BARS
    )


def readouts(p: Any) -> tuple[ScalarResult, ...]:
    """Return the number of users, the errors of this run and their bound."""
    users = ScalarResult("users", "users", float(p.own.users), None)
    if p.run is None:
        return (users,)
    errors = np.abs(p.run.estimates - np.array(p.own.counts) / p.own.users)
    total = float(p.run.received.sum())
    return (
        users,
        ScalarResult("q", "1−p, a noise bit not sent", p.missing),
        ScalarResult(
            "largest",
            "largest error of this run",
            float(errors.max()),
            Role.ESTIMATE,
            "frequency",
            curator_only=p.own.real,
        ),
        ScalarResult("margin", "bound on it, at β", p.margin, Role.UPPER, "frequency"),
        ScalarResult("messages", "messages of a user, on average", total / p.own.users),
    )


def tables(p: Any) -> tuple[Table, ...]:
    """Return the three steps, and every bin with what was received, said and true."""
    own, done = p.own, p.run
    if done is None:
        return ()
    labels, n, true = own.labels, own.users, np.array(own.counts) / own.users
    more = int(done.received.sum()) - len(done.order)
    rows = [
        (f"randomiser: user {i + 1}, {labels[bin]}", _named(labels, messages))
        for i, (bin, messages) in enumerate(zip(own.first, done.sent, strict=True))
    ]
    rows.append(("shuffler: all messages in random order", _named(labels, done.order, more)))
    for place in np.argsort(-true, kind="stable")[:3].tolist():
        received = int(done.received[place])
        rule = f"{received:,} messages, " + (
            f"more than n = {n:,}: {received:,}/{n:,} − p = {nearest(done.estimates[place])}"
            if received > n
            else f"at most n = {n:,}: 0"
        )
        rows.append((f"analyzer: {labels[place]}", f"{rule} (really {nearest(true[place])})"))
    return (
        Table(
            "steps",
            "P_hist on your column, step by step",
            ("who", "sends or says"),
            tuple(rows),
            f"p = {nearest(1 - p.missing)}: a user sends their own bin, and every bin once more "
            "with probability p; the shuffler forgets who sent what; the analyzer counts a bin's "
            "messages. The first users and the fullest bins are shown; messages of other users are "
            "drawn as numbers in each bin, which have the same law. Another seed, another run.",
        ),
        Table(
            "run",
            "This run by bin",
            ("bin", "users", "messages received", "estimate", "true frequency", "error"),
            tuple(
                (label, float(count), float(received), float(said), float(is_true), float(error))
                for label, count, received, said, is_true, error in zip(
                    labels,
                    own.counts,
                    done.received,
                    done.estimates,
                    true,
                    done.estimates - true,
                    strict=True,
                )
            ),
            "Estimates and messages are seen by the analyzer; users, true frequencies and errors "
            f"are computed from the column itself. At most {at_most(p.margin)} in size with "
            "probability 1−β, all together.",
            (None, None, None, Role.ESTIMATE, Role.BASELINE, Role.ESTIMATE),
        ),
    )


def _named(labels: tuple[str, ...], messages: tuple[int, ...], more: int = 0) -> str:
    shown = messages[:_MESSAGES_SHOWN]
    more += len(messages) - len(shown)
    text = ", ".join(labels[message] for message in shown) or "nothing"
    return text + f" … and {more:,} more" * (more > 0)


def notes(p: Any) -> tuple[str, ...]:
    """Return notes on the column and the simulation."""
    return (p.own.summary, _PROTOCOL)
