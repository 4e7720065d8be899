"""One request to a model and how it ended, for the tests of models."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rag.errors import ModelError
from rag.protocols import ChatDelta, ChatEnd, ChatModel, ChatRequest, Message

KEY = "sk-the-key-of-the-user-0123456789"
TIMEOUT_S = 5.0
SHORT_S = 0.8
"""The time-out where running into it is the point."""
MESSAGES = (Message("system", "Cite the papers."), Message("user", "which papers study turn-taking?"))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one request."""

    text: str
    end: ChatEnd | None
    error: ModelError | None
    seconds: float

    @property
    def finish(self) -> str | None:
        return self.end.finish if self.end else None


def outcome_of(model: ChatModel, **fields: Any) -> Outcome:
    request = ChatRequest(**({"step": "answer", "messages": MESSAGES, "max_tokens": 200} | fields))
    start = time.monotonic()
    pieces: list[str] = []
    end: ChatEnd | None = None
    error: ModelError | None = None
    try:
        for item in _checked(model.stream(request)):
            if isinstance(item, ChatDelta):
                pieces.append(item.text)
            else:
                end = item
    except ModelError as raised:
        error = raised
    return Outcome("".join(pieces), end, error, time.monotonic() - start)


def _checked(items: Iterator[ChatDelta | ChatEnd]) -> Iterator[ChatDelta | ChatEnd]:
    ended = False
    for item in items:
        assert not ended, "something came after the end"
        ended = isinstance(item, ChatEnd)
        yield item
    assert ended, "the stream had no end"
