"""What the rules look up in the corpus, by way of the open library."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from rag.records import Paper
from rag.retrieval.constraints import Facets
from rag.text.words import query_terms

if TYPE_CHECKING:
    from rag.answering import Answerer


class LibrarySurroundings:
    """Words and papers of an answerer's library; made anew for each question, so that nothing in it can be stale."""

    def __init__(self, answerer: Answerer) -> None:
        self._answerer = answerer
        self.idf = cache(answerer.library.idf)

    @property
    def facets(self) -> Facets:
        """What papers can be restricted by."""
        return self._answerer.facets()

    def nearest(self, question: str, k: int) -> Sequence[Paper]:
        """The k papers that share most of the question's words, best first; none for a question without informative words."""
        terms = query_terms(question)
        ids = [paper_id for paper_id, _ in self._answerer.library.lexical(terms, k)] if terms else []
        return tuple(self._answerer.library.get(ids).values())
