"""Embeddings from an OpenAI-compatible server."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from rag.settings import Settings
from rag.text.tokens import count_tokens

if TYPE_CHECKING:
    from rag.protocols import Vectors

_MAX_TOKENS = 8_000


class HostedEmbedder:
    """Embeds through `/v1/embeddings` of OpenAI or the server at `OPENAI_BASE_URL`; vectors are scaled to unit norm."""

    def __init__(self, settings: Settings, model: str) -> None:
        self._settings = settings
        self._model = model

    @property
    def fingerprint(self) -> str:
        """Server and model; the server's address counts, since equal names need not mean equal models."""
        from rag.models.endpoint import Endpoint

        return f"openai:{self._model}@{Endpoint.of(self._settings, self._model).shown_url}"

    @property
    def dimension(self) -> int:
        """Length of the server's vectors, found out with one call."""
        return self._dimension

    @property
    def max_tokens(self) -> int:
        """Just under the 8,191 tokens that OpenAI's embedding models take."""
        return _MAX_TOKENS

    def count_tokens(self, text: str) -> int:
        """Tokens of `text`, exact where tiktoken knows the model."""
        return count_tokens(text, self._model)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """`(n, dimension) float32`, unit norm. Raises `ModelError` when the server fails."""
        import numpy as np

        from rag.models.openai_client import embed_texts

        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        raw = np.asarray(embed_texts(self._settings, self._model, list(texts)), np.float32)
        unit: Vectors = raw / np.maximum(np.linalg.norm(raw, axis=1, keepdims=True), np.finfo(np.float32).tiny)
        return unit

    @cached_property
    def _dimension(self) -> int:
        return int(self.embed(["dimension"]).shape[1])
