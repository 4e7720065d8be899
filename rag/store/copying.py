"""Brings Chroma in line with the catalog: what is marked there as not yet copied, and ids that are to go."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

from rag.records import Paper
from rag.store.catalog import Catalog
from rag.store.index import set_meta
from rag.store.probe import index_fault
from rag.store.queries import meta
from rag.store.rows import COLUMNS, PAPER_FIELDS, row_paper

if TYPE_CHECKING:
    from rag.store.chroma import ChromaRecord, ChromaStore, Metadata

_PAGE = 2_000
_FLAT = tuple(name for name in PAPER_FIELDS if name not in ("id", "abstract", "sources"))


def copy_pending(catalog: Catalog, store: ChromaStore) -> int:
    """Copies all that waits, removes what is to go, and marks both as done; how many chunks were copied.

    It may be repeated after any interruption: ids are fixed, and a record that Chroma has already is replaced by itself.
    """
    with catalog.reading() as connection:
        waits = connection.execute("SELECT EXISTS (SELECT 1 FROM chunks WHERE copied = 0), EXISTS (SELECT 1 FROM removals)").fetchone()
        has_moved = copied_to(connection) != store.place.label
    if store.guard.left_mark():
        _look_after_crash(catalog, store)
    elif has_moved:
        _start_over(catalog, store)
    elif not any(waits):
        return 0
    while ids := _page_of_removals(catalog):
        store.delete(ids)
        with catalog.writing() as connection:
            connection.executemany("DELETE FROM removals WHERE chunk = ?", [(key,) for key in ids])
    copied = 0
    while records := _page_of_pending(catalog):
        store.upsert([record for _, _, record in records])
        with catalog.writing() as connection:
            connection.executemany("UPDATE chunks SET copied = 1 WHERE n = ? AND i = ?", [(n, i) for n, i, _ in records])
        copied += len(records)
    return copied


def copied_to(connection: sqlite3.Connection) -> str:
    """Label of the place that the catalog's marks speak of; empty when nothing was copied yet."""
    return meta(connection, "copied_to")


def forget_copies(connection: sqlite3.Connection, label: str = "") -> None:
    """Marks every chunk as not copied, for a new or emptied place."""
    connection.execute("UPDATE chunks SET copied = 0")
    connection.execute("DELETE FROM removals")
    set_meta(connection, "copied_to", label)


def samples(catalog: Catalog, count: int = 20) -> list[tuple[str, bytes]]:
    """Ids and vectors of some chunks that Chroma should have, spread over the corpus."""
    query = (
        "SELECT id || '#' || i, vector FROM papers JOIN chunks USING (n) JOIN vectors USING (v) "
        "WHERE i = 0 AND copied = 1 AND n % ? = 0 LIMIT ?"
    )
    with catalog.reading() as connection:
        papers = int(connection.execute("SELECT count(*) FROM papers").fetchone()[0])
        return connection.execute(query, (max(papers // count, 1), count)).fetchall()


def _look_after_crash(catalog: Catalog, store: ChromaStore) -> None:
    """The process before died while it used the index: of a kill, or of the index, which is then made anew."""
    if index_fault(store, samples(catalog)):
        store.drop()
        _start_over(catalog, store)
    store.guard.forget()


def _start_over(catalog: Catalog, store: ChromaStore) -> None:
    """Turns to a new place; what it holds of this corpus and the catalog does not is to go."""
    held = store.ids()
    with catalog.writing() as connection:
        forget_copies(connection, store.place.label)
        known = {key for (key,) in connection.execute("SELECT id || '#' || i FROM papers JOIN chunks USING (n)")}
        connection.executemany("INSERT INTO removals VALUES (?)", [(key,) for key in sorted(held - known)])


def _page_of_removals(catalog: Catalog) -> list[str]:
    with catalog.reading() as connection:
        return [key for (key,) in connection.execute("SELECT chunk FROM removals ORDER BY chunk LIMIT ?", (_PAGE,))]


def _page_of_pending(catalog: Catalog) -> list[tuple[int, int, ChromaRecord]]:
    import numpy as np

    from rag.store.chroma import ChromaRecord

    query = (
        "SELECT n, i, start, end, text, vector FROM chunks JOIN vectors USING (v) "
        "WHERE n IN (SELECT n FROM chunks WHERE copied = 0) AND copied = 0 ORDER BY n, i LIMIT ?"
    )
    with catalog.reading() as connection:
        rows = connection.execute(query, (_PAGE,)).fetchall()
        papers = _papers(connection, [row[0] for row in rows])
        histories = {n: _history(connection, n) for n in papers}
    return [
        (
            n,
            i,
            ChromaRecord(
                f"{papers[n].id}#{i}", np.frombuffer(vector, np.float32), text, _metadata(n, papers[n], (i, start, end), histories[n])
            ),
        )
        for n, i, start, end, text, vector in rows
    ]


def _papers(connection: sqlite3.Connection, rows: list[int]) -> dict[int, Paper]:
    query = f"SELECT {COLUMNS} FROM papers WHERE n = ?"  # noqa: S608 - column names are our own
    return {n: row_paper(connection.execute(query, (n,)).fetchone()) for n in dict.fromkeys(rows)}


def _history(connection: sqlite3.Connection, n: int) -> list[tuple[str, str, str, str]]:
    query = "SELECT record, origin, lower(hex(hash)), sources FROM sightings WHERE n = ? ORDER BY record, origin"
    return connection.execute(query, (n,)).fetchall()


def _metadata(n: int, paper: Paper, place: tuple[int, int, int], history: list[tuple[str, str, str, str]]) -> Metadata:
    """The paper's bibliographic data, flat as Chroma wants it; the first chunk carries what a rebuilt catalog needs besides."""
    index, start, end = place
    metadata: Metadata = {"paper": paper.id, "index": index, "start": start, "end": end}
    for name in _FLAT:
        value = getattr(paper, name)
        if value not in (None, "", ()):
            metadata[name] = "; ".join(value) if isinstance(value, tuple) else value
    if index == 0:
        lists = {name: getattr(paper, name) for name in ("authors", "keywords", "categories", "sources")}
        metadata["catalog"] = json.dumps({"n": n, "paper": lists, "sightings": history}, ensure_ascii=False)
    return metadata
