"""Several corpora, asked as one."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rag.errors import CorpusError
from rag.records import Chunk, ChunkHit, Paper
from rag.store.filters import NO_FILTERS, Filters
from rag.store.lexical import inverse_frequency
from rag.store.library import Library
from rag.store.queries import sort_papers
from rag.text.words import index_terms

if TYPE_CHECKING:
    from rag.protocols import Vectors


class JoinedLibrary:
    """The reading methods of `Library` over several corpora; a paper that is in more than one counts for the first that has it."""

    def __init__(self, libraries: Sequence[Library]) -> None:
        self._libraries = tuple(libraries)
        self.name = ",".join(library.name for library in libraries)

    def corpus_of(self, paper_id: str) -> str:
        """Name of the corpus that the paper is shown from. Raises `CorpusError` when none of them has it."""
        for library in self._libraries:
            if library.ids(among=[paper_id]):
                return library.name
        raise CorpusError(f"No paper {paper_id!r} in {self.name}. `rag papers` lists the ids.")

    def papers(self, *, filters: Filters = NO_FILTERS, sort: str | None = None, limit: int | None = None) -> list[Paper]:
        """See `Library.papers`; corpus after corpus unless sorted."""
        found: dict[str, Paper] = {}
        for place, library in enumerate(self._libraries):
            held = library.papers(filters=filters)
            own = self._own(place, {paper.id for paper in held})
            found |= {paper.id: paper for paper in held if paper.id in own}
        return sort_papers(found.values(), sort or "")[:limit]

    def get(self, ids: Iterable[str]) -> dict[str, Paper]:
        """See `Library.get`."""
        wanted = list(ids)
        found: dict[str, Paper] = {}
        for library in self._libraries:
            found |= library.get([key for key in wanted if key not in found])
        return {key: found[key] for key in wanted if key in found}

    def ids(self, *, filters: Filters = NO_FILTERS, among: Sequence[str] | None = None) -> set[str]:
        """See `Library.ids`."""
        return set().union(*(self._own(place, library.ids(filters=filters, among=among)) for place, library in enumerate(self._libraries)))

    def count(self, *, filters: Filters = NO_FILTERS) -> int:
        """See `Library.count`; each paper once."""
        return len(self.ids(filters=filters))

    def lexical(self, terms: Sequence[str], limit: int, filters: Filters = NO_FILTERS) -> list[tuple[str, float]]:
        """See `Library.lexical`; how rare a term is counts over all corpora together."""
        papers = sum(library.count() for library in self._libraries)
        weights = {term: inverse_frequency(papers, frequency) for term, frequency in self.document_frequency(terms).items()}
        ranked: list[tuple[str, float]] = []
        for place, library in enumerate(self._libraries):
            hits = library.lexical(terms, limit, filters, weights)
            own = self._own(place, {paper_id for paper_id, _ in hits})
            ranked += [hit for hit in hits if hit[0] in own]
        return heapq.nlargest(limit, ranked, key=lambda hit: hit[1])

    def dense(self, vector: Vectors, limit: int, filters: Filters = NO_FILTERS) -> list[ChunkHit]:
        """See `Library.dense`."""
        ranked: list[ChunkHit] = []
        for place, library in enumerate(self._libraries):
            hits = library.dense(vector, limit, filters)
            own = self._own(place, {hit.paper_id for hit in hits})
            ranked += [hit for hit in hits if hit.paper_id in own]
        return heapq.nlargest(limit, ranked, key=lambda hit: hit.cosine)

    def compare(self, vector: Vectors, paper_ids: Sequence[str]) -> list[ChunkHit]:
        """See `Library.compare`; a paper of several corpora counts in the first."""
        found: list[ChunkHit] = []
        wanted = list(paper_ids)
        for library in self._libraries:
            found += library.compare(vector, wanted)
            held = {hit.paper_id for hit in found}
            wanted = [key for key in wanted if key not in held]
        return found

    def vectors(self, paper_ids: Iterable[str]) -> dict[str, tuple[tuple[Chunk, ...], Vectors]]:
        """See `Library.vectors`."""
        wanted = list(paper_ids)
        found: dict[str, tuple[tuple[Chunk, ...], Vectors]] = {}
        for library in self._libraries:
            found |= library.vectors([key for key in wanted if key not in found])
        return {key: found[key] for key in wanted if key in found}

    def terms(self, paper_ids: Iterable[str]) -> dict[str, tuple[str, str]]:
        """See `Library.terms`."""
        wanted = list(paper_ids)
        found: dict[str, tuple[str, str]] = {}
        for library in self._libraries:
            found |= library.terms([key for key in wanted if key not in found])
        return found

    def document_frequency(self, terms: Iterable[str]) -> dict[str, int]:
        """See `Library.document_frequency`; summed."""
        wanted = list(terms)
        total: Counter[str] = Counter()
        for library in self._libraries:
            total.update(library.document_frequency(wanted))
        return {term: total[term] for term in wanted}

    def idf(self, word: str) -> float:
        """See `Library.idf`; by the corpora's summed frequencies."""
        count = sum(library.count() for library in self._libraries)
        frequency = next(iter(self.document_frequency(index_terms(word).split()[:1]).values()), count)
        return math.log1p((count - frequency + 0.5) / (frequency + 0.5))

    def remarks(self) -> tuple[str, ...]:
        """See `Library.remarks`; those of all corpora."""
        return tuple(line for library in self._libraries for line in library.remarks())

    def close(self) -> None:
        """Closes all of them."""
        for library in self._libraries:
            library.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _own(self, place: int, ids: set[str]) -> set[str]:
        """Those of `ids` that no earlier corpus has."""
        for library in self._libraries[:place]:
            ids = ids - library.ids(among=sorted(ids))
        return ids
