"""Papers like a given paper."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rag.records import Paper
from rag.retrieval.candidates import Candidates, Pool, gather
from rag.retrieval.fusion import Ranking
from rag.store.filters import NO_FILTERS

if TYPE_CHECKING:
    from rag.store.joined import JoinedLibrary
    from rag.store.library import Library


def gather_similar(library: Library | JoinedLibrary, paper: Paper, pool: Pool, ranking: Ranking) -> Candidates:
    """Candidates for the papers closest to `paper`, compared by its whole abstract; the paper itself is not among them."""
    _, vectors = library.vectors([paper.id])[paper.id]
    found = gather(library, f"{paper.title}. {paper.abstract}", vectors[0], NO_FILTERS, pool, ranking)
    rows = [row for row, paper_id in enumerate(found.ids) if paper_id != paper.id]
    return replace(
        found,
        ids=tuple(found.ids[row] for row in rows),
        whole=found.whole[rows],
        window=found.window[rows],
        bm25=found.bm25[rows],
        spans=tuple(found.spans[row] for row in rows),
    )
