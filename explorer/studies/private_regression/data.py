"""Records for the regression: synthetic ones, or a table scaled by public bounds.

Everything here runs in the worker process.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.studies.base.csv_table import (
    DecimalSign,
    heading_bounds,
    numeric,
    read_records,
    read_summary,
)

BLOCK = 20_000
_SAMPLE_SEED = 20_241_023
_COMMON_WEIGHT = 0.3
"""Weight of the part that all features of a synthetic record share."""
_NOISE_WEIGHT = 0.25


@dataclass(frozen=True)
class Source:
    """Source of records; hashable and picklable.

    Attributes
    ----------
    path : Path or None
        None for synthetic records.
    value : str
        Name and fingerprint of the file.
    target : int
        Column of the label, the first being 1; 0 is the last.
    x_low, x_width, y_low, y_width : float
        Public bounds of features and label for columns without their own.
    decimal : str
        A `DecimalSign`.
    """

    path: Path | None = None
    value: str = ""
    target: int = 0
    x_low: float = -1.0
    x_width: float = 2.0
    y_low: float = -1.0
    y_width: float = 2.0
    decimal: str = DecimalSign.AUTO


@dataclass(frozen=True)
class Columns:
    """Columns of a table.

    Attributes
    ----------
    names : tuple of str
        Features in order, the label last.
    low, high : ndarray
        Public bounds by column.
    clipped : ndarray
        Number of values beyond them, by column.
    records : int
    summary : str
        What was read and what was rejected.
    moved : bool
        Whether the requested label column does not exist and the last one is used.
    """

    names: tuple[str, ...]
    low: FloatArray
    high: FloatArray
    clipped: FloatArray
    records: int
    summary: str
    moved: bool


@dataclass(frozen=True)
class Loaded:
    """A table scaled to [−1, 1], features first and the label last."""

    columns: Columns
    values: FloatArray


@lru_cache(maxsize=2)
def load(source: Source) -> Loaded:
    """Return a file's records, scaled.

    Raises
    ------
    ValueError
        If the file is not a table of numbers; the message names file, line, field and a remedy.
    """
    assert source.path is not None
    name = source.value.partition("#")[0]
    table, records = numeric(read_records(source.path, name, source.decimal))
    count = len(table.names)
    moved = source.target > count
    label = (source.target if 1 <= source.target <= count else count) - 1
    order = [*(i for i in range(count) if i != label), label]
    names, low, high = [], np.empty(count), np.empty(count)
    for place, i in enumerate(order):
        last = place == count - 1
        start, width = (source.y_low, source.y_width) if last else (source.x_low, source.x_width)
        name_of_column, bounds = heading_bounds(table.names[i], f"{name}, line 1")
        low[place], high[place] = bounds or (start, start + width)
        names.append(name_of_column)
    values = records[:, order]
    clipped = ((values < low) | (values > high)).sum(axis=0).astype(float)
    with np.errstate(over="ignore"):
        scaled = np.clip((values - low) / (high - low) * 2.0 - 1.0, -1.0, 1.0)
    columns = Columns(
        tuple(names),
        low,
        high,
        clipped,
        values.shape[0],
        read_summary(table, values.shape[0]),
        moved,
    )
    return Loaded(columns, scaled)


def describe(source: Source) -> Columns:
    """Return the columns of a file."""
    return load(source).columns


def coefficients(features: int) -> FloatArray:
    """Return the coefficients of the synthetic label: alternating in sign, of norm 0.8."""
    raw = np.array([(-1.0) ** j / (1.0 + 0.5 * j) for j in range(features)])
    result: FloatArray = 0.8 * raw / np.linalg.norm(raw)
    return result


def sample_block(features: int, block: int, count: int) -> FloatArray:
    """Return synthetic records of one block: features in [−1, 1], then the label.

    A feature is a weighted sum of a part of its own and a part common to all; the label is linear
    in the features with noise, clipped. Only uniform numbers are drawn, so that a seed gives the
    same records on all platforms.
    """
    rng = np.random.default_rng((_SAMPLE_SEED, features, block))
    draws = 2.0 * rng.random((BLOCK, features + 2)) - 1.0
    z = (1.0 - _COMMON_WEIGHT) * draws[:, :features] + _COMMON_WEIGHT * draws[
        :, features : features + 1
    ]
    label = z @ coefficients(features) + _NOISE_WEIGHT * draws[:, -1]
    return np.column_stack([z, np.clip(label, -1.0, 1.0)])[:count]


def blocks(source: Source, features: int, n: int, seed: int) -> Iterator[FloatArray]:
    """Yield n records in blocks, the first `features` features and the label.

    Users of a file are drawn without replacement by the seed; synthetic ones are the first n.
    """
    if source.path is None:
        for block, start in enumerate(range(0, n, BLOCK)):
            yield sample_block(features, block, min(BLOCK, n - start))
        return
    values = load(source).values
    columns = [*range(min(features, values.shape[1] - 1)), values.shape[1] - 1]
    order = np.random.default_rng((abs(seed), 1)).permutation(values.shape[0])[:n]
    for start in range(0, order.size, BLOCK):
        yield values[np.ix_(order[start : start + BLOCK], columns)]
