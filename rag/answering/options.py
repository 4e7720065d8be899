"""What a caller can choose for one question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rag.errors import UsageError
from rag.protocols import Message
from rag.records import Mode
from rag.store.filters import NO_FILTERS, Filters

Verify = Literal["local", "llm", "off"]


@dataclass(frozen=True, slots=True)
class AskOptions:
    """Options of one question. Raises `UsageError` for a number below 1 or an unknown way to verify."""

    k: int = 8
    """Papers given to the model in answer mode."""
    mode: Mode | None = None
    """Overrules what the question seems to ask for."""
    filters: Filters = NO_FILTERS
    """Restrictions on top of those found in the question."""
    max_shown: int | None = None
    """List mode: how many matches to show; all are counted."""
    strict: bool = False
    """Remove statements that their citations do not support."""
    verify: Verify = "local"
    repair: bool = True
    numbers: Mapping[str, int] = field(default_factory=dict, hash=False)
    """Paper id -> its number in the conversation."""
    focus: tuple[str, ...] = ()
    """Ids of papers that the question refers to; they come first in the context."""
    history: tuple[Message, ...] = ()
    """Earlier messages of the conversation, oldest first."""
    standalone: str = ""
    """The question with its references to earlier turns resolved; empty when it stands alone."""
    conversation: str = ""
    """Id of the conversation, passed on to the answer."""

    def __post_init__(self) -> None:
        for name in ("k", "max_shown"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"{name}={value} is below 1. Ask for at least one paper.")
        if self.verify not in ("local", "llm", "off"):
            raise UsageError(f"verify={self.verify!r} is unknown. Use local, llm or off.")
        if self.mode not in (None, "answer", "list"):
            raise UsageError(f"mode={self.mode!r} is unknown. Use answer or list.")
