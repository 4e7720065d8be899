"""From hits to the messages of a request that fits the model's context."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag.errors import BudgetError
from rag.models.sentences import asks
from rag.prompting.framing import as_question, framed_all
from rag.prompting.templates import REFUSAL, Prompts
from rag.protocols import ChatModel, Message, Source
from rag.records import Hit
from rag.text.tokens import count_tokens

COMPLETION_TOKENS = 1_024
_PER_MESSAGE = 8
"""Tokens that a chat template spends on each message, generously."""
_SENTENCES = re.compile(r"[.!]\s+\S")
_TABLE_ERROR = 0.05
"""How far the bundled token table may be off for other models, as a share of the context."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """The messages of an answer request and the papers they hold."""

    messages: tuple[Message, ...]
    sources: tuple[Source, ...]
    max_tokens: int
    left_out: int = 0
    """Papers that did not fit."""
    history_left_out: int = 0
    """Earlier messages that did not fit."""


def number_sources(hits: Sequence[Hit], numbers: Mapping[str, int]) -> tuple[Source, ...]:
    """The hits as numbered sources, one number per paper: those in `numbers` keep theirs, new ones go on from the highest."""
    given = dict(numbers)
    following = max(given.values(), default=0) + 1
    sources = []
    for hit in hits:
        if hit.paper.id not in given:
            given[hit.paper.id] = following
            following += 1
        sources.append(Source(given[hit.paper.id], hit.paper, hit))
    return tuple(sources)


class PromptBuilder:
    """Fills prompts for one model: whole abstracts only, history dropped before papers, papers from the bottom."""

    def __init__(self, prompts: Prompts, model: ChatModel) -> None:
        self._prompts = prompts
        self._model = model

    def build(
        self,
        question: str,
        sources: Sequence[Source],
        *,
        language: str = "English",
        history: Sequence[Message] = (),
        room: int | None = None,
    ) -> Prompt:
        """The answer prompt within `room` tokens, completion included (the model's context when None).

        Raises `BudgetError` when the question does not fit even with a single paper.
        """
        room = self._model.context_tokens if room is None else min(room, self._model.context_tokens)
        completion = completion_tokens(room)
        limit = room - completion - int(room * _TABLE_ERROR if self._model.generative else 0)
        system = Message("system", self._prompts.render("system", language=language, refusal=REFUSAL))
        kept, messages = list(sources), list(history)
        asked = _as_asked(question) if language == "English" else as_question(question)
        while True:
            request = (system, *messages, Message("user", self._user(asked, kept)))
            if self.fits(request, limit):
                return Prompt(request, tuple(kept), completion, len(sources) - len(kept), len(history) - len(messages))
            if messages:
                messages = _without_oldest(messages)
            elif len(kept) > 1:
                kept = kept[:-1]
            else:
                raise self._too_long(self.count(request), max(limit, 0), limited=room < self._model.context_tokens)

    def count(self, messages: Sequence[Message]) -> int:
        """Tokens of the messages for the model."""
        return sum(count_tokens(message.content, self._model.name) + _PER_MESSAGE for message in messages)

    def fits(self, messages: Sequence[Message], limit: int) -> bool:
        """Whether the messages take at most `limit` tokens; counted only when their bytes alone do not settle it."""
        # A token is at least one byte: large contexts need no token table.
        if sum(len(message.content.encode()) + _PER_MESSAGE for message in messages) <= limit:
            return True
        return self.count(messages) <= limit

    def _too_long(self, needed: int, available: int, *, limited: bool) -> BudgetError:
        remedy = "raise RAG_MAX_TOKENS_PER_QUESTION" if limited else "raise RAG_CONTEXT_TOKENS if the model takes more"
        return BudgetError(
            f"The question with its smallest prompt takes {needed:,} tokens, and {available:,} are available for {self._model.name}. "
            f"Shorten the question, or {remedy}."
        )

    def _user(self, question: str, sources: Sequence[Source]) -> str:
        return self._prompts.render("answer", papers=framed_all(sources), question=question, count=len(sources))


def _as_asked(question: str) -> str:
    """The question for the prompt; a bare topic is put as one, for small models find no question in it and refuse."""
    plain = as_question(question)
    return plain if asks(plain) or _SENTENCES.search(plain) else f"What do the papers say about “{plain.rstrip('.')}”?"


def completion_tokens(room: int) -> int:
    """Tokens kept free for the reply: 1,024, or a quarter of a small context."""
    return max(min(COMPLETION_TOKENS, room // 4), 1)


def _without_oldest(messages: list[Message]) -> list[Message]:
    """The messages without the oldest exchange: a dangling reply goes with its question."""
    rest = messages[1:]
    while rest and rest[0].role == "assistant":
        rest = rest[1:]
    return rest
