"""A catalog made anew from what Chroma holds: texts, vectors, and the papers' metadata."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from typing import Any

from rag.errors import CorpusError
from rag.records import Paper
from rag.store.catalog import Catalog
from rag.store.chroma import ChromaRecord, ChromaStore
from rag.store.index import put_paper, put_vectors, set_meta, terms_version, vector_key
from rag.store.rows import PAPER_FIELDS

_LISTS = frozenset({"authors", "keywords", "categories", "sources"})


@dataclass(frozen=True, slots=True)
class _Held:
    """A paper as its first chunk's record tells it."""

    n: int
    paper: Paper
    sightings: list[tuple[str, str, str, str]]


def restore_catalog(catalog: Catalog, store: ChromaStore) -> int:
    """Fills an empty catalog from the collection, in one transaction; how many papers came back.

    Raises `CorpusError` when the collection holds no paper.
    """
    held = sorted((_held(record) for record in store.records() if record.metadata.get("index") == 0), key=lambda item: item.n)
    if not held:
        raise CorpusError(f"Chroma at {store.place.address} holds no papers of this corpus. Index its sources again with `rag index`.")
    owner, fingerprint = store.origin()
    with catalog.writing() as connection:
        rows = {item.paper.id: put_paper(connection, item.paper) for item in held}
        for item in held:
            sightings = [
                (record, origin, rows[item.paper.id], bytes.fromhex(digest), told) for record, origin, digest, told in item.sightings
            ]
            connection.executemany("INSERT INTO sightings (record, origin, n, hash, sources) VALUES (?, ?, ?, ?, ?)", sightings)
        for record in store.records():
            if (n := rows.get(str(record.metadata.get("paper")))) is not None:
                _put_chunk(connection, n, record, vector_key(fingerprint, record.text))
        known = {"owner": owner, "fingerprint": fingerprint, "copied_to": store.place.label, "terms": terms_version()}
        for key, value in known.items():
            set_meta(connection, key, value)
    return len(held)


def _put_chunk(connection: sqlite3.Connection, n: int, record: ChromaRecord, key: bytes) -> None:
    put_vectors(connection, [(key, record.text, record.vector.tobytes())])
    place = (n, *(int(record.metadata[name]) for name in ("index", "start", "end")), key)
    query = "INSERT INTO chunks (n, i, start, end, v, copied) VALUES (?, ?, ?, ?, (SELECT v FROM vectors WHERE key = ?), 1)"
    connection.execute(query, place)


def _held(record: ChromaRecord) -> _Held:
    told: dict[str, Any] = json.loads(str(record.metadata["catalog"]))
    lists = {name: tuple(values) for name, values in told["paper"].items() if name in _LISTS}
    flat = {name: record.metadata.get(name) for name in PAPER_FIELDS if name not in _LISTS}
    abstract = record.text[len(record.text) - int(record.metadata["end"]) :]
    fields: dict[str, Any] = {**flat, **lists, "id": record.metadata["paper"], "title": flat["title"] or "", "abstract": abstract}
    return _Held(int(told["n"]), Paper(**fields), [tuple(sighting) for sighting in told["sightings"]])
