"""Messages between processes: large arrays go as they are, and only once while they stay the same.

The true map of a slider's next value is the array of the one before: it is neither copied nor sent
again, and whoever receives it sees that it is the same, and paints nothing.
"""

from __future__ import annotations

import fcntl
import io
import pickle
import sys
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

MIN_SHARED_BYTES = 1 << 14
"""Smaller arrays travel with the rest."""
PIPE_BYTES = 1 << 20
"""What a pipe should hold, a frame: each refill of the usual 64 kB waits for the other process."""

Array = np.ndarray[Any, np.dtype[Any]]


class Sender:
    """Sends messages over a connection, from any thread."""

    def __init__(self, connection: Connection) -> None:
        if sys.platform == "linux":
            with suppress(OSError):  # more than an unprivileged user may ask for
                fcntl.fcntl(connection.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self._connection = connection
        self._lock = threading.Lock()
        self._number = 0
        self._known: dict[str, dict[int, tuple[int, Array]]] = {}

    def send(self, message: object, stream: str = "") -> None:
        """Send a message; the arrays of the last one with arrays in its stream are not sent again.

        Arrays must not be written to afterwards. Without a stream nothing is remembered.

        Raises
        ------
        OSError
            If the receiver is gone.
        Exception
            What can't be pickled raises; nothing is sent of it then.
        """
        with self._lock:
            known = self._known.get(stream, {})
            content = io.BytesIO()
            pickler = _Pickler(content, known, self._number)
            pickler.dump(message)
            self._number = pickler.number
            new = [(n, array) for n, array in pickler.used.values() if n in pickler.new]
            facts = [(n, array.dtype, array.shape) for n, array in new]
            if stream and pickler.used:
                self._known[stream] = pickler.used
            self._connection.send_bytes(pickle.dumps((stream, facts, content.getvalue()), 5))
            for _, array in new:
                self._connection.send_bytes(array.reshape(-1).view(np.uint8).data)


class _Pickler(pickle.Pickler):
    """Gives a number to each large array, and remembers which ones were met."""

    def __init__(self, file: io.BytesIO, known: dict[int, tuple[int, Array]], number: int) -> None:
        super().__init__(file, 5)
        self._known = known
        self.number = number
        self.new: set[int] = set()
        self.used: dict[int, tuple[int, Array]] = {}

    def persistent_id(self, item: Any) -> int | None:
        """Return the number of a large array; None for everything else."""
        if (
            type(item) is not np.ndarray
            or item.nbytes < MIN_SHARED_BYTES
            or item.dtype.hasobject
            or not item.flags.c_contiguous
        ):
            return None
        # The array is kept with its id, so that the id can't come to mean another one.
        met = self.used.get(id(item)) or self._known.get(id(item))
        if met is None:
            self.number += 1
            self.new.add(self.number)
            met = self.number, item
        self.used[id(item)] = met
        return met[0]


class Receiver:
    """Receives what a `Sender` sends; used by one thread."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known: dict[str, dict[int, Array]] = {}

    def receive(self) -> Any:
        """Return the next message.

        Raises
        ------
        EOFError, OSError
            If no more can come.
        """
        stream, facts, content = pickle.loads(self._connection.recv_bytes())
        arrays = dict(self._known.get(stream, {}))
        for number, dtype, shape in facts:
            array = np.empty(shape, dtype)
            self._connection.recv_bytes_into(array.reshape(-1).view(np.uint8).data)
            array.flags.writeable = False
            arrays[number] = array
        unpickler = _Unpickler(io.BytesIO(content), arrays)
        message = unpickler.load()
        if stream and unpickler.used:
            self._known[stream] = unpickler.used
        return message


class _Unpickler(pickle.Unpickler):
    """Puts arrays in the place of their numbers, and remembers which."""

    def __init__(self, file: io.BytesIO, arrays: dict[int, Array]) -> None:
        super().__init__(file)
        self._arrays = arrays
        self.used: dict[int, Array] = {}

    def persistent_load(self, number: Any) -> Array:
        """Return the array of a number."""
        result = self._arrays[number]
        self.used[number] = result
        return result
