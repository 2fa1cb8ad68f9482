"""Messages between processes: equal on arrival, large arrays once and the same object again."""

from __future__ import annotations

from collections.abc import Iterator
from multiprocessing import Pipe
from threading import Thread
from typing import Any

import numpy as np
import pytest

from explorer.engine.compute.transport import MIN_SHARED_BYTES, Receiver, Sender


class Wire:
    """Sends from a thread, as a pipe holds less than a message may need."""

    def __init__(self) -> None:
        self.there, self.here = Pipe(duplex=False)
        self.sender, self.receiver = Sender(self.here), Receiver(self.there)

    def pass_on(self, message: Any, stream: str = "") -> Any:
        thread = Thread(target=self.sender.send, args=(message, stream))
        thread.start()
        came = self.receiver.receive()
        thread.join()
        return came


@pytest.fixture
def wire() -> Iterator[Wire]:
    wire = Wire()
    yield wire
    wire.there.close()
    wire.here.close()


def picture(value: float, side: int = 256) -> np.ndarray:
    return np.full((side, side), value, np.float32)


def test_messages_arrive_as_they_were(wire: Wire) -> None:
    rng = np.random.default_rng(0)
    for array in (
        rng.random((256, 256)).astype(np.float32),
        rng.integers(0, 9, (3, 4000, 5)),
        rng.random((300, 200)).T,  # not contiguous
        np.zeros(4),
        np.array([None, "a"] * MIN_SHARED_BYTES, object),
    ):
        name, [came, again] = wire.pass_on(("a", [array, array]))
        assert name == "a"
        assert came.dtype == array.dtype
        np.testing.assert_array_equal(came, array)
        assert again is came


def test_an_array_that_stays_is_sent_once_and_is_the_same_object(wire: Wire, monkeypatch) -> None:
    sent: list[int] = []
    write = type(wire.here).send_bytes

    def count(connection: Any, content: Any) -> None:
        sent.append(memoryview(content).nbytes)
        write(connection, content)

    monkeypatch.setattr(type(wire.here), "send_bytes", count)
    true, drawn = picture(0.0), [picture(1.0 + i) for i in range(3)]
    before = wire.pass_on([true, drawn[0]], "map")
    for array in drawn[1:]:
        wire.pass_on("nothing new", "map")  # forgets nothing
        sent.clear()
        now = wire.pass_on([true, array], "map")
        assert now[0] is before[0]
        assert now[1] is not before[1]
        np.testing.assert_array_equal(now[1], array)
        assert true.nbytes < sum(sent) < 1.1 * true.nbytes
        before = now


def test_what_is_out_of_use_and_what_has_no_stream_is_not_kept(wire: Wire) -> None:
    first, second = picture(1.0), picture(2.0)
    came = wire.pass_on([first], "map")[0]
    other = wire.pass_on([first], "play")[0]
    assert other is not came
    wire.pass_on([second], "map")
    assert wire.pass_on([first], "map")[0] is not came
    assert wire.pass_on([first], "play")[0] is other
    assert wire.pass_on([first])[0] is not wire.pass_on([first])[0]


def test_what_cannot_be_pickled_leaves_the_wire_usable(wire: Wire) -> None:
    array = picture(1.0)
    with pytest.raises(Exception, match=r"pickle|local object"):
        wire.sender.send([array, lambda: None], "map")
    came = wire.pass_on([array], "map")[0]
    np.testing.assert_array_equal(came, array)
    assert wire.pass_on([array], "map")[0] is came
