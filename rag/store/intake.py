"""Takes records into an open transaction: new paper, changed paper, the same again, or another source of a known one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from rag.records import Paper
from rag.store.conditions import bare_doi
from rag.store.index import put_paper, remove_papers
from rag.store.merging import fill_gaps, may_be_same, origin
from rag.store.queries import papers_by_row
from rag.store.rows import bare_arxiv_id, paper_hash

Fate = Literal["added", "changed", "unchanged"]


@dataclass(slots=True)
class Intake:
    """What one sync has seen so far; `take` is called for each record, in order."""

    fates: dict[int, Fate] = field(default_factory=dict)
    """Of each paper seen, by row number."""
    seen: set[tuple[str, str]] = field(default_factory=set)
    """Record ids with their origins."""
    merged: int = 0
    dirty: set[int] = field(default_factory=set)
    """Papers whose chunks must be made anew; the caller empties it."""

    def take(self, connection: sqlite3.Connection, record: Paper) -> None:
        """Brings the catalog in line with one record."""
        key = record.id, origin(record)
        again = key in self.seen
        self.seen.add(key)
        sighting = connection.execute("SELECT n, hash, sources FROM sightings WHERE record = ? AND origin = ?", key).fetchone()
        if sighting is None:
            self._first_sighting(connection, record)
            return
        n, known_hash, sources = sighting
        told = tuple(json.loads(sources))
        if again:
            self._merge_into(connection, n, record, _sight_again(connection, record, told))
        elif known_hash == paper_hash(record):
            self._same(connection, n, record, told)
        else:
            self._changed(connection, n, record)

    def forget(self, connection: sqlite3.Connection, sightings: Sequence[tuple[str, str]]) -> None:
        """Drops sightings, given by record id and origin, also from the sources of papers that have others left."""
        query = "DELETE FROM sightings WHERE record = ? AND origin = ? RETURNING n"
        for n in {connection.execute(query, key).fetchone()[0] for key in sightings}:
            _put_sources(connection, n)

    def merge(self, connection: sqlite3.Connection, pairs: Sequence[tuple[int, int]]) -> None:
        """Makes one paper of each pair of rows, the earlier; its gaps are filled from the later, whose sources it takes over."""
        into: dict[int, int] = {}
        for first, second in pairs:
            keep, gone = sorted((_root(into, first), _root(into, second)))
            if keep == gone:
                continue
            into[gone] = keep
            papers = papers_by_row(connection, [keep, gone])
            connection.execute("UPDATE sightings SET n = ? WHERE n = ?", (keep, gone))
            remove_papers(connection, [gone])
            self.fates.pop(gone, None)
            self.dirty.discard(gone)
            self.merged += 1
            self._replace(connection, keep, papers[keep], fill_gaps(papers[keep], papers[gone]))

    def _first_sighting(self, connection: sqlite3.Connection, record: Paper) -> None:
        n = _row_of(connection, record)
        if n is None:
            n = put_paper(connection, record)
            _sight(connection, record, n)
            self.fates[n] = "added"
            self.dirty.add(n)
            return
        _sight(connection, record, n)
        held = papers_by_row(connection, [n])[n]
        if n in self.fates or held.id != record.id:
            self._merge_into(connection, n, record, True)
        else:
            self.merged += 1
            self._replace(connection, n, held, fill_gaps(record, held))

    def _merge_into(self, connection: sqlite3.Connection, n: int, record: Paper, is_new: bool) -> None:
        """Another sighting of a paper that stands already: it only fills gaps."""
        held = papers_by_row(connection, [n])[n]
        self.merged += is_new
        self._replace(connection, n, held, fill_gaps(held, record))

    def _same(self, connection: sqlite3.Connection, n: int, record: Paper, told: tuple[str, ...]) -> None:
        self.fates.setdefault(n, "unchanged")
        if not set(record.sources) <= set(told):
            _sight(connection, record, n)
            _put_sources(connection, n)

    def _changed(self, connection: sqlite3.Connection, n: int, record: Paper) -> None:
        held = papers_by_row(connection, [n])[n]
        _sight(connection, record, n)
        if held.id != record.id:
            new = fill_gaps(held, record)
        elif connection.execute("SELECT count(*) FROM sightings WHERE n = ?", (n,)).fetchone()[0] > 1:
            new = fill_gaps(record, held)
        else:
            new = record
        self._replace(connection, n, held, new)

    def _replace(self, connection: sqlite3.Connection, n: int, held: Paper, new: Paper) -> None:
        if replace(new, sources=()) == replace(held, sources=()):
            self.fates.setdefault(n, "unchanged")
        else:
            put_paper(connection, new)
            self.fates[n] = "added" if self.fates.get(n) == "added" else "changed"
            self.dirty.add(n)
        _put_sources(connection, n)


def _root(into: dict[int, int], n: int) -> int:
    while n in into:
        n = into[n]
    return n


def _row_of(connection: sqlite3.Connection, record: Paper) -> int | None:
    """The row of the paper that the record is: same id, else same arXiv id or DOI and a title that fits."""
    if row := connection.execute("SELECT n FROM papers WHERE id = ?", (record.id,)).fetchone():
        return int(row[0])
    candidates: list[int] = []
    if record.arxiv_id and (arxiv_id := bare_arxiv_id(record.arxiv_id)):
        candidates += [n for (n,) in connection.execute("SELECT n FROM facets WHERE arxiv_id = ?", (arxiv_id,))]
    if record.doi and (doi := bare_doi(record.doi)):
        candidates += [n for (n,) in connection.execute("SELECT n FROM facets WHERE doi = ?", (doi,))]
    held = papers_by_row(connection, candidates)
    return next((n for n in candidates if may_be_same(record, held[n])), None)


def _sight(connection: sqlite3.Connection, record: Paper, n: int) -> None:
    told = json.dumps(record.sources, ensure_ascii=False)
    row = (record.id, origin(record), n, paper_hash(record), told)
    connection.execute("INSERT OR REPLACE INTO sightings (record, origin, n, hash, sources) VALUES (?, ?, ?, ?, ?)", row)


def _sight_again(connection: sqlite3.Connection, record: Paper, told: tuple[str, ...]) -> bool:
    """Notes a further place in the same source; whether it was not known yet. The first record of a source is the one compared."""
    if set(record.sources) <= set(told):
        return False
    sources = json.dumps(tuple(dict.fromkeys((*told, *record.sources))), ensure_ascii=False)
    connection.execute("UPDATE sightings SET sources = ? WHERE record = ? AND origin = ?", (sources, record.id, origin(record)))
    return True


def _put_sources(connection: sqlite3.Connection, n: int) -> None:
    query = "SELECT sightings.sources FROM sightings JOIN papers USING (n) WHERE n = ? ORDER BY record <> id, origin, record"
    sources = dict.fromkeys(source for (told,) in connection.execute(query, (n,)) for source in json.loads(told))
    connection.execute("UPDATE papers SET sources = ? WHERE n = ?", (json.dumps(list(sources), ensure_ascii=False), n))
