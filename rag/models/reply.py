"""Reading a reply as it comes: visible text apart from thoughts, refusal, finish and usage."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# What opens a stretch of thoughts at the start of a reply, and what ends it.
_THOUGHTS = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "<|channel|>analysis<|message|>": "<|channel|>final<|message|>",
}
_CLOSINGS = tuple(_THOUGHTS.values())
_SILENT_THINKERS = re.compile(r"deepseek-r1|r1-distill|qwq|thinking|magistral|reasoner", re.IGNORECASE)


def thinks_silently(model: str) -> bool:
    """True for models whose chat template opens the thoughts itself, so that replies hold only the closing tag."""
    return bool(_SILENT_THINKERS.search(model))


class ThoughtFilter:
    """Lets visible text through and keeps thoughts back, however their tags are split.

    Tags count only where a reply (or what follows a thought) starts: a paper may well be about `<think>` tokens.
    """

    def __init__(self, *, silent: bool = False) -> None:
        self._held = ""
        self._closing = ""
        self._silent = silent
        self._passing = False
        self.unannounced = False
        """True once thoughts ended that no tag had opened: they were taken for text."""

    def feed(self, text: str) -> str:
        """The visible part of what has come, as far as it is certain."""
        if self._passing:
            self.unannounced = self.unannounced or any(closing in text for closing in _CLOSINGS[:4])
            return text
        self._held += text
        while self._closed() if self._closing else self._opened():
            continue
        return self._certain()

    def close(self) -> str:
        """What is still held back and turns out to be visible."""
        held, self._held = self._held, ""
        return "" if self._closing else held

    def finish_silence(self) -> None:
        """Thoughts come in a field of their own: what comes as text is text."""
        self._silent = False

    def _closed(self) -> bool:
        """Drops a thought that has ended; False while it goes on."""
        end = self._held.find(self._closing)
        if end < 0:
            self._held = self._held[-len(self._closing) :]
            return False
        self._held = self._held[end + len(self._closing) :]
        self._closing, self._silent = "", False
        return True

    def _opened(self) -> bool:
        """Finds out that a thought begins here, or was going on from the start."""
        start = self._held.lstrip()
        for opening, closing in _THOUGHTS.items():
            if start.startswith(opening):
                self._held, self._closing = start[len(opening) :], closing
                return True
        ended = next((closing for closing in _CLOSINGS if closing in self._held), None) if self._silent else None
        if ended is None:
            return False
        self._held, self._silent = self._held.partition(ended)[2], False
        return True

    def _certain(self) -> str:
        start = self._held.lstrip()
        if self._closing or self._silent or any(opening.startswith(start) for opening in _THOUGHTS):
            return ""
        self._passing, self._held = True, ""
        return start


class ReplyReader:
    """Collects one reply from its events, streamed or whole; `read` gives the visible text of each."""

    def __init__(self, *, silent: bool = False) -> None:
        self.finish: str | None = None
        self.refusal = ""
        self.usage: tuple[int | None, int | None] = (None, None)
        self.has_choice = False
        self.thought_characters = 0
        self.events = 0
        self._filter = ThoughtFilter(silent=silent)

    def read(self, event: object) -> str:
        """The visible text of an event. Raises `ValueError` for something that is no chat completion."""
        if not isinstance(event, Mapping) or not isinstance(choices := event.get("choices"), list):
            raise ValueError("JSON that is no chat completion")
        self.events += 1
        self._read_usage(event.get("usage"))
        choice = choices[0] if choices else None
        if not isinstance(choice, Mapping):
            return ""
        self.has_choice = True
        self.finish = str(choice["finish_reason"]) if choice.get("finish_reason") else self.finish
        message = choice.get("delta") or choice.get("message")
        if message is None and "text" in choice:
            message = {"content": choice["text"]}
        return self._read_message(message) if isinstance(message, Mapping) else ""

    @property
    def thought_unannounced(self) -> bool:
        """True when thoughts slipped through as text, because no tag had opened them."""
        return self._filter.unannounced

    def close(self) -> str:
        """Visible text that was held back until the end."""
        return self._filter.close()

    def _read_message(self, message: Mapping[str, Any]) -> str:
        thought = _text(message.get("reasoning_content")) + _text(message.get("reasoning"))
        if thought:
            self.thought_characters += len(thought)
            self._filter.finish_silence()
        self.refusal += _text(message.get("refusal"))
        content = _text(message.get("content"))
        visible = self._filter.feed(content)
        self.thought_characters += max(len(content) - len(visible), 0)
        return visible

    def _read_usage(self, usage: object) -> None:
        if isinstance(usage, Mapping):
            self.usage = (_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = (part for part in content if isinstance(part, Mapping) and part.get("type") == "text")
        return "".join(str(part.get("text") or "") for part in parts)
    return ""


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
