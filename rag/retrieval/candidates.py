"""Finds the papers worth ranking for a topic, with every signal of each known exactly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from rag.records import ChunkHit
from rag.retrieval.fusion import Ranking, lexical_ceiling, lexical_level, term_weights
from rag.retrieval.topic import PaperWords
from rag.store.filters import Filters
from rag.text.words import query_pairs, query_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rag.protocols import Vectors
    from rag.store.joined import JoinedLibrary
    from rag.store.library import Library


@dataclass(frozen=True, slots=True)
class Pool:
    """How far the two searches look."""

    chunks: int = 200
    """Chunks taken from the dense search; what they do not tell of a candidate is computed from its stored vectors."""
    lexical: int = 500
    """Papers whose BM25 is read; it counts as 0 beyond."""
    dense_candidates: int = 50
    """Papers that become candidates by their best chunk."""
    lexical_candidates: int = 40
    """Papers that become candidates by BM25."""

    def reaching(self, k: int) -> Pool:
        """A pool from which k papers can be ranked well."""
        wide = max(self.dense_candidates, 2 * k)
        return Pool(max(self.chunks, 10 * k), max(self.lexical, 10 * k), wide, max(self.lexical_candidates, k))


@dataclass(frozen=True, slots=True)
class Candidates:
    """Papers and their signals, row by row."""

    ids: tuple[str, ...]
    whole: NDArray[np.float64]
    window: NDArray[np.float64]
    bm25: NDArray[np.float64]
    spans: tuple[tuple[int, int], ...]
    """Of each paper's best window, in its abstract."""
    terms: tuple[str, ...]
    weights: dict[str, float]
    """Inverse document frequency of each of `terms`."""
    level: float
    """The BM25 that `bm25` is measured against."""

    @property
    def ceiling(self) -> float:
        """The BM25 that no paper can pass for this topic."""
        return lexical_ceiling(self.weights.values())

    def coverage(self, words: PaperWords) -> float:
        """Share (0..1) of the topic's terms, by IDF, that stand in the paper; 0 for a topic without informative words."""
        total = sum(self.weights.values())
        return sum(weight for term, weight in self.weights.items() if term in words.counts) / total if total else 0.0


@dataclass(frozen=True, slots=True)
class _Dense:
    whole: float
    window: float
    span: tuple[int, int]


def gather(library: Library | JoinedLibrary, topic: str, vector: Vectors, filters: Filters, pool: Pool, ranking: Ranking) -> Candidates:
    """The candidates for a topic whose embedding is `vector`, in no particular order; none in an empty corpus."""
    import numpy as np

    terms = query_terms(topic)
    bm25 = dict(library.lexical(terms, pool.lexical, filters=filters))
    for paper_id, score in library.lexical(query_pairs(topic), pool.lexical, filters=filters):
        bm25[paper_id] = bm25.get(paper_id, 0.0) + ranking.pairs * score
    best = sorted(bm25, key=lambda paper_id: -bm25[paper_id])[: pool.lexical_candidates]
    hits = library.dense(vector, pool.chunks, filters=filters)
    nearest = islice(dict.fromkeys(hit.paper_id for hit in hits), pool.dense_candidates)
    dense = _dense_signals(library, vector, hits, dict.fromkeys([*nearest, *best]))
    ids = tuple(dense)
    papers = library.count()
    weights = term_weights(terms, library.document_frequency(terms), papers)
    return Candidates(
        ids,
        np.array([dense[paper_id].whole for paper_id in ids]),
        np.array([dense[paper_id].window for paper_id in ids]),
        np.array([bm25.get(paper_id, 0.0) for paper_id in ids]),
        tuple(dense[paper_id].span for paper_id in ids),
        terms,
        weights,
        lexical_level(bm25.values(), papers, lexical_ceiling(weights.values())),
    )


def _dense_signals(library: Library | JoinedLibrary, vector: Vectors, hits: Sequence[ChunkHit], ids: Iterable[str]) -> dict[str, _Dense]:
    """Both cosines of each paper, from the hits; what they do not tell is computed from stored vectors."""
    whole = {hit.paper_id: hit.cosine for hit in hits if hit.index == 0}
    window = {hit.paper_id: hit for hit in reversed(hits) if hit.index}
    known = {
        key: _Dense(whole[key], window[key].cosine, (window[key].start, window[key].end)) for key in ids if key in whole and key in window
    }
    return known | _compared(library, vector, [key for key in ids if key not in known])


def _compared(library: Library | JoinedLibrary, vector: Vectors, ids: Sequence[str]) -> dict[str, _Dense]:
    held: dict[str, list[ChunkHit]] = {}
    for hit in library.compare(vector, ids) if ids else ():
        held.setdefault(hit.paper_id, []).append(hit)
    # A paper of one chunk is its own window.
    return {key: _Dense(hits[0].cosine, hits[-1].cosine, (hits[-1].start, hits[-1].end)) for key, hits in held.items()}
