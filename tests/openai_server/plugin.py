"""The `openai_server` fixture; loaded by `pytest_plugins` in tests/conftest.py."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from openai_server.server import FakeServer


@pytest.fixture
def openai_server() -> Iterator[FakeServer]:
    """A fresh server on a free port, closed after the test."""
    with FakeServer() as server:
        yield server
