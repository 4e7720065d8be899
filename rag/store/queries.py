"""What is read from a catalog: papers, frequencies of terms, chunks with their vectors."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rag.errors import UsageError
from rag.records import Chunk, Paper
from rag.store.filters import Filters
from rag.store.rows import COLUMNS, row_paper

if TYPE_CHECKING:
    from rag.protocols import Vectors

# SQLite takes at most 32,766 parameters by default; short lists also keep the statements few.
_PARAMETERS = 500
_SORTS = {"": "n", "id": "id", "title": "title COLLATE NOCASE", "year": "year", "venue": "venue COLLATE NOCASE", "published": "published"}


def meta(connection: sqlite3.Connection, key: str, default: str = "") -> str:
    """A value that the catalog keeps about itself."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row else default


def count_papers(connection: sqlite3.Connection, filters: Filters) -> int:
    """How many papers pass the filters."""
    condition, parameters = filters.sql()
    return int(connection.execute(f"SELECT count(*) FROM facets WHERE {condition}", parameters).fetchone()[0])  # noqa: S608 - values are bound


def select_papers(connection: sqlite3.Connection, filters: Filters, sort: str, limit: int | None) -> list[Paper]:
    """Papers that pass the filters, in the order read or sorted; see `Library.papers`."""
    order = _order(sort)
    condition, parameters = filters.sql()
    chosen = f" WHERE n IN (SELECT n FROM facets WHERE {condition})" if filters else ""  # noqa: S608 - values are bound
    query = f"SELECT {COLUMNS} FROM papers{chosen} ORDER BY {order} LIMIT ?"  # noqa: S608 - values are bound
    rows = connection.execute(query, (*(parameters if filters else ()), -1 if limit is None else limit))
    return [row_paper(row) for row in rows]


def papers_by_id(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, Paper]:
    """The papers with these ids, in the order asked for; unknown ids are left out."""
    found: dict[str, Paper] = {}
    for batch, marks in _batches(ids):
        rows = connection.execute(f"SELECT {COLUMNS} FROM papers WHERE id IN ({marks})", batch)  # noqa: S608 - values are bound
        found |= {paper.id: paper for paper in map(row_paper, rows)}
    return {key: found[key] for key in dict.fromkeys(ids) if key in found}


def paper_ids(connection: sqlite3.Connection, filters: Filters, among: Sequence[str] | None) -> set[str]:
    """Ids of the papers that pass the filters, of all or of those in `among`."""
    condition, parameters = filters.sql()
    if among is None:
        return {key for (key,) in connection.execute(f"SELECT id FROM facets WHERE {condition}", parameters)}  # noqa: S608 - values are bound
    found: set[str] = set()
    for batch, marks in _batches(among):
        query = f"SELECT id FROM papers WHERE id IN ({marks}) AND n IN (SELECT n FROM facets WHERE {condition})"  # noqa: S608 - values are bound
        found |= {key for (key,) in connection.execute(query, (*batch, *parameters))}
    return found


def rows_of(connection: sqlite3.Connection, ids: Sequence[str]) -> list[int]:
    """Row numbers of the papers with these ids, ascending; unknown ids are left out."""
    rows: list[int] = []
    for batch, marks in _batches(ids):
        rows += [n for (n,) in connection.execute(f"SELECT n FROM papers WHERE id IN ({marks})", batch)]  # noqa: S608 - values are bound
    return sorted(rows)


def papers_by_row(connection: sqlite3.Connection, rows: Sequence[int]) -> dict[int, Paper]:
    """The papers with these row numbers."""
    marks = ", ".join("?" * len(rows))
    found = connection.execute(f"SELECT n, {COLUMNS} FROM papers WHERE n IN ({marks}) ORDER BY n", rows)  # noqa: S608 - values are bound
    return {n: row_paper(row) for n, *row in found}


def document_frequencies(connection: sqlite3.Connection, terms: Sequence[str]) -> dict[str, int]:
    """In how many papers each term stands; 0 for a term that stands in none."""
    found: dict[str, int] = dict.fromkeys(terms, 0)
    for batch, marks in _batches(list(found)):
        found |= dict(connection.execute(f"SELECT term, doc FROM vocabulary WHERE term IN ({marks})", batch))  # noqa: S608 - values are bound
    return found


def chunks_with_vectors(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, tuple[tuple[Chunk, ...], Vectors]]:
    """Each paper's chunks in order and their `(n, dimension) float32` vectors; papers that are not there are left out."""
    import numpy as np

    found: dict[str, tuple[tuple[Chunk, ...], Vectors]] = {}
    for batch, marks in _batches(ids):
        query = (
            "SELECT id, i, start, end, text, vector FROM papers JOIN chunks USING (n) JOIN vectors USING (v) "  # noqa: S608 - values are bound
            f"WHERE id IN ({marks}) ORDER BY n, i"
        )
        for paper_id, group in groupby(connection.execute(query, batch), key=lambda row: str(row[0])):
            rows = list(group)
            chunks = tuple(Chunk(f"{paper_id}#{i}", paper_id, i, start, end, text) for _, i, start, end, text, _ in rows)
            found[paper_id] = chunks, np.frombuffer(b"".join(row[5] for row in rows), np.float32).reshape(len(rows), -1)
    return {key: found[key] for key in dict.fromkeys(ids) if key in found}


def paper_terms(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The index terms of each paper's title and abstract, as the full-text index keeps them; unknown ids are left out."""
    found: dict[str, tuple[str, str]] = {}
    for batch, marks in _batches(ids):
        query = f"SELECT p.id, t.title, t.abstract FROM papers AS p JOIN terms AS t ON t.rowid = p.n WHERE p.id IN ({marks})"  # noqa: S608
        found |= {paper_id: (title, abstract) for paper_id, title, abstract in connection.execute(query, batch)}
    return found


def allowed_rows(connection: sqlite3.Connection, filters: Filters) -> list[int]:
    """Row numbers of the papers that pass the filters, ascending."""
    condition, parameters = filters.sql()
    return [n for (n,) in connection.execute(f"SELECT n FROM facets WHERE {condition} ORDER BY n", parameters)]  # noqa: S608 - values are bound


def _batches(values: Sequence[str]) -> Iterator[tuple[Sequence[str], str]]:
    for start in range(0, len(values), _PARAMETERS):
        batch = values[start : start + _PARAMETERS]
        yield batch, ", ".join("?" * len(batch))


def sort_papers(papers: Iterable[Paper], sort: str) -> list[Paper]:
    """Papers in the order that `select_papers` gives; an empty `sort` keeps theirs. Raises `UsageError` for an unknown field."""
    name, descending = _sort_field(sort)
    if not name:
        return list(papers)
    held = list(papers)
    known = [paper for paper in held if getattr(paper, name) is not None]
    known.sort(key=lambda paper: _sort_key(getattr(paper, name)), reverse=descending)
    return [*known, *(paper for paper in held if getattr(paper, name) is None)]


def _sort_key(value: str | int) -> tuple[int, str]:
    return (value, "") if isinstance(value, int) else (0, value.casefold())


def _order(sort: str) -> str:
    name, descending = _sort_field(sort)
    return f"{_SORTS[name]} {'DESC' if descending else 'ASC'} NULLS LAST, n"


def _sort_field(sort: str) -> tuple[str, bool]:
    name, descending = (sort[1:], True) if sort.startswith("-") else (sort, False)
    if name not in _SORTS:
        raise UsageError(f"Cannot sort by {sort!r}. Sort by {', '.join(filter(None, _SORTS))}; a minus in front reverses.")
    return name, descending
