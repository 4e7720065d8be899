"""An open corpus: papers, full-text and dense search, and sync."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rag.records import Chunk, ChunkHit, Paper, Rejected, SyncReport
from rag.store import queries, unfinished
from rag.store.catalog import Catalog
from rag.store.chunking import Indexer
from rag.store.copying import copy_pending
from rag.store.dense import DenseSearch
from rag.store.filters import NO_FILTERS, Filters
from rag.store.index import set_meta
from rag.store.lexical import LexicalSearch
from rag.store.lock import corpus_lock
from rag.store.place import chroma_place
from rag.store.sync import Progress, SyncOptions, SyncRun, check_fingerprint
from rag.text.words import index_terms

if TYPE_CHECKING:
    from rag.protocols import Embedder, Vectors
    from rag.settings import Settings
    from rag.store.chroma import ChromaStore


class Library:
    """One corpus, open for reading and syncing from any thread; close it when done.

    Every reading method sees the state after some completed batch, also while another process syncs.
    """

    def __init__(
        self, name: str, folder: Path, settings: Settings, embedder: Embedder, *, on_close: Callable[[], None] | None = None
    ) -> None:
        self.name = name
        self.folder = folder
        self._settings = settings
        self._embedder = embedder
        self._on_close = on_close

    @classmethod
    def open(cls, name: str, settings: Settings, embedder: Embedder) -> Library:
        """The corpus of this name; `seeds` is built from what ships with the package when it is not there yet.

        Raises `CorpusError` when it is unknown, damaged, or was embedded by another embedder.
        """
        from rag.store.corpora import Corpora

        return Corpora(settings).open_one(name, embedder)

    def papers(self, *, filters: Filters = NO_FILTERS, sort: str | None = None, limit: int | None = None) -> list[Paper]:
        """Papers that pass the filters, in the order they were first read, or sorted.

        `sort` is id, title, year, venue or published, with a minus in front for the reverse; papers without the value come last.
        Raises `UsageError` for another one.
        """
        with self.catalog.reading() as connection:
            return queries.select_papers(connection, filters, sort or "", limit)

    def get(self, ids: Iterable[str]) -> dict[str, Paper]:
        """The papers with these ids, in the order asked for; unknown ids are left out."""
        with self.catalog.reading() as connection:
            return queries.papers_by_id(connection, list(ids))

    def ids(self, *, filters: Filters = NO_FILTERS, among: Sequence[str] | None = None) -> set[str]:
        """Ids of the papers that pass the filters, of all or of those in `among`."""
        with self.catalog.reading() as connection:
            return queries.paper_ids(connection, filters, among)

    def corpus_of(self, paper_id: str) -> str:
        """The corpus's own name, whatever the paper: a `JoinedLibrary` has several."""
        return self.name

    def count(self, *, filters: Filters = NO_FILTERS) -> int:
        """How many papers pass the filters."""
        with self.catalog.reading() as connection:
            return queries.count_papers(connection, filters)

    def lexical(
        self, terms: Sequence[str], limit: int, filters: Filters = NO_FILTERS, weights: Mapping[str, float] | None = None
    ) -> list[tuple[str, float]]:
        """Paper ids with their BM25 (0 or more), best first, of papers that hold any of the index terms.

        `weights` replaces the terms' inverse document frequencies in this corpus, where several are ranked together.
        """
        return self._lexical.search(terms, limit, filters, weights)

    def document_frequency(self, terms: Iterable[str]) -> dict[str, int]:
        """In how many papers each index term stands; 0 for one that stands in none."""
        return self._lexical.frequencies(list(terms))[1]

    def idf(self, word: str) -> float:
        """How telling a word is: `ln(1 + (N - n + 0.5) / (n + 0.5))` over the corpus's papers (Robertson and Zaragoza, 2009), 0 or more."""
        count, frequencies = self._lexical.frequencies(index_terms(word).split()[:1])
        frequency = next(iter(frequencies.values()), count)
        return math.log1p((count - frequency + 0.5) / (frequency + 0.5))

    def dense(self, vector: Vectors, limit: int, filters: Filters = NO_FILTERS) -> list[ChunkHit]:
        """The chunks whose vectors are closest to the unit vector, best first; filters hold before ranking."""
        return self._dense.search(vector, limit, filters)

    def compare(self, vector: Vectors, paper_ids: Sequence[str]) -> list[ChunkHit]:
        """Each paper's whole abstract and best window with their cosines, paper by paper; unknown ids are left out."""
        return self._dense.of_papers(vector, paper_ids)

    def vectors(self, paper_ids: Iterable[str]) -> dict[str, tuple[tuple[Chunk, ...], Vectors]]:
        """Each paper's chunks in order and their `(n, dimension) float32` unit vectors; unknown ids are left out."""
        with self.catalog.reading() as connection:
            return queries.chunks_with_vectors(connection, list(paper_ids))

    def terms(self, paper_ids: Iterable[str]) -> dict[str, tuple[str, str]]:
        """The `index_terms` of each paper's title and abstract, read rather than made anew; unknown ids are left out."""
        with self.catalog.reading() as connection:
            return queries.paper_terms(connection, list(paper_ids))

    def sync(
        self,
        records: Iterable[Paper | Rejected],
        *,
        prune: bool = False,
        dry_run: bool = False,
        wait_s: float = 0.0,
        merge: bool = False,
        progress: Progress | None = None,
        known: Mapping[str, Vectors] | None = None,
        copy: bool = True,
    ) -> SyncReport:
        """Adds new papers, replaces changed ones, and reports the rest; running it again changes nothing.

        Batches are committed as they go: what was done stays when the run is interrupted, and the next run completes it.

        Args:
            records: Papers, and records that could not be read.
            prune: Also remove the papers that `records` does not hold, except those of sources with rejected records.
            dry_run: Write nothing; only report.
            wait_s: Seconds to wait for another process that is syncing this corpus.
            merge: Merge papers with near-identical abstracts instead of only reporting them.
            progress: Called with records done and, when known, records in all.
            known: Vectors that need not be computed, by the SHA-256 of their text in hexadecimal.
            copy: Whether the vectors are copied to Chroma at once, or by the next sync.

        Raises:
            CorpusError: the corpus is locked by another process, damaged, or was embedded by another embedder; the disk is full.
        """
        options = SyncOptions(prune, dry_run, merge, progress)
        is_new = not self._catalog_path.is_file()
        if is_new and dry_run:
            with TemporaryDirectory() as scratch, closing(Catalog(Path(scratch) / "catalog.sqlite", create=True)) as catalog:
                return self._run(catalog, options, records, {}, copy=False)
        with corpus_lock(self.folder, wait_s=wait_s):
            try:
                if is_new:
                    Catalog(self._catalog_path, create=True).close()
                return self._run(self.catalog, options, records, known or {}, copy=copy)
            finally:
                if self._is_void(is_new=is_new):
                    self._discard()

    def close(self) -> None:
        """Closes the files; closing twice is fine."""
        if "catalog" in self.__dict__:
            self.catalog.close()
        if "store" in self.__dict__:
            self.store.close()
        if self._on_close is not None:
            self._on_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def check(self) -> None:
        """Raises `CorpusError` when the catalog is damaged or its papers were embedded by another embedder."""
        with self._dense.catalog.reading() as connection:
            check_fingerprint(connection, self.name, self._embedder.fingerprint)

    def remarks(self) -> tuple[str, ...]:
        """What a reader should know of the corpus's state, a line each: that a sync is running, or that the last one broke off."""
        with self.catalog.reading() as connection:
            text = unfinished.told(connection, self.folder)
        return (text,) if text else ()

    def edition(self) -> str:
        """What `set_edition` was told; empty for a corpus that is not there."""
        if not self._catalog_path.is_file():
            return ""
        with self.catalog.reading() as connection:
            return queries.meta(connection, "edition")

    def set_edition(self, edition: str) -> None:
        """Notes which edition of its source the corpus was built from."""
        with self.catalog.writing() as connection:
            set_meta(connection, "edition", edition)

    def _run(
        self, catalog: Catalog, options: SyncOptions, records: Iterable[Paper | Rejected], known: Mapping[str, Vectors], *, copy: bool
    ) -> SyncReport:
        copier = self._copy if copy else lambda: None
        return SyncRun(self.name, catalog, Indexer(self._embedder, known), options, copier).run(records)

    def _copy(self) -> None:
        copy_pending(self.catalog, self.store)

    def _is_void(self, *, is_new: bool) -> bool:
        """Whether all syncs until now, this one or those that broke off before, have left nothing."""
        if not self._catalog_path.is_file():
            return False
        with self.catalog.reading() as connection:
            return (is_new or unfinished.is_marked(connection)) and not queries.count_papers(connection, NO_FILTERS)

    def _discard(self) -> None:
        """Takes back a corpus that the failed first sync left without any paper."""
        self.close()
        for half in ("catalog", "store", "_dense", "_lexical"):
            self.__dict__.pop(half, None)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def _catalog_path(self) -> Path:
        return self.folder / "catalog.sqlite"

    @cached_property
    def catalog(self) -> Catalog:
        """The half with the papers."""
        return Catalog(self._catalog_path)

    @cached_property
    def store(self) -> ChromaStore:
        """The half in Chroma; opened at its first use."""
        from rag.store.chroma import ChromaStore

        with self.catalog.reading() as connection:
            owner = queries.meta(connection, "owner")
        return ChromaStore(chroma_place(self._settings, self.name, self.folder), owner, self._embedder.fingerprint)

    @cached_property
    def _dense(self) -> DenseSearch:
        return DenseSearch(self.catalog, self.store)

    @cached_property
    def _lexical(self) -> LexicalSearch:
        return LexicalSearch(self.catalog)
