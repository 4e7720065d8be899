"""How the signals of a candidate become one score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag.store.lexical import inverse_frequency

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# BM25 saturates at IDF * (k1 + 1) for each term; k1 is fixed in SQLite FTS5.
_SATURATION = 2.2


@dataclass(frozen=True, slots=True)
class Ranking:
    """The free numbers of the ranking, chosen by measurement (docs/evaluation.md)."""

    lexical: float = 0.5
    """Weight of the lexical score beside the cosine's 1 - lexical."""
    window: float = 0.6
    """Share of the best window in the dense score; the rest is the whole abstract's."""
    pairs: float = 0.35
    """What a pair of neighbouring words counts beside a single word."""


def term_weights(terms: Sequence[str], frequencies: Mapping[str, int], papers: int) -> dict[str, float]:
    """Inverse document frequency of each term as FTS5 has it, at least 0; the highest for a term that stands nowhere."""
    return {term: inverse_frequency(papers, min(frequencies.get(term, 0), papers)) for term in terms}


def lexical_ceiling(weights: Iterable[float]) -> float:
    """The BM25 that no paper can pass for terms of these weights; 1 when there are none."""
    return _SATURATION * sum(weights) or 1.0


def fuse(
    whole: NDArray[np.float64], window: NDArray[np.float64], bm25: NDArray[np.float64], ceiling: float, ranking: Ranking
) -> NDArray[np.float64]:
    """Convex sum of cosine and of BM25 as a share of its ceiling: comparable from query to query, whatever else is in the pool."""
    dense = ranking.window * window + (1 - ranking.window) * whole
    return (1 - ranking.lexical) * dense + ranking.lexical * bm25 / ceiling
