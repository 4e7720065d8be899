"""Dense search in memory over a corpus so large that whole abstracts are compared before passages."""

from __future__ import annotations

import numpy as np
import pytest

from rag.protocols import Vectors
from rag.store.scan import ChunkTable, ExactScan

PAPERS, CHUNKS, DIMENSION = 6_000, 6, 24


@pytest.fixture(scope="module")
def scan() -> ExactScan:
    """Passages near their abstracts, as in real text; row numbers with gaps."""
    random = np.random.default_rng(3)
    wholes = random.standard_normal((PAPERS, 1, DIMENSION))
    vectors = (wholes + 0.15 * random.standard_normal((PAPERS, CHUNKS, DIMENSION))).reshape(-1, DIMENSION).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = [(2 * n, i, 10 * i, 10 * i + 10, 1) for n in range(PAPERS) for i in range(CHUNKS)]
    return ExactScan.of(ChunkTable.of(rows, {2 * n: f"p{n}" for n in range(PAPERS)}), vectors)


def question() -> Vectors:
    vector = np.random.default_rng(4).standard_normal(DIMENSION).astype(np.float32)
    return vector / np.linalg.norm(vector)


def nearest(scan: ExactScan, limit: int, allowed: set[int] | None = None) -> list[tuple[str, int]]:
    cosines = scan.vectors @ question()
    order = [place for place in np.argsort(-cosines).tolist() if allowed is None or place // CHUNKS * 2 in allowed]
    return [(f"p{place // CHUNKS}", place % CHUNKS) for place in order[:limit]]


def test_it_finds_what_comparing_everything_finds(scan: ExactScan) -> None:
    assert len(scan.wholes) == PAPERS
    hits = scan.search(question(), 40)
    assert [(hit.paper_id, hit.index) for hit in hits] == nearest(scan, 40)
    assert [hit.cosine for hit in hits] == sorted((hit.cosine for hit in hits), reverse=True)


@pytest.mark.parametrize("share", [2, 50, 3_000])
def test_only_the_given_rows_are_searched(scan: ExactScan, share: int) -> None:
    rows = list(range(0, 2 * PAPERS, 2 * share))
    hits = scan.search(question(), 30, rows)
    assert [(hit.paper_id, hit.index) for hit in hits] == nearest(scan, 30, set(rows))


def test_no_rows_give_nothing(scan: ExactScan) -> None:
    assert scan.search(question(), 10, []) == []
    assert scan.search(question(), 0) == []
