"""What one question may cost, what it has cost, and model calls that keep to it."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from rag.errors import BudgetError
from rag.protocols import ChatDelta, ChatEnd, ChatModel, ChatRequest, Message
from rag.records import StepUsage, Usage
from rag.text.tokens import count_tokens

_PER_MESSAGE = 8
_SMALLEST_REPLY = 64


@dataclass
class Ledger:
    """Tokens of one question, call by call, against an optional limit."""

    limit: int | None = None
    steps: list[StepUsage] = field(default_factory=list)

    @property
    def spent(self) -> int:
        """Tokens of all calls so far."""
        return sum(step.prompt_tokens + step.completion_tokens for step in self.steps)

    @property
    def left(self) -> int | None:
        """Tokens that may still be spent; None without a limit."""
        return None if self.limit is None else max(self.limit - self.spent, 0)

    def usage(self) -> Usage:
        """All steps together."""
        return Usage(
            sum(step.prompt_tokens for step in self.steps),
            sum(step.completion_tokens for step in self.steps),
            any(step.estimated for step in self.steps),
            tuple(self.steps),
        )

    def granted(self, request: ChatRequest, model: str) -> ChatRequest:
        """The request with its reply cut to what is left. Raises `BudgetError`, before anything is sent, when that is too little."""
        if self.left is None:
            return request
        needed = estimate(request.messages, model)
        if self.left - needed < min(_SMALLEST_REPLY, request.max_tokens):
            raise BudgetError(
                f"The step `{request.step}` needs {needed:,} tokens and a reply, and {self.left:,} of {self.limit:,} are left for "
                "this question. Raise RAG_MAX_TOKENS_PER_QUESTION, or ask for fewer papers with -k."
            )
        return replace(request, max_tokens=min(request.max_tokens, self.left - needed))


class MeteredModel:
    """A chat model whose calls are counted in a ledger and held to its limit."""

    def __init__(self, model: ChatModel, ledger: Ledger) -> None:
        self._model = model
        self.ledger = ledger

    @property
    def name(self) -> str:
        """The model's own name."""
        return self._model.name

    @property
    def context_tokens(self) -> int:
        """The model's own context."""
        return self._model.context_tokens

    @property
    def generative(self) -> bool:
        """As the model says."""
        return self._model.generative

    @contextmanager
    def open(self, request: ChatRequest) -> Iterator[Iterator[ChatDelta | ChatEnd]]:
        """The events of `stream`; the connection is closed at the end of the block, however it is left."""
        events = self.stream(request)
        try:
            yield events
        finally:
            events.close()

    def stream(self, request: ChatRequest) -> Generator[ChatDelta | ChatEnd, None, None]:
        """The model's reply; counted also when it is cut or abandoned.

        Raises `BudgetError` before anything is sent, `ModelError` as the model does.
        """
        if not self._model.generative:
            yield from self._model.stream(request)
            return
        request = self.ledger.granted(request, self.name)
        pieces: list[str] = []
        end = ChatEnd("cut")
        begun = False
        try:
            for event in self._model.stream(request):
                begun = True
                if isinstance(event, ChatEnd):
                    end = event
                else:
                    pieces.append(event.text)
                yield event
        finally:
            if begun:
                self._count(request, "".join(pieces), end)

    def reply(self, request: ChatRequest) -> str:
        """The whole reply as text."""
        return "".join(event.text for event in self.stream(request) if isinstance(event, ChatDelta))

    def _count(self, request: ChatRequest, text: str, end: ChatEnd) -> None:
        estimated = end.prompt_tokens is None or end.completion_tokens is None
        prompt = estimate(request.messages, self.name) if end.prompt_tokens is None else end.prompt_tokens
        completion = count_tokens(text, self.name) if end.completion_tokens is None else end.completion_tokens
        self.ledger.steps.append(StepUsage(request.step, prompt, completion, estimated))


def estimate(messages: Sequence[Message], model: str) -> int:
    """Tokens of a prompt as the local table counts them, with what a chat template adds."""
    return sum(count_tokens(message.content, model) + _PER_MESSAGE for message in messages)
