"""What the store's tests are made of: an embedder without a model, and papers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from rag.protocols import Vectors
from rag.records import Paper


class HashEmbedder:
    """Deterministic unit vectors; counts what it embeds."""

    dimension = 16
    max_tokens = 60

    def __init__(self, fingerprint: str = "hash-16") -> None:
        self.fingerprint = fingerprint
        self.texts: list[str] = []

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            seed = int.from_bytes(hashlib.sha256(f"{self.fingerprint}{text}".encode()).digest()[:8], "big")
            vectors[row] = np.random.default_rng(seed).standard_normal(self.dimension)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def make_paper(number: int, **changes: object) -> Paper:
    fields: dict[str, object] = {
        "id": f"p{number}",
        "title": f"Paper number {number}",
        "abstract": f"We study topic{number % 7} in depth. The method{number} is new. It beats baseline{number % 3} by {number}.5 points.",
        "authors": (f"Ada Lovelace{number % 5}", "Bob Übermaß"),
        "year": 2018 + number % 8,
        "venue": "ICLR 2025" if number % 2 else "NeurIPS 2024",
        "sources": (f"papers.jsonl:{number}",),
    }
    return Paper(**(fields | changes))  # type: ignore[arg-type]


def make_papers(count: int) -> list[Paper]:
    return [make_paper(number) for number in range(1, count + 1)]
