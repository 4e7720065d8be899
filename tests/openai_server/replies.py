"""What the server receives and what it sends: requests as recorded, replies as scripted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Names lower-cased."""
    body: Mapping[str, Any]
    at: float = 0.0
    """`time.monotonic()` of arrival."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The chat messages; empty for other endpoints."""
        return list(self.body.get("messages", ()))

    @property
    def text(self) -> str:
        """All messages in one string, for predicates and assertions."""
        return "\n".join(str(message.get("content", "")) for message in self.messages)

    def said_by(self, role: str) -> str:
        """The messages of one role in one string."""
        return "\n".join(str(m.get("content", "")) for m in self.messages if m.get("role") == role)

    @property
    def system(self) -> str:
        """The system messages."""
        return self.said_by("system")

    @property
    def user(self) -> str:
        """The user messages."""
        return self.said_by("user")


@dataclass(frozen=True, slots=True)
class Reply:
    """One scripted reply: a chat text in pieces, or raw bytes, with whatever is to go wrong."""

    text: str = ""
    deltas: tuple[str, ...] | None = None
    """Pieces to stream; by default the words of `text`."""
    finish: str | None = "stop"
    usage: tuple[int, int] | None = (100, 20)
    """Prompt and completion tokens; None leaves usage out."""
    reasoning: str = ""
    """Sent as `reasoning_content` before the text."""
    refusal: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    error: Mapping[str, Any] | None = None
    """The `error` object of a 4xx or 5xx."""
    raw: bytes | Iterable[bytes] | None = None
    """Sent as the body instead of anything generated; an iterable is sent in chunks."""
    content_type: str = "application/json"
    first_byte_s: float = 0.0
    """Wait before the status line."""
    stall_after: int | None = None
    """Go silent for `stall_s` after so many deltas."""
    stall_s: float = 60.0
    cut_after: int | None = None
    """Drop the connection after so many deltas."""
    unfinished: bool = False
    """End the stream in good order but without finish_reason and [DONE]."""
    choices: bool = True
    """False sends an empty `choices`."""
    error_after: int | None = None
    """Send an error event inside the stream after so many deltas."""
    pause_s: float = 0.0
    """Wait between deltas."""

    @property
    def pieces(self) -> tuple[str, ...]:
        """What is streamed, in order."""
        return self.deltas if self.deltas is not None else tuple(re.findall(r"\s*\S+|\s+$", self.text))

    @property
    def full_text(self) -> str:
        """What is sent when not streaming."""
        return "".join(self.pieces)


Responder = Callable[[Request], "Reply | str"]
Scripted = Reply | str | Responder
