"""What is written to a catalog in one transaction: papers, their chunks and vectors, and what Chroma still has to be told."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from rag.records import Chunk, Paper
from rag.store.near import signature
from rag.store.rows import COLUMNS, FACET_COLUMNS, PAPER_FIELDS, facet_row, paper_row
from rag.text.words import index_terms

_PROBE = "Turn-taking in GPT-4o: a 12.1x RLHF speed-up for naïve BERTs' studies, 2024"


def vector_key(fingerprint: str, text: str) -> bytes:
    """32 bytes that name the vector of `text` by this embedder."""
    return hashlib.sha256(f"{fingerprint}\0{text}".encode()).digest()


def set_meta(connection: sqlite3.Connection, key: str, value: str) -> None:
    """Keeps a value that the catalog knows about itself."""
    connection.execute("INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (key, value))


def put_paper(connection: sqlite3.Connection, paper: Paper) -> int:
    """Adds the paper or replaces the one with its id; its row number. Chunks are put by `put_chunks`."""
    assignments = ", ".join(f"{name} = excluded.{name}" for name in PAPER_FIELDS)
    query = (
        f"INSERT INTO papers ({COLUMNS}) VALUES ({_marks(PAPER_FIELDS)}) "  # noqa: S608 - column names are our own
        f"ON CONFLICT (id) DO UPDATE SET {assignments} RETURNING n"
    )
    n = int(connection.execute(query, paper_row(paper)).fetchone()[0])
    columns = ", ".join(FACET_COLUMNS)
    facets = f"INSERT OR REPLACE INTO facets (n, {columns}) VALUES (?, {_marks(FACET_COLUMNS)})"  # noqa: S608 - column names are our own
    connection.execute(facets, (n, *facet_row(paper)))
    put_terms(connection, n, paper)
    connection.execute("DELETE FROM signatures WHERE n = ?", (n,))
    if blob := signature(paper.abstract):
        connection.execute("INSERT INTO signatures VALUES (?, ?)", (n, blob))
    return n


def put_terms(connection: sqlite3.Connection, n: int, paper: Paper) -> None:
    """Puts the paper's words into the full-text index."""
    connection.execute("DELETE FROM terms WHERE rowid = ?", (n,))
    title, abstract = index_terms(paper.title), index_terms(paper.abstract)
    connection.execute("INSERT INTO terms (rowid, title, abstract) VALUES (?, ?, ?)", (n, title, abstract))
    connection.execute("UPDATE facets SET length = ? WHERE n = ?", (len(title.split()) + len(abstract.split()), n))


def put_chunks(connection: sqlite3.Connection, n: int, chunks: Sequence[Chunk], vectors: Mapping[bytes, int], fingerprint: str) -> None:
    """Makes `chunks` the paper's chunks; `vectors` has the row of each text's vector. All of them wait to be copied to Chroma."""
    old = {i for (i,) in connection.execute("SELECT i FROM chunks WHERE n = ?", (n,))}
    gone = [(f"{chunks[0].paper_id}#{i}",) for i in old - {chunk.index for chunk in chunks}]
    connection.executemany("INSERT OR IGNORE INTO removals VALUES (?)", gone)
    connection.execute("DELETE FROM chunks WHERE n = ?", (n,))
    rows = [(n, c.index, c.start, c.end, vectors[vector_key(fingerprint, c.text)]) for c in chunks]
    connection.executemany("INSERT INTO chunks (n, i, start, end, v) VALUES (?, ?, ?, ?, ?)", rows)
    connection.executemany("DELETE FROM removals WHERE chunk = ?", [(chunk.id,) for chunk in chunks])


def put_vectors(connection: sqlite3.Connection, vectors: Iterable[tuple[bytes, str, bytes]]) -> None:
    """Keeps vectors by key, with the text they stand for; those that are there already stay."""
    connection.executemany("INSERT OR IGNORE INTO vectors (key, text, vector) VALUES (?, ?, ?)", vectors)


def vector_rows(connection: sqlite3.Connection, keys: Iterable[bytes]) -> dict[bytes, int]:
    """Rows of the vectors that are there, by key."""
    query = "SELECT v FROM vectors WHERE key = ?"
    found = ((key, connection.execute(query, (key,)).fetchone()) for key in dict.fromkeys(keys))
    return {key: int(row[0]) for key, row in found if row}


def remove_papers(connection: sqlite3.Connection, rows: Sequence[int]) -> None:
    """Removes papers with all that hangs on them; their chunks wait to be removed from Chroma."""
    numbered = [(n,) for n in rows]
    held = "INSERT OR IGNORE INTO removals SELECT papers.id || '#' || i FROM chunks JOIN papers USING (n) WHERE n = ?"
    connection.executemany(held, numbered)
    for table in ("papers", "facets", "sightings", "signatures", "chunks"):
        connection.executemany(f"DELETE FROM {table} WHERE n = ?", numbered)  # noqa: S608 - table names are our own
    connection.executemany("DELETE FROM terms WHERE rowid = ?", numbered)


def drop_unused_vectors(connection: sqlite3.Connection) -> None:
    """Forgets vectors that no chunk uses."""
    connection.execute("DELETE FROM vectors WHERE NOT EXISTS (SELECT 1 FROM chunks WHERE chunks.v = vectors.v)")


def terms_version() -> str:
    """Names the rules by which words become index terms; an index built by others is rebuilt."""
    return hashlib.sha256(index_terms(_PROBE).encode()).hexdigest()[:16]


def _marks(columns: Sequence[str]) -> str:
    return ", ".join("?" * len(columns))
