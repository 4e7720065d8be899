"""A log in the test's own home."""

from pathlib import Path

import pytest

from rag.conversation import ConversationLog


@pytest.fixture
def log(home: Path) -> ConversationLog:
    return ConversationLog(home)
