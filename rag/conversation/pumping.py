"""A blocking stream of events, read by a thread of its own and handed to an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol, TypeVar

Event = TypeVar("Event", covariant=True)


class Closable(Iterator[Event], Protocol[Event]):
    """An iterator that can be stopped early."""

    def close(self) -> None:
        """Stops it."""


@dataclass(frozen=True, slots=True)
class _End:
    error: BaseException | None = None


async def pumped(open_stream: Callable[[], Closable[Event]]) -> AsyncIterator[Event]:
    """The events of the stream as they come.

    Each stream has its own thread: in a shared pool, streams that wait for each other could take all its threads.
    Leaving early stops the stream and waits until it is closed.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Event | _End] = asyncio.Queue()
    stopped = threading.Event()

    def put(item: Event | _End) -> None:
        loop.call_soon_threadsafe(queue.put_nowait, item)

    def run() -> None:
        try:
            with closing(open_stream()) as events:
                for event in events:
                    if stopped.is_set():
                        break
                    put(event)
        except BaseException as error:  # noqa: BLE001 - raised again in the task
            put(_End(error))
        else:
            put(_End())

    thread = threading.Thread(target=run, daemon=True, name="conversation-stream")
    thread.start()
    try:
        while not isinstance(item := await queue.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        stopped.set()
        await asyncio.to_thread(thread.join)
