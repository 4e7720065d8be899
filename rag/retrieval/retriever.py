"""From a topic to ranked papers: candidates, fusion, passages, and the optional reranker."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from rag.errors import CorpusError, ModelError
from rag.records import Hit, Paper, Retrieval, Signals, Span
from rag.retrieval.candidates import Candidates, Pool, gather
from rag.retrieval.fusion import Ranking, fuse
from rag.retrieval.judging import Judge
from rag.retrieval.query import clean_query
from rag.retrieval.rerank import open_reranker
from rag.retrieval.similar import gather_similar
from rag.retrieval.spelling import respelled
from rag.retrieval.topic import PaperWords
from rag.store.filters import NO_FILTERS, Filters

if TYPE_CHECKING:
    from rag.protocols import Embedder, Reranker
    from rag.retrieval.planner import Plan
    from rag.settings import Settings
    from rag.store.joined import JoinedLibrary
    from rag.store.library import Library

_LOG = logging.getLogger(__name__)

# In the class, `list` is the method.
Hits = list[Hit]

_RERANKED = 20
_SCANNED = 400
_MOSTLY = 0.8


@dataclass(frozen=True, slots=True)
class Scan:
    """The best candidates of a topic with what is needed to judge them."""

    topic: str
    hits: tuple[Hit, ...]
    """Best first, all signals filled."""
    terms: tuple[str, ...]
    """The topic's informative words, as index terms."""
    weights: Mapping[str, float]
    """Inverse document frequency of each of `terms`."""
    ceiling: float
    """The BM25 that no paper can pass for this topic."""
    level: float
    """The BM25 that counts as one in the score."""


class Retriever:
    """Ranks the papers of one library, or of several joined."""

    def __init__(
        self,
        library: Library | JoinedLibrary,
        embedder: Embedder,
        settings: Settings,
        *,
        ranking: Ranking | None = None,
        pool: Pool | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        self._library = library
        self._embedder = embedder
        self._ranking = ranking or Ranking()
        self._pool = pool or Pool()
        self._reranker = reranker or open_reranker(settings)
        self._judge = Judge(library, embedder)

    def search(self, query: str, k: int = 10, filters: Filters = NO_FILTERS) -> Hits:
        """The k best papers for a query, best first; fewer in a small corpus, none for an empty query."""
        topic = clean_query(query)
        if not topic or k < 1:
            return []
        topic, _ = respelled(topic, self._library, self._embedder)
        hits = self._ranked(self._candidates(topic, filters, k), max(k, _RERANKED) if self._reranker else k)
        return self._reranked(query, hits, k)[0]

    def similar(self, paper_id: str, k: int = 10) -> Hits:
        """The k papers closest to a paper, best first, without the paper itself. Raises `CorpusError` for an unknown one."""
        paper = self._library.get([paper_id]).get(paper_id)
        if paper is None:
            raise CorpusError(f"No paper {paper_id!r} in {self._library.name}. `rag papers` lists the ids.")
        return self._ranked(gather_similar(self._library, paper, self._pool, self._ranking), k)

    def retrieve(self, plan: Plan, k: int = 8) -> Retrieval:
        """The k papers to answer from, and whether they answer at all."""
        topic, spelling = self._topic(plan)
        papers = self._library.count(filters=plan.filters)
        scan = self.scan(topic, plan.filters, max(k, _RERANKED))
        judgement = self._judge.answer(plan.question, topic, scan.hits, papers)
        hits, notes = self._reranked(plan.question, list(scan.hits), k)
        return Retrieval(
            topic, tuple(hits), papers, judgement.probability, judgement.abstain, judgement.reason, notes=spelling + judgement.notes + notes
        )

    def list(self, plan: Plan) -> Retrieval:
        """Every paper that the question asks for, best first; all that pass the filters when it names no topic."""
        papers = self._library.count(filters=plan.filters)
        topic, notes = self._topic(plan)
        if not topic:
            return self._everything(plan, papers)
        found = self.scan(topic, plan.filters).hits
        judgement = self._judge.answer(plan.question, topic, found, papers)
        judged, matched = len(found), 0
        if not judgement.abstain:
            found, judged = self._matches(topic, plan.filters, papers, found)
            matched = len(found)
        notes += judgement.notes
        return Retrieval(
            topic, found, papers, judgement.probability, judgement.abstain, judgement.reason, judged=judged, matched=matched, notes=notes
        )

    def _topic(self, plan: Plan) -> tuple[str, tuple[str, ...]]:
        topic = self._judge.searchable(plan)
        return respelled(topic, self._library, self._embedder) if plan.language == "en" else (topic, ())

    def _matches(self, topic: str, filters: Filters, papers: int, found: Sequence[Hit]) -> tuple[tuple[Hit, ...], int]:
        """What matches; where nearly all candidates do, more of them are looked at. `found` are the topic's first candidates."""
        scans: dict[str, Sequence[Hit]] = {topic: found}
        limit = _SCANNED
        while True:
            search = partial(self._candidates_of, scans, filters, limit)
            matches, judged = self._judge.matches(topic, search)
            if len(matches) < _MOSTLY * limit or limit >= papers:
                return matches, judged
            limit *= 4
            scans.clear()

    def _candidates_of(self, scans: dict[str, Sequence[Hit]], filters: Filters, limit: int, text: str) -> Sequence[Hit]:
        if text not in scans:
            scans[text] = self.scan(text, filters, limit).hits
        return scans[text]

    def _everything(self, plan: Plan, papers: int) -> Retrieval:
        found = self._library.papers(filters=plan.filters)
        hits = tuple(Hit(rank, 1.0, paper, Span(0, len(paper.abstract), paper.abstract)) for rank, paper in enumerate(found, 1))
        return Retrieval("", hits, papers, 1.0, abstain=not hits, judged=papers, matched=len(hits))

    def scan(self, topic: str, filters: Filters = NO_FILTERS, limit: int = _SCANNED) -> Scan:
        """The best papers for a topic, taken as it is, with all their signals; none for an empty topic."""
        if not topic.strip() or limit < 1:
            return Scan(topic, (), (), {}, 1.0, 1.0)
        candidates = self._candidates(topic, filters, limit)
        return Scan(
            topic, tuple(self._ranked(candidates, limit)), candidates.terms, candidates.weights, candidates.ceiling, candidates.level
        )

    def _candidates(self, topic: str, filters: Filters, k: int) -> Candidates:
        vector = self._embedder.embed([topic])[0]
        return gather(self._library, topic, vector, filters, self._pool.reaching(k), self._ranking)

    def _ranked(self, candidates: Candidates, k: int) -> Hits:
        import numpy as np

        scores = fuse(candidates.whole, candidates.window, candidates.bm25, candidates.level, self._ranking)
        order = np.argsort(-scores, kind="stable")[:k].tolist()
        chosen = [candidates.ids[row] for row in order]
        papers, words = self._library.get(chosen), PaperWords.read(self._library, chosen)
        present = [row for row in order if candidates.ids[row] in papers and candidates.ids[row] in words]
        return [
            _hit(rank, candidates, row, float(scores[row]), papers[candidates.ids[row]], words[candidates.ids[row]])
            for rank, row in enumerate(present, 1)
        ]

    def _reranked(self, query: str, hits: Hits, k: int) -> tuple[Hits, tuple[str, ...]]:
        """The k best after reranking, and a note for the reader when the reranker failed and the order is the search's own."""
        if self._reranker is None or not hits:
            return hits[:k], ()
        try:
            return list(self._reranker.rerank(query, hits))[:k], ()
        except ModelError as error:
            note = f"Not reranked: {error}"
            _LOG.warning("%s", note)
            return hits[:k], (note,)


def _hit(rank: int, candidates: Candidates, row: int, score: float, paper: Paper, words: PaperWords) -> Hit:
    start, end = candidates.spans[row]
    signals = Signals(
        whole_cosine=float(candidates.whole[row]),
        window_cosine=float(candidates.window[row]),
        bm25=float(candidates.bm25[row]),
        coverage=candidates.coverage(words),
    )
    return Hit(rank, score, paper, Span(start, end, paper.abstract[start:end]), signals)
