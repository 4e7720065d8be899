"""Decides whether a reply may be shown while it comes: odd beginnings wait for the end, loops are cut."""

from __future__ import annotations

import re

from rag.answering.abstention import refusal_begun
from rag.answering.loops import loop_start

_ODD = tuple('{ ``` [" [{ <<< <paper <| papers: question: title: abstract: answer: json'.split())
_SHORTEST = 12
_CHECK_EVERY = 120


class Gate:
    """Takes the deltas of a reply; `feed` gives what may be shown, empty while that is not certain."""

    def __init__(self, prompt: str, *, is_open: bool = False) -> None:
        # A reply may well begin with the words of a paper; what else stands in the prompt, it has no reason to repeat.
        lines = (line for line in prompt.splitlines() if not line.startswith(("Title: ", "Abstract: ")))
        self._prompt = " ".join(" ".join(lines).split()).lower()
        self._checked = 0
        self.raw = ""
        """The reply so far, cut where it began to loop."""
        self.is_open = is_open
        self.is_looping = False

    def feed(self, delta: str) -> str:
        """What may be shown now of the reply."""
        self.raw += delta
        if len(self.raw) - self._checked >= _CHECK_EVERY:
            self._checked = len(self.raw)
            if start := loop_start(self.raw):
                self.raw = self.raw[:start]
                self.is_looping = True
                return ""
        if self.is_open:
            return delta
        if self._is_sound():
            self.is_open = True
            return self.raw
        return ""

    def _is_sound(self) -> bool:
        """Whether the reply has begun like an answer: with words that are neither the prompt's nor a format's."""
        words = " ".join(re.sub(r"[\[【［(]\s*\^?[\d,;\s–-]*[\]】］)]?", " ", self.raw).split()).lower()
        if len(words) < _SHORTEST or self.raw.lstrip().lower().startswith(_ODD):
            return False
        return not refusal_begun(words) and words[:60] not in self._prompt
