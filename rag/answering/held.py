"""Filters over a text that arrives in pieces: what comes out never depends on where the pieces were cut."""

from __future__ import annotations

from abc import ABC, abstractmethod

Step = tuple[str, int]
"""What to let out, and up to where the text is done."""


class Held(ABC):
    """Holds text back until it is certain what it is.

    A subclass decides at one place at a time; it must answer None ("wait") whenever more text could change its answer.
    """

    def __init__(self) -> None:
        self._held = ""

    def feed(self, delta: str) -> str:
        """What can be let out now."""
        self._held += delta
        return self._drain(final=False)

    def close(self) -> str:
        """What was still held back; nothing can be fed afterwards."""
        return self._drain(final=True)

    @abstractmethod
    def step(self, text: str, place: int, *, final: bool) -> Step | None:
        """The decision at `place`; None to wait, never when `final`."""

    def _drain(self, *, final: bool) -> str:
        out: list[str] = []
        place = 0
        while place < len(self._held):
            step = self.step(self._held, place, final=final)
            if step is None:
                break
            out.append(step[0])
            place = step[1]
        self._held = self._held[place:]
        return "".join(out)
