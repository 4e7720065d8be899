"""The record of the log: one question with everything that came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any

from rag.records import Answer


@dataclass(frozen=True, slots=True)
class Exchange:
    """One logged question; `answer` is None while it was never finished."""

    id: int
    """Its number in the log, counting up over all conversations."""
    conversation: str
    turn: int
    """1-based place in its conversation."""
    asked_at: float
    """Seconds since the epoch."""
    question: str
    corpus: str
    model: str
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), hash=False)
    """What the question was asked with, as JSON values: k, mode, filters, focus..."""
    answer: Answer | None = None
    error: str = ""
    """Why there is no answer, when a fault ended the question."""
    undone: bool = False
    """True when the reader took the turn back; it stays in the log but not in the conversation."""

    @property
    def standalone(self) -> str:
        """The question as it was searched."""
        return (self.answer.standalone if self.answer else "") or str(self.options.get("standalone") or "") or self.question

    @property
    def when(self) -> str:
        """Local date and time, `2026-01-31 14:05:59`."""
        return datetime.fromtimestamp(self.asked_at).astimezone().strftime("%Y-%m-%d %H:%M:%S")

    @property
    def outcome(self) -> str:
        """One word: `answered`, `abstained`, `interrupted`, `cut`, `length`, `failed`, `unfinished` or `undone`."""
        if self.undone:
            return "undone"
        if self.answer is None:
            return "failed" if self.error else "unfinished"
        if self.answer.finish != "complete":
            return self.answer.finish
        return "abstained" if self.answer.abstained else "answered"
