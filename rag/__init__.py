"""Ask questions of research-paper abstracts; every answer cites papers, every citation is checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rag.errors import BudgetError, CorpusError, MissingExtraError, ModelError, RagError, SourceError, UsageError
from rag.records import Answer, Citation, Hit, Paper, Progress, Span, Statement, SyncReport
from rag.settings import Settings

if TYPE_CHECKING:
    from rag.assistant import Assistant
    from rag.conversation import Conversation

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Assistant",
    "BudgetError",
    "Citation",
    "Conversation",
    "CorpusError",
    "Hit",
    "MissingExtraError",
    "ModelError",
    "Paper",
    "Progress",
    "RagError",
    "Settings",
    "SourceError",
    "Span",
    "Statement",
    "SyncReport",
    "UsageError",
]


def __getattr__(name: str) -> Any:
    """Loads the heavy names at first use, so that `import rag` stays light."""
    if name == "Assistant":
        from rag.assistant import Assistant

        return Assistant
    if name == "Conversation":
        from rag.conversation import Conversation

        return Conversation
    raise AttributeError(f"module 'rag' has no attribute {name!r}")
