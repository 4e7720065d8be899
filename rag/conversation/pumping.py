"""A blocking stream of events, read by a thread of its own and handed to an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

Event = TypeVar("Event")
Produced = TypeVar("Produced", covariant=True)


class Closable(Iterator[Produced], Protocol[Produced]):
    """An iterator that can be stopped early."""

    def close(self) -> None:
        """Stops it."""


@dataclass(frozen=True, slots=True)
class _End:
    error: BaseException | None = None


async def pumped(open_stream: Callable[[], Closable[Event]]) -> AsyncIterator[Event]:
    """The events of the stream as they come.

    Each stream has its own thread: in a shared pool, streams that wait for each other could take all its threads.
    Leaving early stops the stream at its next event and waits until it is closed.
    """
    pump = _Pump(open_stream)
    pump.thread.start()
    try:
        while not isinstance(item := await pump.queue.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        pump.stopped.set()
        await asyncio.to_thread(pump.thread.join)


class _Pump(Generic[Event]):
    def __init__(self, open_stream: Callable[[], Closable[Event]]) -> None:
        self.queue: asyncio.Queue[Event | _End] = asyncio.Queue()
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True, name="conversation-stream")
        self._loop = asyncio.get_running_loop()
        self._open_stream = open_stream

    def _run(self) -> None:
        try:
            with closing(self._open_stream()) as events:
                for event in events:
                    if self.stopped.is_set():
                        break
                    self._put(event)
        except BaseException as error:  # noqa: BLE001 - raised again in the task
            self._put(_End(error))
        else:
            self._put(_End())

    def _put(self, item: Event | _End) -> None:
        self._loop.call_soon_threadsafe(self.queue.put_nowait, item)
