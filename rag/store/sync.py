"""Brings a corpus in line with its sources: batch by batch, the catalog first, then Chroma.

Each batch is one transaction. What stands in the catalog and not yet in Chroma is marked, so that a run that was killed between
the two is completed by the next one.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from rag.errors import CorpusError, UsageError
from rag.records import REPAIRED, Paper, Rejected, SyncReport
from rag.store import unfinished
from rag.store.catalog import Catalog
from rag.store.chunking import Indexer
from rag.store.index import drop_unused_vectors, put_terms, remove_papers, set_meta, terms_version
from rag.store.intake import Intake
from rag.store.merging import problem, rejection
from rag.store.near import near_pairs
from rag.store.origins import holds
from rag.store.queries import meta, papers_by_row

Progress = Callable[[int, int | None], None]

_BATCH = 32


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """What a sync may do."""

    prune: bool = False
    dry_run: bool = False
    merge: bool = False
    progress: Progress | None = None
    is_upkeep: bool = False
    """Not a run over sources, so that an earlier one that broke off stays unfinished."""


class SyncRun:
    """One run over one stream of records; the caller holds the corpus's lock.

    `copy` brings Chroma in line with the catalog and is called after each batch.
    """

    def __init__(self, name: str, catalog: Catalog, indexer: Indexer, options: SyncOptions, copy: Callable[[], None]) -> None:
        self._name = name
        self._catalog = catalog
        self._indexer = indexer
        self._options = options
        self._copy = copy
        self._intake = Intake()
        self._rejected: list[Rejected] = []
        self._repaired: list[str] = []
        self._embedded = 0
        self._done = 0
        self._rules = ""
        self._earlier = ""

    def run(self, records: Iterable[Paper | Rejected]) -> SyncReport:
        """Takes all records, then prunes; what was done. See `Library.sync`."""
        total = len(records) if isinstance(records, Sequence) else None
        if self._options.dry_run:
            with self._catalog.writing(keep=False) as connection:
                self._take(connection, iter(records), total)
                return self._finish(connection)
        self._prepare()
        for batch in _batches(records):
            with self._catalog.writing() as connection:
                self._take(connection, batch, total)
                self._index(connection, sorted(self._intake.dirty))
                self._note_written(connection)
            self._copy()
        report = self._finish_and_index()
        self._copy()
        if not self._options.is_upkeep:
            unfinished.end(self._catalog)
        return replace(report, embedded=self._embedded)

    def _finish_and_index(self) -> SyncReport:
        try:
            with self._catalog.writing() as connection:
                report = self._finish(connection)
                self._index(connection, sorted(self._intake.dirty))
                if report.added or report.changed or report.removed or report.merged:
                    drop_unused_vectors(connection)
        except UsageError:
            unfinished.end(self._catalog, as_before=self._earlier)  # refused before anything was written
            raise
        return report

    def _note_written(self, connection: sqlite3.Connection) -> None:
        if self._intake.dirty and not self._options.is_upkeep:
            unfinished.note_written(connection, sum(fate != "unchanged" for fate in self._intake.fates.values()))
        self._intake.dirty.clear()

    def _prepare(self) -> None:
        """Checks the embedder, and redoes what an older version of this program indexed by other rules."""
        fingerprint = self._indexer.embedder.fingerprint
        with self._catalog.reading() as connection:
            check_fingerprint(connection, self._name, fingerprint)
        if not self._options.is_upkeep:
            self._earlier = unfinished.begin(self._catalog)
        with self._catalog.writing() as connection:
            if not meta(connection, "fingerprint"):
                set_meta(connection, "fingerprint", fingerprint)
            if meta(connection, "terms") != terms_version():
                rebuild_terms(connection)
        self._rules = self._indexer.rules()
        while True:
            with self._catalog.writing() as connection:
                query = "SELECT n FROM papers WHERE rules <> ? ORDER BY n LIMIT ?"
                stale = [n for (n,) in connection.execute(query, (self._rules, _BATCH))]
                self._index(connection, stale)
            self._copy()
            if not stale:
                return

    def _take(self, connection: sqlite3.Connection, records: Iterable[Paper | Rejected], total: int | None) -> None:
        for record in records:
            if isinstance(record, Rejected):
                self._rejected.append(record)
            elif reason := problem(record):
                self._rejected.append(rejection(record, reason))
            else:
                self._intake.take(connection, record)
                self._repaired += [source.removesuffix(REPAIRED) for source in record.sources if source.endswith(REPAIRED)]
            self._done += 1
        if self._options.progress is not None:
            self._options.progress(self._done, total)

    def _index(self, connection: sqlite3.Connection, rows: Sequence[int]) -> None:
        if rows:
            self._embedded += self._indexer.index(connection, rows, self._rules)

    def _prune(self, connection: sqlite3.Connection) -> int:
        """Forgets what this run did not see, except from sources with unreadable records; how many papers went."""
        if not self._options.prune:
            return 0
        if not self._intake.seen:
            raise UsageError(f"Nothing was read, so nothing is pruned. To empty {self._name!r}, use `rag remove {self._name}`.")
        unsure = {self._intake.origins.named(rejected.file) for rejected in self._rejected}
        held = connection.execute("SELECT record, origin FROM sightings").fetchall()
        spared = {origin for origin in {key[1] for key in held} if any(holds(file, origin) for file in unsure)}
        gone = [key for key in held if key not in self._intake.seen and key[1] not in spared]
        self._intake.forget(connection, gone)
        rows = [n for (n,) in connection.execute("SELECT n FROM papers WHERE n NOT IN (SELECT n FROM sightings)")]
        remove_papers(connection, rows)
        return len(rows)

    def _finish(self, connection: sqlite3.Connection) -> SyncReport:
        """Prunes, looks for near-identical papers, and counts."""
        self._intake.settle(connection)
        removed = self._prune(connection)
        pairs = near_pairs(connection)
        named = papers_by_row(connection, sorted({n for first, second, _ in pairs for n in (first, second)}))
        if self._options.merge:
            self._intake.merge(connection, [(first, second) for first, second, _ in pairs])
        counts = Counter(self._intake.fates.values())
        return SyncReport(
            added=counts["added"],
            changed=counts["changed"],
            unchanged=counts["unchanged"],
            removed=removed,
            rejected=tuple(self._rejected),
            merged=self._intake.merged,
            repaired=tuple(self._repaired),
            duplicates=tuple((named[first].id, named[second].id, score) for first, second, score in pairs),
        )


def check_fingerprint(connection: sqlite3.Connection, name: str, fingerprint: str) -> None:
    """Raises `CorpusError` when the corpus was embedded by another embedder than this one."""
    made_by = meta(connection, "fingerprint", fingerprint)
    if made_by != fingerprint:
        raise CorpusError(
            f"Corpus {name!r} was embedded by {made_by}, and the embedder in force is {fingerprint}. "
            f"Set RAG_EMBEDDER back, or embed it anew with `rag doctor --repair --corpus {name}`."
        )


def rebuild_terms(connection: sqlite3.Connection) -> None:
    """Makes the full-text index anew by the rules in force."""
    for (n,) in connection.execute("SELECT n FROM papers ORDER BY n").fetchall():
        put_terms(connection, n, papers_by_row(connection, [n])[n])
    set_meta(connection, "terms", terms_version())


def _batches(records: Iterable[Paper | Rejected]) -> Iterator[list[Paper | Rejected]]:
    stream = iter(records)
    while batch := list(islice(stream, _BATCH)):
        yield batch
