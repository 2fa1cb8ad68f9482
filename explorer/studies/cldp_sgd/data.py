"""Examples to train on: the digits that ship, MNIST's files in a folder, or a table of the user's.

A table is a CSV file with a row a person, one column of which is the label. Columns of words are
coded as 0 and 1, one feature a word; numbers are scaled to [−1, 1] by the bounds in their heading
(``age [0:120]``) or by the extremes of the training rows.
"""

import gzip
import io
import math
import struct
import zlib
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.learning import Samples
from explorer.resources import resource_bytes
from explorer.studies.base.csv_table import (
    CsvTable,
    DecimalSign,
    RejectedRow,
    TableFileError,
    heading_bounds,
    number_field,
    numeric,
    read_records,
    read_summary,
)

IntArray = np.ndarray[Any, np.dtype[np.intp]]

TEST_SHARE = 0.2
"""Of the digits that ship, which are not split."""
_PARTS = {
    "training images": ("train-images", 3),
    "training labels": ("train-labels", 1),
    "test images": ("t10k-images", 3),
    "test labels": ("t10k-labels", 1),
}
_UNSIGNED_BYTE = 8
DIGIT_CLASSES = 10
MAX_FIELDS = 5_000_000
"""Of a table: read in a few seconds; the process takes about 600 MB meanwhile."""
MAX_CLASSES = 100
MAX_WORDS = 50
"""Different words of a column that is coded."""
MAX_PARAMETERS = 100_000
"""Of softmax regression: a report of R₂ has as many numbers."""
MAX_CELLS = 10_000_000
"""Rows times features of a coded table: 80 MB."""
_TYPE_ROWS = 1000
"""Rows that decide whether a column has numbers or words."""


@dataclass(frozen=True)
class Column:
    """Use of a table's column.

    Attributes
    ----------
    name : str
    use : str
        ``"label"``, ``"numbers"`` or ``"words"``.
    features : int
        Numbers that a client's row has of it.
    low, high : float
        Bounds by which numbers are scaled; NaN of others.
    public : bool
        Whether the bounds stand in the heading. Others are those of the training rows.
    clipped : int
        Number of values beyond the bounds, in all rows.
    """

    name: str
    use: str
    features: int = 0
    low: float = math.nan
    high: float = math.nan
    public: bool = False
    clipped: int = 0


@dataclass(frozen=True)
class TableFacts:
    """What a table holds and how it is split.

    Attributes
    ----------
    summary : str
        What was read and what was rejected.
    columns : tuple of Column
    rows, held_out : int
        To train on, and to test with.
    classes : tuple of str
        Labels in the order of their numbers.
    """

    summary: str
    columns: tuple[Column, ...]
    rows: int
    held_out: int
    classes: tuple[str, ...]


@dataclass(frozen=True)
class Examples:
    """Features with labels, split into what is trained on and what accuracy is measured on.

    Attributes
    ----------
    x : ndarray of uint8 or float, shape (rows, features)
        To train on.
    x_test : ndarray of float, shape (test rows, features)
        In [0, 1] of pictures, in [−1, 1] of a table.
    y, y_test : ndarray of int, shape (rows,)
        Classes from 0 on.
    unit : float
        What entries of `x` are multiplied by to be in the same range.
    classes : int
        Number of classes.
    table : TableFacts, optional
        Of a table.
    """

    x: np.ndarray[Any, Any]
    y: IntArray
    x_test: FloatArray
    y_test: IntArray
    unit: float
    classes: int = DIGIT_CLASSES
    table: TableFacts | None = None


def clients_of(examples: Examples, n: int, seed: int) -> Samples:
    """Give each of n clients one training example.

    Up to the number of examples, all are different; beyond, every example is held by ⌊n/m⌋ or
    ⌈n/m⌉ clients.
    """
    m = len(examples.y)
    order = np.random.default_rng([seed, 1]).permutation(m)
    return Samples(examples.x, examples.y, np.resize(order, n), examples.unit)


@lru_cache(maxsize=2)
def digits(seed: int) -> Examples:
    """Return the 1,797 digits of 8 × 8 pixels that ship, a fifth of them for testing.

    Parameters
    ----------
    seed : int
        Of the split.

    Notes
    -----
    Optical Recognition of Handwritten Digits, Alpaydin & Kaynak 1998 (UCI repository, CC BY 4.0),
    the test set of that collection.
    """
    with np.load(io.BytesIO(resource_bytes("digits.npz")), allow_pickle=False) as result:
        x, y = result["images"].reshape(-1, 64), result["labels"].astype(np.intp)
    order = np.random.default_rng([seed, 0]).permutation(len(y))
    cut = math.ceil(TEST_SHARE * len(y))
    test, train = order[:cut], order[cut:]
    return Examples(x[train], y[train], x[test] / 16, y[test], 1 / 16)


@lru_cache(maxsize=2)
def enlarge_digits(seed: int) -> Examples:
    """Return the digits that ship threefold, with a border of 2: 28 × 28 pixels, as MNIST's."""
    small = digits(seed)

    def threefold(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        pictures = rows.reshape(-1, 8, 8).repeat(3, axis=1).repeat(3, axis=2)
        return np.pad(pictures, ((0, 0), (2, 2), (2, 2))).reshape(len(rows), -1)

    return Examples(threefold(small.x), small.y, threefold(small.x_test), small.y_test, small.unit)


@lru_cache(maxsize=1)
def mnist(folder: str, fingerprint: str) -> Examples:
    """Return the pictures of MNIST's four files in a folder.

    Parameters
    ----------
    folder : str
        Holds ``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte``, ``t10k-images-idx3-ubyte``
        and ``t10k-labels-idx1-ubyte``, each plain or ``.gz`` (``.idx3-ubyte`` as well as
        ``-idx3-ubyte``).
    fingerprint : str
        Of the content; only there so that changed files are read again.

    Raises
    ------
    ValueError
        Naming the file, what is wrong with it and what to do.
    """
    result = {part: _find(Path(folder), *pattern) for part, pattern in _PARTS.items()}
    missing = [_plain_name(*_PARTS[part]) for part, path in result.items() if path is None]
    if missing:
        raise ValueError(
            f"the folder {Path(folder).name!r} has no {', '.join(missing)} (plain or .gz); choose "
            "the folder with MNIST's four idx files"
        )
    paths = [path for path in result.values() if path is not None]
    x, y, x_test, y_test = (read_idx(path) for path in paths)
    for pictures, labels, images_path, labels_path in (
        (x, y, paths[0], paths[1]),
        (x_test, y_test, paths[2], paths[3]),
    ):
        _check_pair(pictures, labels, images_path, labels_path)
    if x.shape[1:] != x_test.shape[1:]:
        raise ValueError(
            f"{paths[2].name} has pictures of {x_test.shape[1]} × {x_test.shape[2]} pixels, "
            f"{paths[0].name} of {x.shape[1]} × {x.shape[2]}; take both from the same data set"
        )
    return Examples(
        x.reshape(len(x), -1),
        y.astype(np.intp),
        x_test.reshape(len(x_test), -1) / 255,
        y_test.astype(np.intp),
        1 / 255,
    )


MAX_IDX = 128_000_000
"""Bytes of an idx file, unpacked; MNIST's largest has 47 million."""


def read_idx(path: Path) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return the array in an idx file of unsigned bytes, plain or ``.gz``.

    The format: two zero bytes, a type, the number of dimensions, each dimension as a big-endian
    32-bit number, then the entries.

    Raises
    ------
    ValueError
        Naming the file, what is wrong with it and what to do.
    """
    again = "copy or download it again"
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            raw = file.read(MAX_IDX + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path.name} is a damaged .gz file ({error}); {again}") from error
    except OSError as error:
        raise ValueError(f"{path.name} can't be read ({error.strerror}); {again}") from error
    if len(raw) > MAX_IDX:
        raise ValueError(
            f"{path.name} holds more than {MAX_IDX / 1e6:.0f} MB, far more than MNIST; take "
            "MNIST's own files"
        )
    if len(raw) < 4 or raw[:2] != b"\0\0" or raw[2] != _UNSIGNED_BYTE or not 1 <= raw[3] <= 4:
        raise ValueError(
            f"{path.name} is not an idx file of unsigned bytes (it begins with "
            f"{raw[:4].hex(' ') or 'nothing'}); take MNIST's own files"
        )
    begin = 4 + 4 * raw[3]
    if len(raw) < begin:
        raise ValueError(f"{path.name} ends within its header; {again}")
    shape = struct.unpack(f">{raw[3]}I", raw[4:begin])
    if len(raw) - begin != math.prod(shape):
        raise ValueError(
            f"{path.name} says it holds {' × '.join(map(str, shape))} bytes but has "
            f"{len(raw) - begin:,}; {again}"
        )
    return np.frombuffer(raw, np.uint8, offset=begin).reshape(shape)


def _check_pair(
    pictures: np.ndarray[Any, Any], labels: np.ndarray[Any, Any], of: Path, named: Path
) -> None:
    if pictures.ndim != 3 or labels.ndim != 1:
        wrong, want = (of, 3) if pictures.ndim != 3 else (named, 1)
        raise ValueError(
            f"{wrong.name} doesn't have {want} dimension{'s' * (want > 1)}; are images and labels "
            "swapped?"
        )
    if not len(pictures) == len(labels) > 0:
        raise ValueError(
            f"{of.name} has {len(pictures):,} pictures and {named.name} {len(labels):,} labels; "
            "take both from the same data set"
        )
    if labels.max() > 9:
        raise ValueError(
            f"{named.name} has a label {labels.max()}; only the ten digits 0…9 are known here"
        )


def _find(folder: Path, stem: str, dimensions: int) -> Path | None:
    for name in (_plain_name(stem, dimensions), f"{stem}.idx{dimensions}-ubyte"):
        for ending in ("", ".gz"):
            if (folder / f"{name}{ending}").is_file():
                return folder / f"{name}{ending}"
    return None


def _plain_name(stem: str, dimensions: int) -> str:
    return f"{stem}-idx{dimensions}-ubyte"


@lru_cache(maxsize=2)
def table(
    path: str, fingerprint: str, label: int, decimal: str, held_out: float, seed: int
) -> Examples:
    """Return the examples of a user's table, split at random.

    Parameters
    ----------
    path : str
    fingerprint : str
        Name and content of the file.
    label : int
        Column of the label, the first being 1; 0 is the last.
    decimal : str
        A `DecimalSign`.
    held_out : float
        Share of the rows to test with, rounded up; at least one row is left to train on.
    seed : int
        Of the split.

    Raises
    ------
    TableFileError
        If it is no such table, or has more than the constants above allow; the message names the
        file, line or column, and a remedy.
    """
    name = fingerprint.rpartition("#")[0]
    read = read_records(
        Path(path),
        name,
        DecimalSign(decimal),
        max_fields=MAX_FIELDS,
        keep="fewer rows or columns",
    )
    if label > len(read.names):
        raise TableFileError(
            f"{name} has {len(read.names)} columns, and the label's is number {label}; choose 1 to "
            f"{len(read.names)}, or 0 for the last"
        )
    at = (label or len(read.names)) - 1
    words = [i for i in range(len(read.names)) if i != at and _has_words(read, i)]
    numbers = [i for i in range(len(read.names)) if i != at and i not in words]
    read, values = _complete(read, numbers, (*words, at))
    classes, y = _codes(read, at, MAX_CLASSES, "labels", "choose the label's column")
    if len(classes) < 2:
        raise TableFileError(
            f"{name}, column {read.names[at]!r}: all labels are {classes[0][:40]!r}; choose a "
            "column with two classes at least"
        )
    coded = [
        _codes(read, i, MAX_WORDS, "words", "remove the column, or group its words") for i in words
    ]
    features = len(numbers) + sum(len(levels) for levels, _ in coded)
    if (features + 1) * len(classes) > MAX_PARAMETERS or features * y.size > MAX_CELLS:
        raise TableFileError(
            f"{name}: {y.size:,} rows of {features:,} features and {len(classes)} classes; at most "
            f"{MAX_CELLS:,} numbers are read and {MAX_PARAMETERS:,} parameters trained: keep fewer "
            "rows or columns"
        )
    order = np.random.default_rng([seed, 0]).permutation(y.size)
    cut = min(math.ceil(held_out * y.size), y.size - 1)
    test, train = order[:cut], order[cut:]
    columns: dict[int, Column] = {at: Column(read.names[at], "label")}
    x = np.zeros((y.size, features))
    for place, i in enumerate(numbers):
        columns[i] = _scale(read, i, values[:, place], train, x[:, place])
    start = len(numbers)
    for i, (levels, codes) in zip(words, coded, strict=True):
        x[np.arange(y.size), start + codes] = 1.0
        columns[i] = Column(read.names[i], "words", len(levels))
        start += len(levels)
    facts = TableFacts(
        read_summary(read, y.size),
        tuple(columns[i] for i in range(len(read.names))),
        train.size,
        test.size,
        classes,
    )
    return Examples(x[train], y[train], x[test], y[test], 1.0, len(classes), facts)


def _has_words(read: CsvTable, column: int) -> bool:
    """Return whether most of a column's first fields are no numbers."""
    fields = [row[column] for row in read.rows[:_TYPE_ROWS] if row[column]]
    return sum(map(read.dialect.number_like, fields)) * 2 < len(fields)


def _complete(
    read: CsvTable, numbers: list[int], others: tuple[int, ...]
) -> tuple[CsvTable, FloatArray]:
    """Return the rows without an empty or wrong field, and their numbers; others are rejected."""
    kept: list[int] = []
    rejected: list[RejectedRow] = []
    for i, (line, row) in enumerate(zip(read.lines, read.rows, strict=True)):
        empty = next((column for column in others if not row[column]), None)
        if empty is None:
            kept.append(i)
        else:
            rejected.append(RejectedRow(line, read.names[empty], "the field is empty"))
    if len(kept) < 2:
        raise TableFileError(
            f"{read.name}, {rejected[0]}; {len(kept)} rows are complete, and at least 2 are "
            "needed: fill in the fields, or remove the column"
        )
    read = read.keeping(kept, rejected)
    if not numbers:
        return read, np.empty((len(kept), 0))
    only = replace(
        read,
        names=tuple(read.names[i] for i in numbers),
        rows=[[row[i] for i in numbers] for row in read.rows],
        rejected=(),
    )
    only, values = numeric(only)
    place = {line: i for i, line in enumerate(read.lines)}
    return read.keeping([place[line] for line in only.lines], list(only.rejected)), values


def _codes(
    read: CsvTable, column: int, most: int, what: str, remedy: str
) -> tuple[tuple[str, ...], IntArray]:
    """Return the different fields of a column in order, and the place of each row's among them."""
    fields = [row[column] for row in read.rows]
    different = set(fields)
    if len(different) > most:
        raise TableFileError(
            f"{read.name}, column {read.names[column]!r}: {len(different):,} different {what}, and "
            f"at most {most} can be coded; {remedy}"
        )

    def place(field: str) -> tuple[float, str]:
        number = number_field(field, read.dialect.delimiter, read.dialect.decimal)
        return (math.inf if number is None else number, field)

    levels = tuple(sorted(different, key=place))
    code = {level: i for i, level in enumerate(levels)}
    return levels, np.array([code[field] for field in fields], dtype=np.intp)


def _scale(
    read: CsvTable, column: int, values: FloatArray, train: IntArray, out: FloatArray
) -> Column:
    """Write a column's numbers, scaled to [−1, 1], to `out`; zeros where all are alike."""
    name, bounds = heading_bounds(read.names[column], f"{read.name}, line {read.header_line}")
    low, high = bounds or (float(values[train].min()), float(values[train].max()))
    clipped = int(np.count_nonzero((values < low) | (values > high)))
    if high > low:
        out[:] = (np.clip(values, low, high) - low) / (high - low) * 2.0 - 1.0
    return Column(name, "numbers", 1, low, high, bounds is not None, clipped)
