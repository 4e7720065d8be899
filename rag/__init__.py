"""Ask questions of research-paper abstracts; every answer cites papers, every citation is checked."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag.assistant import Assistant
    from rag.conversation import Conversation
    from rag.errors import BudgetError, CorpusError, LogError, MissingExtraError, ModelError, RagError, SourceError, UsageError
    from rag.records import Answer, Citation, Hit, Paper, Progress, Span, Statement, SyncReport
    from rag.settings import Settings
    from rag.store.filters import Filters

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Assistant",
    "BudgetError",
    "Citation",
    "Conversation",
    "CorpusError",
    "Filters",
    "Hit",
    "LogError",
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

_HOMES = {"Assistant": "rag.assistant", "Conversation": "rag.conversation", "Filters": "rag.store.filters", "Settings": "rag.settings"}


def __getattr__(name: str) -> Any:
    """Loads each public name at its first use, so that `import rag` and `ask --help` stay light."""
    if name not in __all__:
        raise AttributeError(f"module 'rag' has no attribute {name!r}")
    home = _HOMES.get(name) or ("rag.errors" if name.endswith("Error") else "rag.records")
    return getattr(import_module(home), name)
