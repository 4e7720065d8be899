"""Keeps each paper's chunks and vectors up to date: made by the chunking and the embedder in force, nothing embedded twice."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag.chunks import make_chunks
from rag.embedding.bundled import text_hash
from rag.records import Chunk, Paper
from rag.store.index import put_chunks, put_vectors, vector_key, vector_rows
from rag.store.queries import papers_by_row

if TYPE_CHECKING:
    from rag.protocols import Embedder, Vectors

Chunker = Callable[[Paper, "Embedder"], tuple[Chunk, ...]]

# A change of the chunking shows on this paper: long and short sentences, one beyond any token limit, no space for a while.
_PROBE = Paper(
    id="probe",
    title="A probe",
    abstract="We test. It is e.g. short, i.e. 1.5x of Fig. 2 et al. Does it hold? Yes! "
    + "A much longer sentence follows that says little in many words, as abstracts at times do. " * 4
    + "word " * 600
    + "x" * 2_000
    + ". The end.",
)


@dataclass(frozen=True, slots=True)
class Indexer:
    """Makes chunks and vectors inside an open transaction; `known` holds vectors by text hash that need not be computed."""

    embedder: Embedder
    known: Mapping[str, Vectors]
    chunker: Chunker = make_chunks

    def rules(self) -> str:
        """Names the chunking and the embedder: papers indexed under other rules are indexed anew."""
        chunks = self.chunker(_PROBE, self.embedder)
        text = repr((self.embedder.fingerprint, [(c.index, c.start, c.end, c.text) for c in chunks]))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def index(self, connection: sqlite3.Connection, rows: Sequence[int], rules: str) -> int:
        """Gives the papers with these row numbers their chunks; how many chunks had to be embedded."""
        papers = papers_by_row(connection, rows)
        chunked = {n: self.chunker(paper, self.embedder) for n, paper in papers.items()}
        fingerprint = self.embedder.fingerprint
        texts = {vector_key(fingerprint, chunk.text): chunk.text for chunks in chunked.values() for chunk in chunks}
        cached = vector_rows(connection, texts)
        missing = {key: text for key, text in texts.items() if key not in cached}
        embedded = self._add(connection, missing)
        vectors = vector_rows(connection, texts)
        for n, chunks in chunked.items():
            put_chunks(connection, n, chunks, vectors, fingerprint)
        connection.executemany("UPDATE papers SET rules = ? WHERE n = ?", [(rules, n) for n in chunked])
        return embedded

    def _add(self, connection: sqlite3.Connection, missing: Mapping[bytes, str]) -> int:
        known, unknown = _divide(missing.items(), self.known)
        rows = []
        if unknown:
            vectors = self.embedder.embed([text for _, text in unknown])
            rows = [(key, text, _blob(vector)) for (key, text), vector in zip(unknown, vectors, strict=True)]
        put_vectors(connection, [*rows, *((key, text, _blob(self.known[text_hash(text)])) for key, text in known)])
        return len(unknown)


def _divide(texts: Iterable[tuple[bytes, str]], known: Mapping[str, Vectors]) -> tuple[list[tuple[bytes, str]], list[tuple[bytes, str]]]:
    found: list[tuple[bytes, str]] = []
    rest: list[tuple[bytes, str]] = []
    for key, text in texts:
        (found if known and text_hash(text) in known else rest).append((key, text))
    return found, rest


def _blob(vector: Vectors) -> bytes:
    import numpy as np

    return np.ascontiguousarray(vector, np.float32).tobytes()
