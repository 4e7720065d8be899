"""A hosted model on the misbehaving server, with a short time-out and a key that must never show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from models_parts import KEY, SHORT_S, TIMEOUT_S, Outcome, outcome_of
from openai_server import FakeServer

from rag.models import open_model
from rag.protocols import ChatModel
from rag.settings import Settings


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
