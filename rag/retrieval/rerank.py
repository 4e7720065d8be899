"""Optional second look at the best hits: by a chat model that orders them, or by a cross-encoder that scores them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rag.errors import UsageError
from rag.prompting.framing import as_question, framed_all
from rag.prompting.templates import Prompts
from rag.protocols import ChatDelta, ChatModel, ChatRequest, Message, Reranker, Source
from rag.records import Hit
from rag.text.tokens import count_tokens

if TYPE_CHECKING:
    from rag.settings import Settings

_REPLY_TOKENS = 400
_SCHEMA = {
    "type": "object",
    "properties": {"ranking": {"type": "array", "items": {"type": "integer"}}},
    "required": ["ranking"],
    "additionalProperties": False,
}


def open_reranker(settings: Settings) -> Reranker | None:
    """The reranker that `RAG_RERANKER` names (`llm`, or `cross-encoder:` and a folder), or None when none is named.

    Raises `UsageError` for another name; nothing is loaded before the first use.
    """
    kind, _, folder = (settings.reranker or "").partition(":")
    if not kind:
        return None
    if settings.reranker == "llm":
        from rag.models import open_model

        return ModelReranker(open_model(settings), settings.prompts)
    if kind == "cross-encoder" and folder:
        from rag.retrieval.cross_encoder import CrossEncoder

        return CrossEncoder(Path(folder).expanduser())
    raise UsageError(f"No reranker named {settings.reranker!r}. Set RAG_RERANKER to `llm` or `cross-encoder:FOLDER`.")


class ModelReranker:
    """Lets a chat model order the hits, all in one request. A model that generates nothing leaves the order as it is."""

    def __init__(self, model: ChatModel, prompts: Path | None = None) -> None:
        self._model = model
        self._prompts = Prompts(prompts)

    def rerank(self, question: str, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """The hits in the model's order; those it leaves out, or that do not fit its context, follow in their old order.

        Raises `ModelError` when the model fails or its reply holds no JSON, `UsageError` or `SourceError` for a prompt out of order.
        """
        if not self._model.generative or len(hits) < 2:
            return tuple(hits)
        from rag.models.structured import read_json

        request = self._request(question, hits)
        reply = "".join(piece.text for piece in self._model.stream(request) if isinstance(piece, ChatDelta))
        chosen = _numbers(read_json(reply), len(request.sources))
        order = [number - 1 for number in chosen] + [row for row in range(len(hits)) if row + 1 not in chosen]
        return renewed([hits[row] for row in order], [1.0 / place for place in range(1, len(order) + 1)])

    def _request(self, question: str, hits: Sequence[Hit]) -> ChatRequest:
        sources = [Source(number, hit.paper, hit) for number, hit in enumerate(hits, 1)]
        prompt = self._prompt(question, sources)
        while len(sources) > 2 and count_tokens(prompt, self._model.name) + _REPLY_TOKENS > self._model.context_tokens:
            sources = sources[: len(sources) * 3 // 4]
            prompt = self._prompt(question, sources)
        return ChatRequest("rerank", (Message("user", prompt),), _REPLY_TOKENS, question, tuple(sources), schema=_SCHEMA)

    def _prompt(self, question: str, sources: Sequence[Source]) -> str:
        return self._prompts.render("rerank", papers=framed_all(sources), question=as_question(question), count=len(sources))


def renewed(hits: Sequence[Hit], scores: Sequence[float]) -> tuple[Hit, ...]:
    """The hits, given best first, with new ranks and `signals.rerank`."""
    pairs = enumerate(zip(hits, scores, strict=True), 1)
    return tuple(replace(hit, rank=rank, signals=replace(hit.signals, rerank=score)) for rank, (hit, score) in pairs)


def _numbers(reply: object, count: int) -> list[int]:
    """The valid paper numbers of a reply, each once, in order."""
    ranking = reply.get("ranking") if isinstance(reply, dict) else reply
    listed = ranking if isinstance(ranking, list) else []
    return list(dict.fromkeys(n for n in listed if isinstance(n, int) and not isinstance(n, bool) and 1 <= n <= count))
