"""A hosted model on the misbehaving server, with a short time-out and a key that must never show."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from openai_server import FakeServer

from rag.errors import ModelError
from rag.models import open_model
from rag.protocols import ChatDelta, ChatEnd, ChatModel, ChatRequest, Message
from rag.settings import Settings

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


@pytest.fixture(scope="session", autouse=True)
def _openai_imported() -> None:
    """Loading the package takes longer than the time-outs here."""
    import openai  # noqa: F401


@pytest.fixture
def settings(openai_server: FakeServer, home: Path) -> Settings:
    return Settings(openai_api_key=KEY, openai_base_url=openai_server.url, model="test-model", home=home, timeout_s=TIMEOUT_S)


@pytest.fixture
def model(settings: Settings) -> ChatModel:
    return open_model(settings)


@pytest.fixture
def ask(model: ChatModel) -> Callable[..., Outcome]:
    """Sends one request and waits for how it ends."""
    return lambda **fields: outcome_of(model, **fields)


@pytest.fixture
def ask_hastily(settings: Settings) -> Callable[..., Outcome]:
    """Like `ask`, with little patience."""
    model = open_model(replace(settings, timeout_s=SHORT_S))
    return lambda **fields: outcome_of(model, **fields)


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
