"""Stable samples of users by a keyed hash of their ids.

A seeded draw from the sorted ids would not be stable: removing one user renumbers all that follow
(of 200 sampled from 2,069 users, half were exchanged). With a hash, users are independent.
"""

import hashlib
import time
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

HashArray = np.ndarray[Any, np.dtype[np.uint64]]

_PREFIX = b"privacy-explorer sample "
_CHUNK_SIZE = 1000
"""Ids hashed between two yields to other threads: about a millisecond."""


def sample_key(seed: int) -> bytes:
    """Return the public key of a sample: BLAKE2b-256 of a fixed prefix and the decimal seed."""
    return hashlib.blake2b(_PREFIX + str(seed).encode("ascii"), digest_size=32).digest()


def hash_ids(ids: Iterable[str], key: bytes) -> HashArray:
    """Return the 128-bit keyed BLAKE2b hash of the UTF-8 of every id.

    Parameters
    ----------
    ids : iterable of str
        As read from the file, with leading zeros.
    key : bytes
        As `sample_key` returns it.

    Returns
    -------
    ndarray of uint64, shape (ids, 2)
        Upper and lower half of each hash, read big-endian.
    """
    blake2b = hashlib.blake2b
    digests = b"".join(
        blake2b(user.encode("utf-8", "surrogatepass"), digest_size=16, key=key).digest()
        for user in ids
    )
    return np.frombuffer(digests, ">u8").astype(np.uint64).reshape(-1, 2)


def fetched_hashes(names: Any, seed: int, check: Callable[[], None]) -> HashArray:
    """Return the hashes of a query's first column for a seed.

    100,000 ids take 0.1 s of plain Python; in small pieces no other thread waits more than a few
    milliseconds for its turn (6 ms where it was measured).

    Parameters
    ----------
    names : DuckDB result
        The ids, as text.
    seed : int
    check : callable
        Called between pieces; may raise to stop.
    """
    key, pieces = sample_key(seed), [np.empty((0, 2), np.uint64)]
    while rows := names.fetchmany(_CHUNK_SIZE):
        check()
        pieces.append(hash_ids((name for (name,) in rows), key))
        time.sleep(0)  # lets another thread run
    return np.concatenate(pieces)


def smallest(hashes: HashArray, number: int) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return the indices of the `number` smallest hashes, ascending; all if there are fewer.

    Of equal hashes (a chance of 2⁻¹²⁸ a pair) the first goes first: give them in the order of
    their ids.
    """
    if number >= len(hashes):
        return np.arange(len(hashes))
    upper = hashes[:, 0]
    # Only hashes that may be among them are sorted in full.
    near = np.flatnonzero(upper <= np.partition(upper, number - 1)[number - 1])
    order = np.lexsort((near, hashes[near, 1], upper[near]))
    return np.sort(near[order[:number]])


def below(hashes: HashArray, share: Fraction) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return the indices of the hashes below ⌊share · 2¹²⁸⌋, ascending.

    Raises
    ------
    ValueError
        If the share is not above 0 and at most 1.
    """
    return under(hashes, threshold(share))


def under(hashes: HashArray, limit: int) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return the indices of the hashes below a limit of at most 2¹²⁸, ascending."""
    if limit == 2**128:
        return np.arange(len(hashes))
    upper, lower = np.uint64(limit >> 64), np.uint64(limit & (2**64 - 1))
    first, second = hashes[:, 0], hashes[:, 1]
    return np.flatnonzero((first < upper) | ((first == upper) & (second < lower)))


def limit_of(hashes: HashArray, number: int) -> int:
    """Return the upper limit below which exactly the `number` smallest hashes lie."""
    if number >= len(hashes):
        return 2**128
    sampled = hashes[smallest(hashes, number)]
    upper, lower = sampled[np.lexsort((sampled[:, 1], sampled[:, 0]))[-1]].tolist()
    return int(upper) * 2**64 + int(lower) + 1


def threshold(share: Fraction) -> int:
    """Return ⌊share · 2¹²⁸⌋, the limit of hashes for a share of all users.

    Raises
    ------
    ValueError
        If the share is not above 0 and at most 1.
    """
    if not 0 < share <= 1:
        raise ValueError(f"share: {float(share):g} is not above 0 and at most 1")
    return int(share * 2**128)
