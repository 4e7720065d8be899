"""Texts to vectors: the bundled local model, or any OpenAI-compatible embeddings server."""

from __future__ import annotations

from rag.embedding.hosted import HostedEmbedder
from rag.embedding.onnx import MiniLM
from rag.errors import UsageError
from rag.protocols import Embedder
from rag.settings import Settings

__all__ = ["HostedEmbedder", "MiniLM", "open_embedder"]


def open_embedder(settings: Settings) -> Embedder:
    """The embedder that `RAG_EMBEDDER` names; nothing is loaded before the first text.

    Raises `UsageError` for a name that is neither `minilm` nor `openai:<model>`.
    """
    kind, _, model = settings.embedder.partition(":")
    if settings.embedder == "minilm":
        return MiniLM()
    if kind == "openai" and model:
        return HostedEmbedder(settings, model)
    raise UsageError(f"No embedder named {settings.embedder!r}. Set RAG_EMBEDDER to `minilm` or `openai:<model name>`.")
