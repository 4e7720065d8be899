"""The seams: what may be exchanged for another implementation, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from rag.records import Hit, Mode, Paper, Step

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vectors: TypeAlias = "NDArray[np.float32]"


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def fingerprint(self) -> str:
        """Names model, precision, token limit and pooling; equal fingerprints give equal vectors."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    @property
    def max_tokens(self) -> int:
        """Longest window, in this embedder's own tokens (special tokens not counted)."""

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` without special tokens."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """`(n, dimension) float32`, unit norm, in the order of `texts`; `(0, dimension)` for none."""


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Source:
    """A paper as it stands in a prompt, under its number, with the hit that brought it."""

    number: int
    paper: Paper
    hit: Hit | None = None


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call of a chat model. Hosted models read `messages`; the offline model reads the structured fields."""

    step: Step
    messages: tuple[Message, ...]
    max_tokens: int
    question: str = ""
    sources: tuple[Source, ...] = ()
    mode: Mode = "answer"
    schema: Mapping[str, Any] | None = field(default=None, hash=False)
    """JSON schema the reply should follow, where the server supports structured output."""


@dataclass(frozen=True, slots=True)
class ChatDelta:
    """A piece of a reply's text."""

    text: str


@dataclass(frozen=True, slots=True)
class ChatEnd:
    """How a reply ended; token counts are None when the server did not report them."""

    finish: Literal["stop", "length", "content_filter", "cut"]
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class ChatModel(Protocol):
    """Answers chat requests, piece by piece."""

    @property
    def name(self) -> str:
        """What the reader sees as the model's name."""

    @property
    def context_tokens(self) -> int:
        """Prompt plus completion that fit, in tokens."""

    @property
    def generative(self) -> bool:
        """True for a language model that can rewrite, judge and repair; False for the extractive offline model."""

    def stream(self, request: ChatRequest) -> Iterator[ChatDelta | ChatEnd]:
        """Deltas, then exactly one `ChatEnd`.

        A fault before the first delta raises `ModelError`; a fault in mid-stream ends with `ChatEnd("cut")`.
        """


class Reranker(Protocol):
    """Reorders hits by reading them against the question."""

    def rerank(self, question: str, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """The same hits, best first, `rank` renewed and `signals.rerank` filled."""
