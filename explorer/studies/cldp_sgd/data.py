"""Handwritten digits to train on: those that ship, or MNIST's files in a folder the user chose."""

import gzip
import io
import math
import struct
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from explorer.privacy.core.bound import FloatArray
from explorer.privacy.learning import Samples
from explorer.resources import resource_bytes

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


@dataclass(frozen=True)
class Images:
    """Pictures with labels, split into what is trained on and what accuracy is measured on.

    Attributes
    ----------
    x : ndarray of uint8, shape (rows, pixels)
        To train on.
    x_test : ndarray of float, shape (test rows, pixels)
        In [0, 1].
    y, y_test : ndarray of int, shape (rows,)
        Classes 0…9.
    unit : float
        What entries of `x` are multiplied by to lie in [0, 1].
    """

    x: np.ndarray[Any, np.dtype[np.uint8]]
    y: IntArray
    x_test: FloatArray
    y_test: IntArray
    unit: float


def clients_of(images: Images, n: int, seed: int) -> Samples:
    """Give each of n clients one training picture.

    Up to the number of pictures, all are different; beyond, every picture is held by ⌊n/m⌋ or
    ⌈n/m⌉ clients.
    """
    m = len(images.y)
    order = np.random.default_rng([seed, 1]).permutation(m)
    return Samples(images.x, images.y, np.resize(order, n), images.unit)


@lru_cache(maxsize=2)
def digits(seed: int) -> Images:
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
    return Images(x[train], y[train], x[test] / 16, y[test], 1 / 16)


@lru_cache(maxsize=2)
def enlarge_digits(seed: int) -> Images:
    """Return the digits that ship threefold, with a border of 2: 28 × 28 pixels, as MNIST's."""
    small = digits(seed)

    def threefold(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        pictures = rows.reshape(-1, 8, 8).repeat(3, axis=1).repeat(3, axis=2)
        return np.pad(pictures, ((0, 0), (2, 2), (2, 2))).reshape(len(rows), -1)

    return Images(threefold(small.x), small.y, threefold(small.x_test), small.y_test, small.unit)


@lru_cache(maxsize=1)
def mnist(folder: str, fingerprint: str) -> Images:
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
    return Images(
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
