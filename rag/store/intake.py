"""Takes records into an open transaction: new paper, changed paper, the same again, or another source of a known one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from rag.records import Paper
from rag.store.conditions import bare_doi
from rag.store.index import put_paper, remove_papers
from rag.store.merging import fill_gaps, may_be_same
from rag.store.origins import Origins
from rag.store.queries import papers_by_row
from rag.store.rows import bare_arxiv_id, paper_hash

Fate = Literal["added", "changed", "unchanged"]
_Key = tuple[str, str]


@dataclass(slots=True)
class Intake:
    """What one sync has seen so far; `take` is called for each record, in order."""

    fates: dict[int, Fate] = field(default_factory=dict)
    """Of each paper seen, by row number."""
    seen: dict[_Key, tuple[str, ...]] = field(default_factory=dict)
    """Record ids with their origins, and the places they were read from in this run."""
    origins: Origins = field(default_factory=Origins)
    merged: int = 0
    dirty: set[int] = field(default_factory=set)
    """Papers whose chunks must be made anew; the caller empties it."""
    _unsettled: set[_Key] = field(default_factory=set)
    """Records that stand, or stood, more than once in their source."""

    def take(self, connection: sqlite3.Connection, record: Paper) -> None:
        """Brings the catalog in line with one record."""
        key = record.id, self.origins.of(record)
        again = key in self.seen
        self.seen[key] = tuple(dict.fromkeys((*self.seen.get(key, ()), *record.sources)))
        sighting = _sighting(connection, key) or self._moved(connection, key)
        if sighting is None:
            self._first_sighting(connection, key, record)
            return
        n, known_hash, sources = sighting
        told = tuple(json.loads(sources))
        if again or len(told) > 1:
            self._unsettled.add(key)
        if again:
            self._merge_into(connection, n, record, len(self.seen[key]) > len(told) and _put_places(connection, key, self.seen[key]))
        elif known_hash == paper_hash(record):
            self._same(connection, key, n, told)
        else:
            self._changed(connection, key, n, record, told)

    def settle(self, connection: sqlite3.Connection) -> None:
        """Once all records are taken: those that stand more than once in their source keep the places where they stand now."""
        for key in sorted(self._unsettled):
            n, _, sources = _sighting(connection, key)
            if tuple(json.loads(sources)) != self.seen[key]:
                _put_places(connection, key, self.seen[key])
                _put_sources(connection, n)

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

    def _moved(self, connection: sqlite3.Connection, key: _Key) -> Any:
        """The sighting of the same record in a file that is no longer there, which was renamed or replaced: it moves to the new one."""
        held = [origin for (origin,) in connection.execute("SELECT origin FROM sightings WHERE record = ?", key[:1])]
        gone = [origin for origin in held if (key[0], origin) not in self.seen and self.origins.is_gone(origin)]
        if not gone:
            return None
        connection.executemany("DELETE FROM sightings WHERE record = ? AND origin = ?", [(key[0], origin) for origin in gone[1:]])
        connection.execute("UPDATE sightings SET origin = ? WHERE record = ? AND origin = ?", (key[1], key[0], gone[0]))
        return _sighting(connection, key)

    def _first_sighting(self, connection: sqlite3.Connection, key: _Key, record: Paper) -> None:
        n = _row_of(connection, record)
        if n is None:
            n = put_paper(connection, record)
            _sight(connection, key, n, record, record.sources)
            self.fates[n] = "added"
            self.dirty.add(n)
            return
        _sight(connection, key, n, record, record.sources)
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

    def _same(self, connection: sqlite3.Connection, key: _Key, n: int, told: tuple[str, ...]) -> None:
        self.fates.setdefault(n, "unchanged")
        if len(told) < 2 and told != self.seen[key]:
            _put_places(connection, key, self.seen[key])
            _put_sources(connection, n)

    def _changed(self, connection: sqlite3.Connection, key: _Key, n: int, record: Paper, told: tuple[str, ...]) -> None:
        held = papers_by_row(connection, [n])[n]
        _sight(connection, key, n, record, told if len(told) > 1 else record.sources)
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


def _sighting(connection: sqlite3.Connection, key: _Key) -> Any:
    """Row, hash and places, as JSON, of what is known of a record in a source; None when nothing is."""
    return connection.execute("SELECT n, hash, sources FROM sightings WHERE record = ? AND origin = ?", key).fetchone()


def _sight(connection: sqlite3.Connection, key: _Key, n: int, record: Paper, places: tuple[str, ...]) -> None:
    row = (*key, n, paper_hash(record), json.dumps(places, ensure_ascii=False))
    connection.execute("INSERT OR REPLACE INTO sightings (record, origin, n, hash, sources) VALUES (?, ?, ?, ?, ?)", row)


def _put_places(connection: sqlite3.Connection, key: _Key, places: tuple[str, ...]) -> bool:
    """Notes where in its source the record stands. Its first record of a run is the one that is compared."""
    connection.execute("UPDATE sightings SET sources = ? WHERE record = ? AND origin = ?", (json.dumps(places, ensure_ascii=False), *key))
    return True


def _put_sources(connection: sqlite3.Connection, n: int) -> None:
    query = "SELECT sightings.sources FROM sightings JOIN papers USING (n) WHERE n = ? ORDER BY record <> id, origin, record"
    sources = list(dict.fromkeys(source for (told,) in connection.execute(query, (n,)) for source in json.loads(told)))
    text = json.dumps(sources, ensure_ascii=False)
    connection.execute("UPDATE papers SET sources = ? WHERE n = ? AND sources <> ?", (text, n, text))
