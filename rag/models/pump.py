"""A bounded wait: work that may hang runs in a thread of its own, and its reader never waits longer than it says."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from enum import Enum
from typing import Generic, TypeVar

Item = TypeVar("Item")

# Enough to never slow a server down, few enough that an endless reply cannot fill the memory.
_CAPACITY = 1024
_POLL_S = 0.05


class Signal(Enum):
    """What a reader gets instead of an item."""

    STALLED = "nothing came within the wait"
    ENDED = "the producer returned"
    ALIVE = "nothing to show, but the producer is making progress"


class Pump(Generic[Item]):
    """A producer in a daemon thread and a queue to its reader.

    A socket's own time-outs do not bound name look-ups, keep-alive comments or bytes that trickle in; this does.
    """

    def __init__(self, produce: Callable[[Pump[Item]], None]) -> None:
        self._queue: queue.Queue[Item | Signal] = queue.Queue(_CAPACITY)
        self._gone = threading.Event()
        self._hang_up: Callable[[], None] | None = None
        self._fallback: Item | None = None
        self._thread = threading.Thread(target=self._run, args=(produce,), daemon=True, name="rag-model")
        self._thread.start()

    def get(self, wait_s: float) -> Item | Signal:
        """The next item, or a signal; after `wait_s` seconds without either, what `fall_back_to` named, else `STALLED`."""
        try:
            return self._queue.get(timeout=max(wait_s, 0.0))
        except queue.Empty:
            return Signal.STALLED if self._fallback is None else self._fallback

    def abandon(self) -> None:
        """Tells the producer that nobody reads any more and breaks off what it waits for."""
        self._gone.set()
        if hang_up := self._hang_up:
            hang_up()

    @property
    def abandoned(self) -> bool:
        """For the producer: True once the reader is gone."""
        return self._gone.is_set()

    def put(self, item: Item | Signal) -> None:
        """For the producer: hands an item over, waiting while the reader is far behind."""
        self._fallback = None
        while not self._gone.is_set():
            try:
                return self._queue.put(item, timeout=_POLL_S)
            except queue.Full:
                continue

    def fall_back_to(self, item: Item) -> None:
        """For the producer: what the reader gets when nothing more comes in time; the next `put` takes it back."""
        self._fallback = item

    def sleep(self, seconds: float) -> None:
        """For the producer: waits, unless the reader goes."""
        self._gone.wait(seconds)

    def hang_up_with(self, hang_up: Callable[[], None] | None) -> None:
        """For the producer: how to break off its present wait from outside; None once there is none."""
        self._hang_up = hang_up

    def _run(self, produce: Callable[[Pump[Item]], None]) -> None:
        try:
            produce(self)
        finally:
            self.put(Signal.ENDED)
