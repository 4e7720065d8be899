"""How the signals of a candidate become one score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import TYPE_CHECKING

from rag.store.lexical import inverse_frequency

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# BM25 saturates at IDF * (k1 + 1) for each term; k1 is fixed in SQLite FTS5.
_SATURATION = 2.2
_FEWEST, _MOST = 5, 100
# Where hardly any paper holds the question's words, the mean of the best would be next to nothing.
_LEAST_SHARE = 0.06


@dataclass(frozen=True, slots=True)
class Ranking:
    """The free numbers of the ranking, chosen by measurement (docs/evaluation.md)."""

    lexical: float = 0.14
    """What a BM25 at the corpus's level for the question adds to the cosine."""
    window: float = 0.75
    """Share of the best window in the cosine; the rest is the whole abstract's."""
    pairs: float = 0.35
    """What a pair of neighbouring words counts beside a single word."""


def term_weights(terms: Sequence[str], frequencies: Mapping[str, int], papers: int) -> dict[str, float]:
    """Inverse document frequency of each term as FTS5 has it, at least 0; the highest for a term that stands nowhere."""
    return {term: inverse_frequency(papers, min(frequencies.get(term, 0), papers)) for term in terms}


def lexical_ceiling(weights: Iterable[float]) -> float:
    """The BM25 that no paper can pass for terms of these weights; 1 when there are none."""
    return _SATURATION * sum(weights) or 1.0


def lexical_level(bm25: Iterable[float], papers: int, ceiling: float) -> float:
    """What a BM25 is measured against: its mean over the best tenth of the corpus (5 to 100 papers), at least 0.06 of the ceiling."""
    count = min(max(papers // 10, _FEWEST), _MOST)
    return max(sum(nlargest(count, bm25)) / count, _LEAST_SHARE * ceiling)


def fuse(
    whole: NDArray[np.float64], window: NDArray[np.float64], bm25: NDArray[np.float64], level: float | NDArray[np.float64], ranking: Ranking
) -> NDArray[np.float64]:
    """Cosine plus weighted BM25 in units of its level: a score to rank by, not comparable between questions."""
    return ranking.window * window + (1 - ranking.window) * whole + ranking.lexical * bm25 / level
